"""Exact gradient norms of all training nodes at once, against one backward pass for each node.

    python benchmarks/grand.py --data-dir FOLDER [--datasets NAME ...] [--backbones NAME ...] [--json]

The largest task of Amazon Computers and of Cora papers (70 classes, sparse features), each backbone with its
defaults after 20 epochs. The loop shares one forward pass and is timed on a sample of nodes, those of the highest
degree among them, then extrapolated to all; a loop that repeats the forward pass for each node is given beside it.
The error is the largest relative one on the sample, among the nodes whose gradient float32 can hold.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from evergraph.backbones import BACKBONES
from evergraph.data.datasets import load_dataset
from evergraph.data.stream import Setting, StreamConfig, TaskView, learner_view, make_stream
from evergraph.scores.grand import grand_norms
from evergraph.training.loop import Batch, TrainConfig, node_losses, train
from evergraph.training.net import Net

EPOCHS = 20
SAMPLE = 40
HUBS = 5
REPEATS = 9
SMALLEST = 1e-30
"""Below this norm, squares and products of a backward pass in float32 lose their digits."""


def largest_task(name: str, data_dir: Path | None) -> TaskView:
    """The task with the most nodes, as a learner sees it, its classes numbered from 0."""
    stream = make_stream(load_dataset(name, data_dir=data_dir), StreamConfig(), split_seed=0, order_seed=0)
    task = max(stream, key=lambda task: task.graph.n_nodes)
    view = learner_view(task)
    labels = np.where(view.graph.labels < 0, -1, view.graph.labels - task.classes[0])
    return replace(view, index=0, classes=(0, 1), graph=replace(view.graph, labels=labels))


def trained(name: str, view: TaskView) -> tuple[nn.Module, Batch]:
    """A backbone with its defaults after a few epochs on the task."""
    entry, config = BACKBONES[name], TrainConfig(epochs=EPOCHS)
    net = Net(lambda g: entry.build(view.graph.n_features, entry.config(), g), Setting.CLASS_IL, config, seed=0)
    net.grow(view)
    batch = net.task_batch(view)
    train(net.model, [batch], config, torch.Generator().manual_seed(0))
    return net.model, batch


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def loop(model: nn.Module, batch: Batch, nodes: list[int]) -> tuple[list[float], list[float]]:
    """The norms of some nodes by a backward pass each, and the seconds that each took."""
    parameters = list(model.parameters())
    losses = node_losses(model(*batch.input), batch.labels, batch.allowed)
    norms, times = [], []
    for node in nodes:
        start = time.perf_counter()
        gradients = torch.autograd.grad(losses[node], parameters, retain_graph=True)
        norms.append(torch.stack([g.double().norm() for g in gradients]).norm().item())
        times.append(time.perf_counter() - start)
    return norms, times


def sample(batch: Batch) -> list[int]:
    """Nodes at random, and those with the most neighbours."""
    degrees = batch.input.graph.pattern(2).crow.diff()
    chosen = np.random.default_rng(0).permutation(len(degrees))[:SAMPLE]
    return [*chosen.tolist(), *degrees.argsort(descending=True)[:HUBS].tolist()]


def compare(name: str, view: TaskView) -> dict[str, float]:
    """Ours against the loop."""
    model, batch = trained(name, view)
    found = grand_norms(model, batch.input, batch.labels)
    nodes = sample(batch)
    wanted, ours, backward, forward = [], [], [], []
    for part in np.array_split(nodes, REPEATS):  # in turns, so that both meet the same machine
        ours.append(seconds(lambda: grand_norms(model, batch.input, batch.labels)))
        forward.append(seconds(lambda: model(*batch.input)))
        norms, times = loop(model, batch, part.tolist())
        wanted += norms
        backward += times
    count, per_call, per_node = len(batch.labels), statistics.median(ours), statistics.median(backward)
    exact = np.array(wanted)
    held = exact > SMALLEST
    errors = np.abs(found[nodes].double().numpy()[held] / exact[held] - 1)
    return {
        "nodes": count,
        "our_seconds": per_call,
        "loop_seconds": per_node * count,
        "times_as_fast": per_node * count / per_call,
        "times_as_fast_with_a_forward_pass_each": (per_node + statistics.median(forward)) * count / per_call,
        "largest_relative_error": float(errors.max()),
        "nodes_compared": int(held.sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--datasets", nargs="+", default=["amazon-computers", "cora-papers70"])
    parser.add_argument("--backbones", nargs="+", default=list(BACKBONES), choices=list(BACKBONES))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = {}
    for dataset in arguments.datasets:
        view = largest_task(dataset, arguments.data_dir)
        for backbone in arguments.backbones:
            results[f"{dataset}, largest task, {backbone}"] = compare(backbone, view)
    if arguments.json:
        print(json.dumps(results))
        return
    for name, figures in results.items():
        print(name)
        for key, value in figures.items():
            print(f"  {key.replace('_', ' '):40} {value:,.4g}")


if __name__ == "__main__":
    main()
