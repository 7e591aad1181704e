"""TEM: what a kept row is worth, which rows are kept, and how the loss is put together."""

from typing import Any

import numpy as np
import pytest
import torch

from evergraph.data.stream import Protocol, TaskStream, TaskView, learner_view
from evergraph.methods.tem import TEM
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.runs.evaluate import Evaluator
from evergraph.testing.samples import outputs_are_sound, resumes_bit_by_bit
from evergraph.training.loop import batch_loss, node_losses
from evergraph.training.net import Net
from evergraph.watch import Watch
from helpers import learn_tasks, run_config, stream_of, tiny_graph

SIZES = (20, 18, 22, 16)


def config_of(epochs: int = 30, **method: Any) -> RunConfig:
    return run_config(method={"name": "tem", "hidden": 16, **method}, train={"epochs": epochs})


def after_one_task(config: RunConfig, *, sparse_features: bool = False) -> tuple[TEM, TaskStream, TaskView]:
    stream = stream_of(tiny_graph(SIZES, share=0.1, sparse_features=sparse_features), config)
    learner = make_learner(config, 5)
    assert isinstance(learner, TEM)
    view = learner_view(stream[0])
    learner.learn(view, (), Watch())
    return learner, stream, view


@pytest.mark.parametrize("precision", ["int8", "float32"])
@pytest.mark.parametrize("aggregation", ["appnp", "sgc", "ssgc"])
@pytest.mark.parametrize("projection", [0, 3])
@pytest.mark.parametrize("sparse_features", [False, True])
def test_logits_from_memory_are_those_from_the_live_graph(
    precision: str, aggregation: str, projection: int, sparse_features: bool
) -> None:
    config = config_of(budget=4, precision=precision, aggregation=aggregation, projection=projection)
    learner, _, view = after_one_task(config, sparse_features=sparse_features)
    kept = learner.chosen(view).at
    (part,) = learner.buffer.parts(view, 1.0)
    replayed = learner.net.logits(learner.net.batches([part])[0].input)
    live = learner.logits(view.graph, view.train[kept])
    assert part.labels.tolist() == view.train_labels[kept].tolist()
    tolerance = 1e-5 if precision == "float32" else 0.02 * float(live.abs().max())
    torch.testing.assert_close(replayed, live, atol=tolerance, rtol=0)


def test_a_projection_is_the_same_at_every_task_and_another_for_another_seed() -> None:
    learner, _, view = after_one_task(config_of(projection=3))
    fresh = make_learner(config_of(projection=3), 5)
    other = make_learner(run_config(method={"name": "tem", "projection": 3}, seeds={"init": 1}), 5)
    assert isinstance(fresh, TEM)
    assert isinstance(other, TEM)
    rows = [each.embedded(view.graph, view.train) for each in (learner, fresh, other)]
    np.testing.assert_array_equal(rows[0], rows[1])
    assert rows[0].shape == (len(view.train), 3)
    assert np.abs(rows[0] - rows[2]).max() > 0.1


def test_a_projection_keeps_inner_products_on_average() -> None:
    learner = make_learner(config_of(projection=4096), 5)
    assert isinstance(learner, TEM)
    drawn = learner.projection(50)
    np.testing.assert_allclose(drawn @ drawn.T, np.eye(50), atol=0.1)


@pytest.mark.parametrize(("sampling", "hops"), [("coverage", 2), ("degree", 1), ("random", 0)])
def test_nodes_are_drawn_in_proportion_to_what_they_reach(sampling: str, hops: int) -> None:
    learner, _, view = after_one_task(config_of(1, budget=1, sampling=sampling, hops=2))
    looped = view.graph.adjacency.toarray() + np.eye(view.graph.n_nodes)
    size = (np.linalg.matrix_power(looped, hops) > 0).sum(axis=1)[view.train]
    assert learner.sizes(view).tolist() == size.tolist()
    drawn = np.zeros(len(view.train))
    rounds = 3000
    for seed in range(rounds):
        learner.net.seed = seed
        drawn[learner.chosen(view).at] += 1
    for label in view.classes:
        own = view.train_labels == label
        np.testing.assert_allclose(drawn[own] / rounds, size[own] / size[own].sum(), atol=0.04)


def test_the_loss_is_that_of_the_task_plus_the_weighted_one_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_of(5, budget=3, precision="float32", replay_weight=0.7)
    learner, stream, view = after_one_task(config)
    kept = view.train[learner.chosen(view).at]
    second = learner_view(stream[1])
    seen: list[float] = []

    def watching(self: Net, task: TaskView, batches: Any, watch: Watch, **options: Any) -> list[Any]:
        seen.append(sum(batch_loss(self.model, batch).item() for batch in batches))
        return []

    monkeypatch.setattr(Net, "fit", watching)
    learner.learn(second, (), Watch())
    expected = 0.0
    for task, rows, scale in ((second, second.train, 1.0), (view, kept, 0.7)):
        labels = task.graph.labels[rows]
        every = node_losses(learner.logits(task.graph, rows), torch.as_tensor(labels), None).numpy()
        expected += scale * sum(float(every[labels == label].mean()) for label in set(labels.tolist()))
    assert seen == [pytest.approx(expected, rel=1e-5)]


@pytest.mark.parametrize("method", [{"projection": 3}, {"precision": "float32", "sampling": "degree"}])
def test_its_settings_learn_and_resume(method: dict[str, Any]) -> None:
    resumes_bit_by_bit(config_of(2, **method))
    outputs_are_sound(config_of(2, **method), tiny_graph(directed=True, sparse_features=True))


def test_it_remembers_the_digits(digits_stream: TaskStream) -> None:
    config = config_of(60)
    width = digits_stream.graph.n_features
    learner = learn_tasks(make_learner(config, width), config, digits_stream, range(len(digits_stream)))
    correct = Evaluator(digits_stream, learner)(4)
    assert correct[Protocol.WHOLE_GRAPH].test.sum() > 0.85 * sum(len(split[2]) for split in digits_stream.splits)
    assert learner.memory().edges == 0
