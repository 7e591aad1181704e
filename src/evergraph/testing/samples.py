"""Small graphs, settings and learners for the contract tests."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from evergraph.backbones import BACKBONES, BackboneEntry
from evergraph.data.graph import Graph, make_graph
from evergraph.data.stream import TaskStream, make_stream
from evergraph.methods import METHODS, Learner, MethodEntry
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.runs.evaluate import Evaluator
from evergraph.watch import Watch

CPU = torch.device("cpu")
SMALL = {"hidden": 8, "heads": 2, "width": 64, "encoders": 2, "steps": 2}
"""Sizes of a backbone or a method that learns in no time, where it has such settings."""


def small(entry: BackboneEntry | MethodEntry) -> dict[str, int]:
    """Settings that make a backbone or a method small."""
    return {key: value for key, value in SMALL.items() if key in entry.config.model_fields}


def small_method(name: str) -> dict[str, Any]:
    """A small method that keeps two nodes of each class, where it keeps nodes."""
    budget = {"budget": 2} if "budget" in METHODS[name].config.model_fields else {}
    return {"name": name, **small(METHODS[name]), **budget}


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
    """A random graph with classes of the given sizes, shuffled; features indicate the class.

    Its nodes have times, some of them the same.
    """
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    features = (rng.random((len(labels), width)) < 0.3).astype(np.float32)
    features[np.arange(len(labels)), labels % width] += 1
    adjacency = sparse.csr_array(random_adjacency(len(labels), seed, share, directed=directed))
    given = sparse.csr_array(features) if sparse_features else features
    times = np.random.default_rng([seed, 1]).integers(2 * len(labels), size=len(labels))
    return make_graph(adjacency, given, labels, directed=directed, name="tiny", times=times)


def run_config(**sections: dict[str, Any]) -> RunConfig:
    """Settings for a quick run on one thread."""
    values: dict[str, Any] = {"train": {"epochs": 2, "threads": 1}}
    for name, section in sections.items():
        values[name] = {**values.get(name, {}), **section}
    return RunConfig.from_values(values)


def quick_config(method: str, backbone: str = "gcn", **sections: dict[str, Any]) -> RunConfig:
    """Settings for a quick run of a small method on a small backbone."""
    return run_config(
        method={"name": method, **small(METHODS[method])},
        backbone={"name": backbone, **small(BACKBONES[backbone])},
        **sections,
    )


def stream_of(graph: Graph, config: RunConfig) -> TaskStream:
    return make_stream(graph, config.stream, split_seed=config.seeds.split, order_seed=config.seeds.order)


def learn_tasks(learner: Learner, config: RunConfig, stream: TaskStream, tasks: range) -> Learner:
    """Learn some tasks, as a run does."""
    for index in tasks:
        *past, task = stream.views(index, with_past=METHODS[config.method_name].sees_past)
        learner.learn(task, past, Watch())
    return learner


def learned(config: RunConfig, stream: TaskStream) -> Learner:
    """A learner after all tasks of a stream."""
    return learn_tasks(make_learner(config, stream.graph.n_features), config, stream, range(len(stream)))


COMING_BACK: dict[str, dict[str, Any]] = {
    "time": {"arrival": "time", "steps": 3},
    "blurry": {"arrival": "blurry", "blur": 0.5},
}
"""Settings of streams whose classes come back."""


def with_wild_hidden_nodes(stream: TaskStream, graph: Graph, seed: int) -> Graph:
    """The graph of a stream with other features and edges of every node that is no training node."""
    rng = np.random.default_rng(seed)
    hidden = np.ones(graph.n_nodes, dtype=bool)
    hidden[np.concatenate([split[0] for split in stream.splits])] = False
    features = np.array(graph.features)
    features[hidden] = 1000 * rng.standard_normal((int(hidden.sum()), features.shape[1]))
    dense = graph.adjacency.toarray()
    wild = np.triu(rng.random(dense.shape) < 0.5, 1)
    dense = np.where(hidden[:, None] | hidden[None, :], wild | wild.T, dense)
    return make_graph(sparse.csr_array(dense), features, graph.labels, name=graph.name, times=graph.times)


def outputs_are_sound(config: RunConfig, graph: Graph) -> None:
    """The method learns all tasks of a graph, with finite outputs for all classes."""
    stream = stream_of(graph, config)
    learner = make_learner(config, graph.n_features)
    evaluate = Evaluator(stream, learner)
    for index, task in enumerate(stream):
        learn_tasks(learner, config, stream, range(index, index + 1))
        logits = learner.logits(task.graph)
        assert logits.shape == (task.graph.n_nodes, stream.known(index))
        assert logits.isfinite().all()
        for correct in evaluate(index).values():
            assert len(correct.test) == int((stream.cells.task <= index).sum())
    assert all(value.isfinite().all() for value in learner.net.model.state_dict().values())


def resumes_bit_by_bit(config: RunConfig) -> None:
    """A learner that is rebuilt from its state after every task ends with the same bits as one that is not."""
    stream = stream_of(tiny_graph((6,) * 6), config)
    whole = learned(config, stream)
    first = learn_tasks(make_learner(config, 5), config, stream, range(1))
    for index in range(1, len(stream)):
        fresh = make_learner(config, 5)
        fresh.load_state(copied(first.state()))
        assert_same_bits(fresh.state(), first.state())
        assert fresh.memory() == first.memory()
        first = learn_tasks(fresh, config, stream, range(index, index + 1))
    assert_same_bits(first.state(), whole.state())


def copied(state: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in state.items()}


def assert_same_bits(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    """Two states have the same names and the same bits."""
    assert sorted(one) == sorted(other)
    for name, value in one.items():
        assert value.dtype == other[name].dtype, name
        assert value.detach().numpy().tobytes() == other[name].detach().numpy().tobytes(), name
