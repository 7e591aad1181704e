"""Sampled batches: with all nodes and neighbours they are the full batch; every node is in one step of an epoch."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from evergraph.data.stream import TaskView
from evergraph.runs.build import make_learner
from evergraph.training.batching import Batching
from evergraph.training.loop import Batch, batch_loss
from evergraph.training.minibatches import SampledBatch, epoch_steps, pieces
from evergraph.training.net import Net, Part
from evergraph.watch import Watch
from helpers import quick_config, stream_of, tiny_graph

BACKBONES = ["gcn", "gat", "gin"]
EVERY = {"batch": 1000, "fanout": [1000, 1000], "epochs": 5, "lr": 0.02, "threads": 1}


def net_and_views(tasks: int = 1, backbone: str = "gcn", **train: Any) -> tuple[Net, list[TaskView]]:
    config = quick_config("joint", backbone, train={"threads": 1, **train})
    stream = stream_of(tiny_graph((12,) * 4, share=0.2, directed=True), config)
    views = stream.views(tasks - 1, with_past=True)
    net = make_learner(config, 5).net
    for view in views:
        net.grow(view)
    return net, views


def parameters(net: Net) -> Tensor:
    return torch.cat([value.detach().flatten() for value in net.model.parameters()])


@pytest.mark.parametrize("tasks", [1, 2])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_all_nodes_with_all_neighbours_are_the_full_batch(backbone: str, tasks: int) -> None:
    trained = []
    for train in (EVERY, {**EVERY, "batch": "full"}):
        net, views = net_and_views(tasks, backbone, **train)
        batches = net.planned([Part.of(view) for view in views])
        assert [type(batch) for batch in batches] == [Batch if train["batch"] == "full" else SampledBatch] * tasks
        net.fit(views[-1], batches, Watch())
        trained.append(parameters(net))
    torch.testing.assert_close(trained[0], trained[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_pieces_add_up_to_the_loss(backbone: str) -> None:
    net, views = net_and_views(1, backbone, batch=5, fanout=[1000, 1000])
    batch = net.planned_batch(views[0])
    parts = list(net.pieces(views[0], batch))
    assert len(parts) > 1
    loss = torch.stack([batch_loss(net.model, part) for part in parts]).sum()
    torch.testing.assert_close(loss, batch_loss(net.model, net.task_batch(views[0])))


def test_every_node_is_in_one_step_of_an_epoch_and_whole_batches_in_all() -> None:
    net, views = net_and_views(2, batch=4, fanout=[3, 2])
    kept = Part(views[0].graph.subgraph(np.arange(6)), np.arange(6), views[0].graph.labels[:6] * 0, kept=True)
    batches = net.planned([*(Part.of(view) for view in views), kept])
    assert [type(batch) for batch in batches] == [SampledBatch, SampledBatch, Batch]
    sampled = [batch for batch in batches if isinstance(batch, SampledBatch)]
    steps = list(epoch_steps(batches, np.random.default_rng(0)))
    count = sum(len(batch.rows) for batch in sampled)
    sizes = [sum(len(part.labels) for part in step[:-1]) for step in steps]
    assert sum(sizes) == count
    assert len(steps) == -(-count // 4)
    assert max(sizes) - min(sizes) <= 1
    assert all(step[-1] is batches[2] for step in steps)
    # the mean of the steps, each by its size, has the weights of all nodes
    scaled = sum(
        float(part.weights.sum()) * size / count
        for step, size in zip(steps, sizes, strict=True)
        for part in step[:-1]
    )
    assert scaled == pytest.approx(sum(float(batch.weights.sum()) for batch in sampled), rel=1e-5)
    seen = [tuple(part.labels.tolist()) for step in steps for part in step[:-1]]
    again = [
        tuple(part.labels.tolist()) for step in epoch_steps(batches, np.random.default_rng(1)) for part in step[:-1]
    ]
    assert seen != again


def test_an_extra_loss_is_that_of_the_nodes_of_a_step() -> None:
    net, views = net_and_views(1, batch=5, fanout=[1000, 1000])
    batch = net.planned_batch(views[0])
    assert isinstance(batch, SampledBatch)
    values = torch.arange(len(batch.rows), dtype=torch.float32)

    def mean(logits: Tensor, at: Tensor | None = None) -> Tensor:
        return (values if at is None else values[at]).mean()

    with_extra = replace(batch, extra=mean)
    found = [part.extra(torch.zeros(1)) for part in pieces(with_extra, np.random.default_rng(0)) if part.extra]
    assert sum(float(value) for value in found) == pytest.approx(float(values.mean()))
    steps = list(epoch_steps([with_extra], np.random.default_rng(0)))
    mean_of_steps = np.average(
        [float(step[0].extra(torch.zeros(1))) for step in steps if step[0].extra],
        weights=[len(step[0].labels) for step in steps],
    )
    assert mean_of_steps == pytest.approx(float(values.mean()))


def test_what_is_sampled_is_drawn_from_the_seed() -> None:
    trained = []
    for seed in (0, 0, 1):
        net, views = net_and_views(1, batch=4, fanout=[2, 2], epochs=3)
        net.seed = seed  # the parameters are the same, only the draws differ
        net.fit(views[0], [net.planned_batch(views[0])], Watch())
        trained.append(parameters(net))
    assert torch.equal(trained[0], trained[1])
    assert not torch.equal(trained[0], trained[2])


def test_a_step_is_an_unbiased_estimate_of_a_linear_loss() -> None:
    """Of a GCN without relu the logits are linear in both samples, which are drawn independently."""
    net, views = net_and_views(1, batch=6, fanout=[2, 2])
    batch = net.planned_batch(views[0])
    assert isinstance(batch, SampledBatch)
    with torch.no_grad():
        net.model.first.weight.abs_()  # type: ignore[operator,union-attr]
    inputs = net.task_batch(views[0]).input
    expected = (batch.weights[:, None] * net.logits(inputs)).sum(dim=0)
    rng, found = np.random.default_rng(0), []
    for _ in range(300):
        for (step,) in epoch_steps([batch], rng):
            found.append((step.weights[:, None] * net.logits(step.input)).sum(dim=0))
    sums = torch.stack(found)
    errors = (sums.mean(dim=0) - expected).abs()
    assert (errors <= 5 * sums.std(dim=0) / len(found) ** 0.5).all()


def test_sizes_are_said() -> None:
    assert str(Batching(1024, (15, 10))) == "sampled (batch 1,024, neighbours 15, 10)"
