"""Small graphs, settings and child processes that many tests share."""

import os
import sys
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from evergraph.data.graph import Graph, make_graph
from evergraph.data.stream import TaskStream, make_stream
from evergraph.methods import METHODS, Learner
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.watch import Watch

CPU = torch.device("cpu")
PRELOADED = [
    "evergraph.cli.printing",
    "evergraph.report.plots",
    "evergraph.runs.execute",
    "matplotlib.backends.backend_agg",
    "sklearn.datasets",
]
"""What a run needs and takes long to import; processes are forked from one that has it."""


def random_adjacency(
    n: int, seed: int, share: float = 0.3, *, directed: bool = False, loops: bool = False
) -> NDArray[np.float32]:
    """A dense random 0/1 adjacency; the first node is always isolated."""
    dense = (np.random.default_rng(seed).random((n, n)) < share).astype(np.float32)
    if not directed:
        dense = np.maximum(np.triu(dense), np.triu(dense).T)
    if not loops:
        np.fill_diagonal(dense, 0)
    dense[0] = dense[:, 0] = 0
    return dense


def tiny_graph(
    sizes: tuple[int, ...] = (6, 6, 6, 6),
    *,
    width: int = 5,
    seed: int = 0,
    share: float = 0.2,
    directed: bool = False,
    sparse_features: bool = False,
) -> Graph:
    """A random graph with classes of the given sizes, in mixed order, whose features tell the class."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    features = (rng.random((len(labels), width)) < 0.3).astype(np.float32)
    features[np.arange(len(labels)), labels % width] += 1
    adjacency = random_adjacency(len(labels), seed, share, directed=directed)
    return make_graph(
        sparse.csr_array(adjacency),
        sparse.csr_array(features) if sparse_features else features,
        labels,
        directed=directed,
        name="tiny",
    )


def run_config(**sections: dict[str, Any]) -> RunConfig:
    """Settings for a quick run on one thread."""
    values: dict[str, Any] = {"train": {"epochs": 2, "threads": 1}}
    for name, section in sections.items():
        values[name] = {**values.get(name, {}), **section}
    return RunConfig.from_values(values)


def quick_config(method: str, backbone: str = "gcn", **sections: dict[str, Any]) -> RunConfig:
    """Settings for a quick run of a method on a small backbone."""
    small: dict[str, Any] = {"name": backbone, "hidden": 8} | ({"heads": 2} if backbone == "gat" else {})
    return run_config(method={"name": method}, backbone=small, **sections)


def stream_of(graph: Graph, config: RunConfig) -> TaskStream:
    return make_stream(graph, config.stream, split_seed=config.seeds.split, order_seed=config.seeds.order)


def learn_tasks(learner: Learner, config: RunConfig, stream: TaskStream, tasks: range) -> Learner:
    """Let a learner learn some tasks, as a run does it."""
    for index in tasks:
        *past, task = stream.views(index, with_past=METHODS[config.method_name].sees_past)
        learner.learn(task, past, Watch())
    return learner


def learned(config: RunConfig, stream: TaskStream) -> Learner:
    """A learner after all tasks of a stream."""
    return learn_tasks(make_learner(config, stream.graph.n_features), config, stream, range(len(stream)))


def copied(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in state.items()}


def assert_same_bits(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    """Two states have the same names and, bit by bit, the same values."""
    assert sorted(one) == sorted(other)
    for name, value in one.items():
        assert value.dtype == other[name].dtype, name
        assert value.detach().numpy().tobytes() == other[name].detach().numpy().tobytes(), name


def one_sentence(error: BaseException) -> str:
    """The message of an error, which must be a single line that says what came."""
    message = str(error)
    assert message
    assert "\n" not in message
    assert "got" in message
    return message


def command_line(arguments: list[str], folder: Path) -> ForkServerProcess:
    """A process of its own that runs the command line; its output goes to two files in `folder`."""
    context = get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    process = context.Process(target=_child, args=(arguments, str(folder)))
    process.start()
    return process


def _child(arguments: list[str], folder: str) -> None:
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(Path(folder, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    torch.set_num_threads(1)
    from evergraph.cli import run_main

    code = run_main(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
