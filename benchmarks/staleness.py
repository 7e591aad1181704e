"""What it costs that old nodes gain neighbours after they were seen: accuracy of analytic, two ways.

    python benchmarks/staleness.py --data-dir FOLDER [--streams digits "patents, by time" …] [--seeds 0 1] [--json]

The whole-graph protocol. "arrival" learns each task in the graph known when it arrives, as a run does; "final"
learns the same training nodes with the features of the last graph, which no learner without the past could.
Both are tested on all test nodes in the last graph, with every class and with every node counting alike; with each
set of hops and the strength of λ that is chosen for it by generalised cross-validation, and with the choice of the
learner itself.
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
from evergraph.methods.hop_features import HopSet
from evergraph.runs.build import make_net, open_stream
from evergraph.runs.config import RunConfig
from evergraph.watch import Watch

STREAMS: dict[str, dict[str, Any]] = {
    "digits": {},
    "amazon-computers": {},
    "coauthor-cs": {},
    "patents": {},
    "patents, by time": {"arrival": "time", "steps": 10},
}
"""Data sets, and how their nodes arrive: by class unless it is said."""


def learned(config: RunConfig, tasks: Sequence[Task], hops: tuple[HopSet, ...], width: int) -> Analytic:
    """A learner after these tasks; one set of hops leaves only λ to choose, from the sums."""
    settings = AnalyticConfig(width=width, hops=hops, anchors=64 if len(hops) > 1 else 0)
    learner = Analytic(make_net(config, tasks[0].graph.n_features), settings)
    for task in tasks:
        learner.learn(learner_view(task), (), Watch())
    return learner


def accuracies(learner: Analytic, tasks: Sequence[Task]) -> dict[str, float]:
    """In % on the test nodes of all tasks, in the graph that they share: every class or every node counts alike."""
    rows = np.concatenate([task.test for task in tasks])
    labels = tasks[0].graph.labels[rows]
    hits = learner.logits(tasks[0].graph, rows).argmax(dim=1).numpy() == labels
    balanced = np.mean(np.bincount(labels, hits) / np.bincount(labels))
    return {"classes": 100 * float(balanced), "nodes": 100 * float(hits.mean())}


def compare(config: RunConfig, stream: TaskStream, width: int) -> list[dict[str, Any]]:
    """Both ways for each set of hops alone and for the choice among them."""
    final = stream.together(len(stream) - 1)
    results = []
    for hops in (*((one,) for one in AUTO), AUTO):
        found: dict[str, Any] = {"hops": "chosen" if len(hops) > 1 else "+".join(map(str, hops[0]))}
        for name, tasks in (("arrival", list(stream)), ("final", final)):
            learner = learned(config, tasks, hops, width)
            found |= {name: accuracies(learner, final), f"{name}_choice": learner.choices()}
        results.append(found)
    return results


def configured(name: str, seed: int) -> RunConfig:
    return RunConfig.from_values(
        {
            "dataset": {"name": name.partition(",")[0]},
            "stream": {"inter_task_edges": True, **STREAMS[name]},
            "seeds": dict.fromkeys(("split", "order", "init"), seed),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--width", type=int, default=AnalyticConfig().width)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = []
    for name in arguments.streams:
        for seed in arguments.seeds:
            config = configured(name, seed)
            rows = compare(config, open_stream(config, arguments.data_dir), arguments.width)
            results.append({"stream": name, "seed": seed, "width": arguments.width, "rows": rows})
            if not arguments.json:
                show(results[-1])
    if arguments.json:
        print(json.dumps(results, indent=1))


def show(result: dict[str, Any]) -> None:
    print(f"{result['stream']}, seed {result['seed']}, width {result['width']}: accuracy by classes and by nodes")
    print(f"{'hops':8}{'arrival':>16}{'final':>16}")
    for found in result["rows"]:
        cells = (f"{found[name]['classes']:8.2f}{found[name]['nodes']:8.2f}" for name in ("arrival", "final"))
        print(f"{found['hops']:8}{''.join(cells)}  {found['arrival_choice']}", flush=True)


if __name__ == "__main__":
    main()
