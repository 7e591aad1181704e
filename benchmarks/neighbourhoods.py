"""Replay in the neighbourhood of the day a node came, and in today's: what of the fall in the whole graph is which.

    python benchmarks/neighbourhoods.py --data-dir FOLDER [--methods ftf-er-prob random-replay] [--seeds 0 1 2]
                                        [--json]

Amazon Computers, the whole-graph protocol, GCN. The same rule chooses the nodes to replay. "today" reads them again
in the graph known now, which is `method.storage=ids`; "arrival" replays them in the whole graph as it was when they
came, which nobody keeps. AA in % in the whole graph and in the task graphs.
"""

import argparse
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.data.graph import Graph
from evergraph.data.stream import Protocol, TaskView
from evergraph.methods.ftf_er import FTFER
from evergraph.replay.ids import IdBuffer
from evergraph.replay.selection import Chosen
from evergraph.runs.build import make_learner, open_stream
from evergraph.runs.config import RunConfig
from evergraph.runs.evaluate import Evaluator, totals
from evergraph.runs.process import keep_freed_memory, torch_threads
from evergraph.training.net import Part
from evergraph.watch import Watch

WAYS = ("arrival", "today")


class ArrivalBuffer(IdBuffer):
    """Chosen nodes in the graphs in which they were learned."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[Graph, NDArray[np.int64], NDArray[np.int64]]] = []

    def store(self, task: TaskView, chosen: Chosen) -> None:
        super().store(task, chosen)
        rows = task.train[chosen.at]
        self.kept.append((task.graph, rows, task.graph.labels[rows]))

    def parts(self, task: TaskView, scale: float) -> list[Part]:
        return [Part(graph, rows, labels, scale, kept=True) for graph, rows, labels in self.kept]


def run(method: str, seed: int, way: str, data_dir: Path | None) -> dict[str, Any]:
    config = RunConfig.from_values(
        {
            "dataset": {"name": "amazon-computers"},
            "method": {"name": method, "storage": "ids"},
            "stream": {"inter_task_edges": True},
            "train": {"threads": 1},
            "seeds": dict.fromkeys(("split", "order", "init"), seed),
        }
    )
    stream = open_stream(config, data_dir)
    learner = make_learner(config, stream.graph.n_features)
    assert isinstance(learner, FTFER)
    if way == "arrival":
        learner.buffer = ArrivalBuffer()
    evaluate = Evaluator(stream, learner)
    for index in range(len(stream)):
        (task,) = stream.views(index, with_past=False)
        learner.learn(task, (), Watch())
    correct, (_, sizes) = evaluate(len(stream) - 1), totals(stream)
    found: dict[str, Any] = {"method": method, "seed": seed, "way": way}
    for name, protocol in (("global", Protocol.WHOLE_GRAPH), ("local", Protocol.TASK_GRAPHS)):
        found[name] = 100 * float(np.mean(correct[protocol].test / sizes))  # tasks have two classes each
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--methods", nargs="+", default=["ftf-er-prob", "random-replay"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    keep_freed_memory()
    results = []
    with torch_threads(1):
        for method in arguments.methods:
            for seed in arguments.seeds:
                for way in WAYS:
                    results.append(run(method, seed, way, arguments.data_dir))
                    if not arguments.json:
                        print(results[-1], flush=True)
    if arguments.json:
        print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
