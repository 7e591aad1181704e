"""A labelled graph as a stream of tasks: class order, splits, inter-task edges, and the learner's view."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator
from scipy import sparse

from evergraph.config import Settings
from evergraph.data.graph import GlobalIds, Graph, LocalIds
from evergraph.data.preprocess import Preprocessing, preprocess
from evergraph.errors import ConfigError, DataError
from evergraph.hodge import hodge_potential

HIDDEN = -1
"""The label in a learner's view of a node whose label it may not read."""


class Setting(Enum):
    """Whether the task of a node is known when its class is predicted."""

    CLASS_IL = "class-il"
    TASK_IL = "task-il"


class Protocol(Enum):
    """In which graph a task is learned and tested.

    TASK_GRAPHS: the subgraph of the task's own classes, so that at test time the labels decide which edges a node
    keeps. WHOLE_GRAPH: the graph of all nodes that have arrived, with all its edges; nobody knows a node's task.
    """

    TASK_GRAPHS = "task-graphs"
    WHOLE_GRAPH = "whole-graph"


class ClassOrder(Enum):
    """The order in which the classes arrive, unless they are listed."""

    LABEL = "label"
    SIZE = "size"
    RANDOM = "random"


class Remainder(Enum):
    """What happens to the classes left over when the last task would not be full."""

    DROP = "drop"
    KEEP = "keep"


class StreamConfig(Settings):
    """How a graph becomes a sequence of tasks."""

    setting: Setting = Setting.CLASS_IL
    classes_per_task: int = Field(2, ge=1)
    class_order: ClassOrder | tuple[int, ...] = ClassOrder.LABEL
    split: tuple[float, float, float] = (0.6, 0.2, 0.2)
    min_class_size: int = Field(3, ge=3)
    remainder: Remainder = Remainder.DROP
    inter_task_edges: bool = False
    preprocessing: Preprocessing = Preprocessing.ROW_L2

    @property
    def protocol(self) -> Protocol:
        return Protocol.WHOLE_GRAPH if self.inter_task_edges else Protocol.TASK_GRAPHS

    @field_validator("split")
    @classmethod
    def _split_is_a_partition(cls, value: tuple[float, float, float]) -> tuple[float, float, float]:
        if min(value) <= 0 or abs(sum(value) - 1) > 1e-9:
            raise ValueError(f"three positive shares that add up to 1 are wanted, got {value} instead")
        return value


@dataclass(frozen=True)
class Task:
    """One task: its graph (labels are class indices in order of arrival) and the split of its own nodes."""

    index: int
    classes: tuple[int, ...]
    graph: Graph
    node_ids: GlobalIds
    train: LocalIds
    val: LocalIds
    test: LocalIds


@dataclass(frozen=True)
class TaskView:
    """What a learner sees of a task: the graph, and the labels of the training nodes; all others are HIDDEN.

    classes: the class indices of this task; node_ids: the rows of the full graph; train: rows of `graph`.
    whole_potential: from rows of the full graph to its Hodge potential -Δ₀†Ā1 there, if there is a full graph.
    """

    index: int
    classes: tuple[int, ...]
    graph: Graph
    node_ids: GlobalIds
    train: LocalIds
    whole_potential: Callable[[GlobalIds], NDArray[np.float64]] | None = None

    @property
    def train_labels(self) -> NDArray[np.int64]:
        return self.graph.labels[self.train]


def learner_view(task: Task, whole_potential: Callable[[GlobalIds], NDArray[np.float64]] | None = None) -> TaskView:
    """A view from which validation and test labels are erased."""
    labels = np.full_like(task.graph.labels, HIDDEN)
    labels[task.train] = task.graph.labels[task.train]
    graph = replace(task.graph, labels=labels)
    return TaskView(task.index, task.classes, graph, task.node_ids, task.train, whole_potential)


@dataclass(frozen=True)
class WholePotential:
    """The Hodge potential of a whole graph, computed at first use.

    A learner can reach this object, so it holds only the edges: neither labels nor splits.
    """

    adjacency: sparse.csr_array
    directed: bool

    @cached_property
    def value(self) -> NDArray[np.float64]:
        return hodge_potential(self.adjacency, directed=self.directed).value

    def on(self, nodes: GlobalIds) -> NDArray[np.float64]:
        return self.value[nodes]


@dataclass(frozen=True)
class TaskStream:
    """The tasks of one graph; each is extracted when it is indexed, so that nothing is stored twice.

    graph: the whole graph, features preprocessed, labels as in the source.
    order: the labels in order of arrival; class index k in a task is label order[k].
    splits: for each class in that order its training, validation and test nodes.
    messages: what was dropped, for the user.
    """

    graph: Graph
    config: StreamConfig
    order: tuple[int, ...]
    splits: tuple[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], ...]
    messages: tuple[str, ...] = ()

    def __len__(self) -> int:
        return math.ceil(len(self.order) / self.config.classes_per_task)

    def __iter__(self) -> Iterator[Task]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> Task:
        """A task as it is when it arrives."""
        if not 0 <= index < len(self):
            raise IndexError(f"a task index must be from 0 to {len(self) - 1}, got {index} instead")
        return self.together(index)[-1] if self.config.inter_task_edges else self.alone(index)

    def alone(self, index: int) -> Task:
        """A task in the graph of its own nodes."""
        return self._task(index, *self._graph_of(self.classes_of(index)))

    def together(self, now: int) -> list[Task]:
        """The tasks 0 .. now in the graph of all their nodes."""
        nodes, graph = self._graph_of(range(self.classes_of(now).stop))
        return [self._task(index, nodes, graph) for index in range(now + 1)]

    def seen(self, now: int) -> list[Task]:
        """The tasks 0 .. now as they are at task `now`: with inter-task edges all in the graph known by then."""
        return self.together(now) if self.config.inter_task_edges else [self.alone(k) for k in range(now + 1)]

    def views(self, now: int, *, with_past: bool) -> list[TaskView]:
        """What a learner sees at task `now`: that task, last, after the earlier ones where it may see the past."""
        tasks = self.seen(now) if with_past else [self[now]]
        return [learner_view(task, self._potential.on) for task in tasks]

    @cached_property
    def _potential(self) -> WholePotential:
        return WholePotential(self.graph.adjacency, self.graph.directed)

    def _graph_of(self, classes: range) -> tuple[NDArray[np.int64], Graph]:
        nodes = np.sort(np.concatenate([part for k in classes for part in self.splits[k]]))
        graph = self.graph.subgraph(nodes)
        arrival = np.argsort(self.order)
        return nodes, replace(graph, labels=arrival[np.searchsorted(self.order, graph.labels, sorter=arrival)])

    def _task(self, index: int, nodes: NDArray[np.int64], graph: Graph) -> Task:
        own = self.classes_of(index)
        parts = [np.sort(np.concatenate([self.splits[k][part] for k in own])) for part in range(3)]
        train, val, test = (LocalIds(np.searchsorted(nodes, part)) for part in parts)
        return Task(index, tuple(own), graph, GlobalIds(nodes), train, val, test)

    def classes_of(self, index: int) -> range:
        """The class indices of a task."""
        size = self.config.classes_per_task
        return range(index * size, min((index + 1) * size, len(self.order)))

    @property
    def n_classes(self) -> int:
        return len(self.order)


def make_stream(graph: Graph, config: StreamConfig, *, split_seed: int, order_seed: int) -> TaskStream:
    """The tasks of `graph`; the same graph, settings and seeds give the same stream."""
    if graph.features is None:
        raise DataError(
            f"{graph.name} has no features, and learning needs some; "
            "derive them from the graph with --features spectral:64 or --features degree"
        )
    order, messages = class_plan(graph, config, order_seed)
    splits = tuple(_split_class(graph, label, config.split, split_seed) for label in order)
    first = np.concatenate([split[0] for split in splits[: config.classes_per_task]])
    features = preprocess(graph.features, config.preprocessing, np.sort(first))
    return TaskStream(replace(graph, features=features), config, order, splits, messages)


def class_plan(graph: Graph, config: StreamConfig, seed: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The labels in order of arrival, and a message on each group of classes that was dropped."""
    labels, sizes = np.unique(graph.labels, return_counts=True)
    messages = []
    order = _requested_order(labels, sizes, config.class_order, seed)
    size_of = dict(zip(labels.tolist(), sizes.tolist(), strict=True))
    small = [label for label in order if size_of[label] < config.min_class_size]
    if small:
        messages.append(f"dropped classes with fewer than {config.min_class_size} nodes: {_listed(small)}")
        order = [label for label in order if label not in small]
    left = len(order) % config.classes_per_task
    if left and config.remainder is Remainder.DROP:
        messages.append(
            f"dropped the last of {len(order)} classes ({_listed(order[-left:])}): "
            f"too few for a last task of {config.classes_per_task} (stream.remainder=keep keeps them)"
        )
        order = order[:-left]
    if not order:
        raise ConfigError(
            f"at least one task is wanted, got none: {graph.name} has {len(labels)} classes, none of which fit "
            f"min_class_size={config.min_class_size} and classes_per_task={config.classes_per_task}"
        )
    return tuple(order), tuple(messages)


def _requested_order(
    labels: NDArray[np.int64], sizes: NDArray[np.int64], order: ClassOrder | tuple[int, ...], seed: int
) -> list[int]:
    if isinstance(order, tuple):
        unknown = sorted(set(order) - set(labels.tolist()))
        if unknown or len(set(order)) < len(order) or not order:
            problem = f"unknown labels {unknown}" if unknown else "a repeated label or an empty list"
            raise ConfigError(f"stream.class_order must list labels of the graph, each once, got {problem} instead")
        return list(order)
    if order is ClassOrder.SIZE:
        labels = labels[np.argsort(-sizes, kind="stable")]
    elif order is ClassOrder.RANDOM:
        labels = np.random.default_rng([seed, 1]).permutation(labels)
    return [int(label) for label in labels]


def _split_class(
    graph: Graph, label: int, shares: tuple[float, float, float], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """A class's training, validation and test nodes: at least one each, and training gets what rounding leaves."""
    nodes = np.flatnonzero(graph.labels == label)
    shuffled = np.random.default_rng([seed, 0, label]).permutation(nodes)
    n_val, n_test = (max(1, round(share * len(nodes))) for share in shares[1:])
    n_train = max(1, len(nodes) - n_val - n_test)
    n_val = min(n_val, len(nodes) - n_train - 1)
    train, val, test = np.split(shuffled, [n_train, n_train + n_val])
    return np.sort(train), np.sort(val), np.sort(test)


def _listed(labels: list[int]) -> str:
    return ", ".join(str(label) for label in labels)
