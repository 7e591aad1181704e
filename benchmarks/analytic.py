"""The defaults of `analytic` on validation nodes: one change at a time, on every data set, in both protocols.

    python benchmarks/analytic.py --data-dir FOLDER [--datasets digits …] [--seeds 0 1] [--json]

The learner learns the whole stream; AA is that of validation nodes after the last task, local for task graphs and
global for the whole graph. Test nodes are not looked at. The first row is the default; the others are differences
to it, in points, averaged over seeds.
"""

import argparse
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from evergraph.config import merged
from evergraph.data.stream import Protocol, TaskStream
from evergraph.methods import analytic
from evergraph.runs.build import make_learner, open_stream
from evergraph.runs.config import RunConfig
from evergraph.runs.evaluate import Evaluator, totals
from evergraph.watch import Watch

DATASETS = ("digits", "amazon-computers", "coauthor-cs", "cora-papers70", "ogbn-arxiv", "unlike")
UNLIKE = {"name": "sbm", "options": {"nodes": 3000, "homophily": 0.05}}
"""A generated graph where one edge in twenty joins nodes of one class."""
DERIVED = {"ogbn-arxiv": "spectral:128"}
DEFAULT_SHARE = analytic.EXPLAINED
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "width 1024": {"width": 1024},
    "width 4096": {"width": 4096},
    "no anchors": {"anchors": 0},
    "anchors 256": {"anchors": 256},
    "strengths from 1e-6": {"strengths": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 3e-1]},
    "strengths to 10": {"strengths": [1e-4, 1e-3, 1e-2, 1e-1, 3e-1, 1.0, 10.0]},
    "all sets of hops": {"hops": [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]},
    "hop 0": {"hops": [[0]]},
    "hop 1": {"hops": [[1]]},
    "hop 2": {"hops": [[2]]},
    "hops 0, 1": {"hops": [[0, 1]]},
    "hops 0, 2": {"hops": [[0, 2]]},
    "hops 1, 2": {"hops": [[1, 2]]},
    "hops 0, 1, 2": {"hops": [[0, 1, 2]]},
    "explained 1": {"EXPLAINED": 1.0},
    "explained 0.97": {"EXPLAINED": 0.97},
    "without hops 0, 2": {"hops": [[0], [2], [0, 1], [0, 1, 2]]},
    "sums alone": {"hops": [[0], [2], [0, 1], [0, 2], [0, 1, 2]]},
    "hops 0, 1, 2 side by side": {"hops": [[[0], [1], [2]]]},
}


def measure(settings: dict[str, Any], variant: dict[str, Any], stream: TaskStream) -> float:
    """AA on validation nodes after the last task, in percent."""
    method = {"name": "analytic", **{key: value for key, value in variant.items() if key != "EXPLAINED"}}
    analytic.EXPLAINED = variant.get("EXPLAINED", DEFAULT_SHARE)
    learner = make_learner(RunConfig.from_values(merged(settings, {"method": method})), stream.graph.n_features)
    for index in range(len(stream)):
        (task,) = stream.views(index, with_past=False)
        learner.learn(task, (), Watch())
    correct = Evaluator(stream, learner)(len(stream) - 1)[stream.config.protocol].val
    with np.errstate(invalid="ignore"):
        accuracy = correct / totals(stream)[0]
    return 100 * float(np.mean([np.nanmean(accuracy[stream.cells.task == task]) for task in range(len(stream))]))


def compare(dataset: str, protocol: Protocol, arguments: argparse.Namespace) -> dict[str, float]:
    """AA of every variant, averaged over seeds."""
    found: dict[str, list[float]] = {name: [] for name in ("default", *(arguments.variants or VARIANTS))}
    for seed in arguments.seeds:
        settings = {
            "dataset": UNLIKE if dataset == "unlike" else {"name": dataset, "features": DERIVED.get(dataset)},
            "stream": {"inter_task_edges": protocol is Protocol.WHOLE_GRAPH},
            "seeds": {"split": seed, "order": seed, "init": seed},
        }
        stream = open_stream(RunConfig.from_values(settings), arguments.data_dir)
        for name, values in found.items():
            values.append(measure(settings, VARIANTS[name], stream))
    return {name: float(np.mean(values)) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--protocols", nargs="+", type=Protocol, default=list(Protocol))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = {}
    for dataset in arguments.datasets:
        for protocol in arguments.protocols:
            found = results[f"{dataset}, {protocol.value}"] = compare(dataset, protocol, arguments)
            if not arguments.json:
                print(f"{dataset}, {protocol.value}: default {found['default']:.2f}", flush=True)
                for name, value in found.items():
                    print(f"  {name:22}{value - found['default']:+8.2f}", flush=True)
    if arguments.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
