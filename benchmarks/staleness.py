"""What it costs that old nodes gain neighbours after they were seen: global AA of analytic, two ways.

    python benchmarks/staleness.py --data-dir FOLDER [--dataset amazon-computers] [--seed 0] [--width 1024] [--json]

The whole-graph protocol. "arrival" learns each task in the graph known when it arrives, as a run does; "final"
learns the same training nodes with the features of the last graph, which no learner without the past could.
Both are tested on all test nodes in the last graph, with every set of hops and the strength of λ that is chosen for
it by generalised cross-validation, and with the choice of the learner itself.
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evergraph.data.stream import Task, TaskStream, learner_view
from evergraph.methods.analytic import AUTO, Analytic, AnalyticConfig
from evergraph.methods.statistics_learner import HopSet
from evergraph.runs.build import make_net, open_stream
from evergraph.runs.config import RunConfig
from evergraph.watch import Watch


def learned(config: RunConfig, tasks: Sequence[Task], hops: tuple[HopSet, ...], width: int) -> Analytic:
    """A learner after these tasks; one set of hops leaves only λ to choose, from the sums."""
    settings = AnalyticConfig(width=width, hops=hops, anchors=64 if len(hops) > 1 else 0)
    learner = Analytic(make_net(config, tasks[0].graph.n_features), settings)
    for task in tasks:
        learner.learn(learner_view(task), (), Watch())
    return learner


def accuracy(learner: Analytic, tasks: Sequence[Task]) -> float:
    """Class-balanced accuracy in % on the test nodes of all tasks, in the graph that they share."""
    rows = np.concatenate([task.test for task in tasks])
    labels = tasks[0].graph.labels[rows]
    hits = learner.logits(tasks[0].graph, rows).argmax(dim=1).numpy() == labels
    return float(100 * np.mean(np.bincount(labels, hits) / np.bincount(labels)))


def compare(config: RunConfig, stream: TaskStream, width: int) -> list[dict[str, Any]]:
    """Both ways for each set of hops alone and for the choice among them."""
    final = stream.together(len(stream) - 1)
    results = []
    for hops in (*((one,) for one in AUTO), AUTO):
        found: dict[str, Any] = {"hops": "chosen" if len(hops) > 1 else "+".join(map(str, hops[0]))}
        for name, tasks in (("arrival", list(stream)), ("final", final)):
            learner = learned(config, tasks, hops, width)
            found |= {name: accuracy(learner, final), f"{name}_choice": str(learner.choice)}
        results.append(found)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--dataset", default="amazon-computers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    config = RunConfig.from_values(
        {
            "dataset": {"name": arguments.dataset},
            "stream": {"inter_task_edges": True},
            "seeds": dict.fromkeys(("split", "order", "init"), arguments.seed),
        }
    )
    results = compare(config, open_stream(config, arguments.data_dir), arguments.width)
    if arguments.json:
        print(json.dumps(results))
        return
    print(f"{arguments.dataset}, whole graph, seed {arguments.seed}, width {arguments.width}: global AA")
    print(f"{'hops':8}{'arrival':>9}{'final':>9}")
    for found in results:
        print(f"{found['hops']:8}{found['arrival']:9.2f}{found['final']:9.2f}  {found['arrival_choice']}")


if __name__ == "__main__":
    main()
