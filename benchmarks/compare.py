"""A whole run of deterministic FTF-ER: ours against the algorithms that come to mind first (benchmarks/naive/).

    python benchmarks/compare.py --data-dir FOLDER [--dataset amazon-computers] [--epochs 200] [--json]

GCN, task graphs, seed 0. Both begin with the same parameters and take turns, task by task, in one process, so that
what else the machine does meets both. The naive run trains with gather and scatter, makes a backward pass for each
node and solves with scipy's conjugate gradients. `analytic` learns the same tasks beside them. Loading and
evaluation are not counted. Scores differ in their last digits, so single nodes may differ, and with them all that
follows: the share of equal nodes is printed, and the accuracy of both.
"""

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import Graph
from evergraph.data.stream import TaskStream, TaskView
from evergraph.methods.ftf_er import FTFER, FTFERConfig
from evergraph.methods.statistics_learner import StatisticsLearner
from evergraph.replay.selection import Chosen
from evergraph.runs.build import make_learner, make_net, open_stream
from evergraph.runs.config import RunConfig
from evergraph.runs.process import keep_freed_memory
from evergraph.watch import Watch
from naive.ftf_er import FTFER as NaiveFTFER
from naive.ftf_er import Part
from naive.gcn import PlainGCN


class Ours(FTFER):
    """Remembers what it chose last."""

    last: NDArray[np.int64]

    def chosen(self, task: TaskView, mixed: NDArray[np.float64], rng: np.random.Generator) -> Chosen:
        found = super().chosen(task, mixed, rng)
        self.last = task.train[found.at]
        return found


def configured(arguments: argparse.Namespace, method: str) -> RunConfig:
    train = {"epochs": arguments.epochs}
    return RunConfig.from_values(
        {"dataset": {"name": arguments.dataset}, "method": {"name": method}, "train": train}
    )


def compare(arguments: argparse.Namespace) -> dict[str, Any]:
    """Seconds by part, equal nodes and accuracies of the three."""
    config = configured(arguments, "ftf-er-det")
    settings = config.method
    assert isinstance(settings, FTFERConfig)
    stream = open_stream(config, arguments.data_dir)
    n_features = stream.graph.n_features
    ours, untrained = Ours(make_net(config, n_features), settings), make_net(config, n_features)
    analytic = make_learner(configured(arguments, "analytic"), n_features)
    assert isinstance(analytic, StatisticsLearner)
    plain = PlainGCN(untrained.model.state_dict())
    naive = NaiveFTFER(plain, budget=settings.budget, beta=settings.beta, epochs=arguments.epochs)
    watch, sums = Watch(), 0.0
    equal, kept = 0, 0
    for index in range(len(stream)):
        (task,) = stream.views(index, with_past=False)
        ours.learn(task, (), watch)
        untrained.grow(task)
        new = len(task.classes)
        head = untrained.model.head
        plain.grow(head.weight.detach()[:, -new:], head.bias.detach()[-new:])
        naive.learn(part(task.graph, task.train))
        equal, kept = equal + len(np.intersect1d(ours.last, naive.chosen[-1])), kept + len(ours.last)
        begun = time.perf_counter()
        analytic.learn(task, (), Watch())
        _ = analytic.linear  # it fits when it is asked
        sums += time.perf_counter() - begun
    seconds = {"ours": watch.take().seconds, "naive": naive.seconds, "analytic": {"learn": sums}}
    totals = {name: sum(parts.values()) for name, parts in seconds.items()}
    return {
        "seconds": seconds,
        "total": totals,
        "naive_over_ours": totals["naive"] / totals["ours"],
        "equal_nodes": equal / kept,
        "accuracy": {
            "ours": accuracy(stream, lambda graph: ours.logits(graph).numpy()),
            "naive": accuracy(stream, lambda graph: part(graph).logits(plain).detach().numpy()),
            "analytic": accuracy(stream, lambda graph: analytic.logits(graph).numpy()),
        },
    }


def part(graph: Graph, rows: NDArray[np.int64] | None = None) -> Any:
    """A graph as the naive code has it."""
    features = sparse.csr_array(graph.features).toarray()
    labels = np.maximum(graph.labels, 0)  # hidden ones are never read
    return Part(graph.adjacency, features, labels, np.arange(graph.n_nodes) if rows is None else rows)


def accuracy(stream: TaskStream, logits: Callable[[Graph], NDArray[Any]]) -> float:
    """Mean over all classes of their accuracy on test nodes, in percent, each task in its own graph."""
    found = []
    for task in stream:
        right = logits(task.graph).argmax(axis=1) == task.graph.labels
        found += [right[task.test][task.graph.labels[task.test] == label].mean() for label in task.classes]
    return 100 * float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--dataset", default="amazon-computers")
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--threads", type=int, default=0, help="0 uses every core")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    keep_freed_memory()  # as the command line does
    torch.set_num_threads(arguments.threads or torch.get_num_threads())
    found = compare(arguments)
    if arguments.json:
        print(json.dumps(found))
        return
    print(f"{arguments.dataset}, GCN, {arguments.epochs} epochs a task, {torch.get_num_threads()} threads")
    for name, parts in found["seconds"].items():
        by_part = ", ".join(f"{part} {seconds:.2f}" for part, seconds in parts.items())
        print(f"{name:9}{found['total'][name]:8.2f} s ({by_part}); accuracy {found['accuracy'][name]:.1f} %")
    same = f"{found['equal_nodes']:.1%} of the chosen nodes are the same"
    print(f"naive over ours: {found['naive_over_ours']:.1f} times; {same}")


if __name__ == "__main__":
    main()
