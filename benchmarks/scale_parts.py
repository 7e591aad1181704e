"""What the commands of scale.py do not time by itself, in a process of its own; prints JSON.

    python benchmarks/scale_parts.py load|test|train --graph FOLDER --memory 2GB --scratch F [--run FOLDER]

- load: reading a graph folder, standardising it, cutting it into tasks, and what a learner sees of the last task
- test: both tests after the last task of a finished run of `analytic`, and the fit before them
- train: for every task by itself an epoch of a GCN on all training nodes, then GraNd and HPS of them
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from evergraph.budget import memory_budget, parse_memory
from evergraph.data.graph_folder import read_folder
from evergraph.data.on_disk import is_on_disk
from evergraph.data.standardise import standardise
from evergraph.data.stream import TaskStream, make_stream
from evergraph.methods.statistics_learner import StatisticsLearner
from evergraph.runs.build import make_learner, make_net, open_stream
from evergraph.runs.config import RunConfig
from evergraph.runs.evaluate import Evaluator
from evergraph.runs.process import keep_freed_memory
from evergraph.runs.store import RunStore
from evergraph.scores import SCORES, ScoreContext
from evergraph.seeding import Purpose, numpy_generator
from evergraph.watch import Watch
from measuring import Phases


def load(arguments: argparse.Namespace, phases: Phases) -> None:
    with phases.phase("open"):
        graph = read_folder(arguments.graph)
    config = _config(arguments, whole_graph=True)
    with phases.phase("standardise"):
        graph = standardise(graph, config.dataset.standardise)
    with phases.phase("stream"):
        stream = make_stream(graph, config.stream, split_seed=config.seeds.split, order_seed=config.seeds.order)
    with phases.phase("views"):
        stream.views(len(stream) - 1, with_past=False)


def test(arguments: argparse.Namespace, phases: Phases) -> None:
    store = RunStore(arguments.run)
    config = RunConfig.from_values(store.config())
    stream = open_stream(config, None)
    learner = make_learner(config, stream.graph.n_features)
    learner.load_state(store.state())
    assert isinstance(learner, StatisticsLearner)
    with phases.phase("fit"):
        learner.linear  # noqa: B018
    evaluate, now = Evaluator(stream, learner), len(stream) - 1
    with phases.phase("test in task graphs"):
        evaluate._count(evaluate._in_own_graphs(now), now)
    with phases.phase("test in the whole graph"):
        evaluate._count(evaluate._prepare(stream.together(now), once=True), now)


def train(arguments: argparse.Namespace, phases: Phases) -> None:
    config = _config(arguments, whole_graph=False)
    stream: TaskStream = open_stream(config, None)
    if is_on_disk(stream.graph):
        stream = replace(stream, in_arrays=True)
    net = make_net(config, stream.graph.n_features)
    for index in range(len(stream)):
        (task,) = stream.views(index, with_past=False)
        net.grow(task)
        with phases.phase("epoch"):
            net.fit(task, [net.planned_batch(task)], Watch())
        rng: np.random.Generator = numpy_generator(0, Purpose.SELECTION, index)
        for score in ("grand", "hps"):
            with phases.phase(f"{score} of tasks"):
                SCORES[score].score(ScoreContext(task, net, rng))


def _config(arguments: argparse.Namespace, *, whole_graph: bool) -> RunConfig:
    return RunConfig.from_values(
        {
            "dataset": {"name": f"{arguments.graph}/"},
            "method": {"name": "finetune"},
            "train": {"epochs": 1},
            "stream": {"inter_task_edges": whole_graph},
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["load", "test", "train"])
    parser.add_argument("--graph", type=Path, required=True)
    parser.add_argument("--memory", required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--run", type=Path, help="folder of a finished run of analytic, for test")
    arguments = parser.parse_args()
    keep_freed_memory()
    phases = Phases()
    with memory_budget(parse_memory(arguments.memory), arguments.scratch):
        {"load": load, "test": test, "train": train}[arguments.part](arguments, phases)
    print(json.dumps(phases.found))


if __name__ == "__main__":
    main()
