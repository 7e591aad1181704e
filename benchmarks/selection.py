"""Why one selection of replay nodes is better than another: what the kept nodes are like and what they can teach.

    python benchmarks/selection.py --data-dir FOLDER [--dataset amazon-computers] [--seeds 3] [--json]

For each task a model is trained on the task as usual; then each selection keeps its budget of nodes of each class.
Shown, averaged over classes, tasks and seeds:
  loss           mean cross-entropy of the kept nodes under that model
  misclassified  share of the kept nodes that it gets wrong, %
  off-centre     distance of the kept nodes' mean feature from the class mean, in multiples of what chance gives
  degree         mean degree of the kept nodes in the task's graph
  kept edges     mean degree of the kept nodes among themselves, which is all that replay sees
  probe          accuracy on the task's test nodes of a new model trained on the kept subgraph alone, %
"""

import argparse
import json
import os
import statistics
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from evergraph.backbones import model_input
from evergraph.data.stream import Task, TaskView, learner_view
from evergraph.methods.ftf_er import FTFER
from evergraph.runs.build import make_learner, open_stream
from evergraph.runs.config import RunConfig
from evergraph.seeding import Purpose, numpy_generator
from evergraph.training.loop import node_losses
from evergraph.watch import Watch

SELECTIONS: dict[str, dict[str, object]] = {
    "random": {"feature_score": "random", "topology_score": "none"},
    **{f"det, β = {beta:g}": {"beta": beta} for beta in (0.0, 0.5, 1.0)},
    "det, β = 1, opposite": {"beta": 1.0, "orientation": "opposite"},
    **{f"prob, β = {beta:g}": {"beta": beta, "selection": "prob"} for beta in (0.0, 0.5, 1.0)},
}


def learner_for(dataset: str, seed: int, settings: dict[str, object], n_features: int) -> FTFER:
    config = run_config(dataset, seed, settings)
    learner = make_learner(config, n_features)
    assert isinstance(learner, FTFER)
    return learner


def run_config(dataset: str, seed: int, settings: dict[str, object]) -> RunConfig:
    return RunConfig.from_values(
        {
            "dataset": {"name": dataset},
            "method": {"name": "ftf-er-det", **settings},
            "seeds": {"split": seed, "order": seed, "init": seed},
        }
    )


def tasks(dataset: str, seed: int, data_dir: Path | None) -> Iterator[tuple[Task, TaskView]]:
    """Each task on its own, its classes numbered from 0, as a first task."""
    for task in open_stream(run_config(dataset, seed, {}), data_dir):
        labels = task.graph.labels - task.classes[0]
        alone = replace(
            task, index=0, classes=tuple(range(len(task.classes))), graph=replace(task.graph, labels=labels)
        )
        yield alone, learner_view(alone)


def figures(
    task: Task, view: TaskView, trained: FTFER, chosen: NDArray[np.int64], probe: FTFER
) -> dict[str, float]:
    """What the chosen nodes of a task are like."""
    graph, net = view.graph, trained.net
    labels = torch.as_tensor(graph.labels[chosen])
    logits = net.logits(model_input(graph, chosen, net.device))
    inside = graph.subgraph(chosen)
    return {
        "loss": float(node_losses(logits, labels, None).mean()),
        "misclassified": 100 * float((logits.argmax(dim=1) != labels).float().mean()),
        "off-centre": off_centre(view, chosen),
        "degree": float(np.diff(graph.adjacency.indptr)[chosen].mean()),
        "kept edges": inside.n_edges / inside.n_nodes,
        "probe": 100 * probe_accuracy(task, view, chosen, probe),
    }


def off_centre(view: TaskView, chosen: NDArray[np.int64]) -> float:
    """‖mean of kept - mean of class‖ over its root mean square for a random subset of the same size."""
    features = sparse.csr_array(view.graph.features)
    ratios = []
    for label in view.classes:
        members = features[view.train[view.train_labels == label]].toarray()
        kept = features[chosen[view.graph.labels[chosen] == label]].toarray()
        n, b = len(members), len(kept)
        if b < n:
            chance = np.sqrt(members.var(axis=0).sum() / b * (n - b) / (n - 1))
            ratios.append(float(np.linalg.norm(kept.mean(axis=0) - members.mean(axis=0)) / chance))
    return statistics.mean(ratios) if ratios else 0.0


def probe_accuracy(task: Task, view: TaskView, chosen: NDArray[np.int64], probe: FTFER) -> float:
    """Class-balanced test accuracy, in the whole task's graph, of a model trained on the kept subgraph only."""
    net = probe.net
    net.grow(view)
    kept = view.graph.subgraph(chosen)
    net.fit(view, [net.batch(kept, np.arange(len(chosen)), kept.labels)], Watch())
    predicted = net.logits(model_input(task.graph, task.test, net.device)).argmax(dim=1).numpy()
    truth = task.graph.labels[task.test]
    return float(np.mean([(predicted[truth == label] == label).mean() for label in view.classes]))


def measure(dataset: str, seeds: int, data_dir: Path | None) -> dict[str, dict[str, float]]:
    """The averages for each selection."""
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in SELECTIONS}
    for seed in range(seeds):
        for task, view in tasks(dataset, seed, data_dir):
            trained = learner_for(dataset, seed, {}, view.graph.n_features)
            trained.net.grow(view)
            trained.net.fit(view, [trained.net.task_batch(view)], Watch())
            for name, settings in SELECTIONS.items():
                chooser = learner_for(dataset, seed, settings, view.graph.n_features)
                chooser.net = trained.net
                rng = numpy_generator(seed, Purpose.SELECTION, 0)
                chosen = chooser.chosen(view, chooser.mixed_scores(view, [], rng), rng)
                probe = learner_for(dataset, seed, {}, view.graph.n_features)
                rows[name].append(figures(task, view, trained, view.train[chosen.at], probe))
    return {
        name: {key: statistics.mean(row[key] for row in found) for key in found[0]} for name, found in rows.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--dataset", default="amazon-computers")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = measure(arguments.dataset, arguments.seeds, arguments.data_dir)
    if arguments.json:
        print(json.dumps(rows))
        return
    keys = list(next(iter(rows.values())))
    print(f"{'':22}" + "".join(f"{key:>15}" for key in keys))
    for name, row in rows.items():
        print(f"{name:22}" + "".join(f"{row[key]:15.2f}" for key in keys))


if __name__ == "__main__":
    main()
