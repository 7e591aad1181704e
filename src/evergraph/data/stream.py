"""A labelled graph as a stream of tasks: class order, splits, inter-task edges, and the learner's view."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator
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


class Arrival(Enum):
    """When the nodes of a class arrive.

    CLASSES: all of them in the task of their class. TIME: by their times, in equal steps. BLURRY: as CLASSES, but
    for a share of every class, which is spread over the other tasks. In the last two, classes come back.
    """

    CLASSES = "classes"
    TIME = "time"
    BLURRY = "blurry"


class Remainder(Enum):
    """What happens to the classes left over when the last task would not be full."""

    DROP = "drop"
    KEEP = "keep"


class StreamConfig(Settings):
    """How a graph becomes a sequence of tasks.

    arrival: when the nodes of a class arrive; steps: of arrival by time; blur: the share that arrives elsewhere.
    inductive: validation and test nodes are not in the graph in which a task is learned.
    """

    setting: Setting = Setting.CLASS_IL
    arrival: Arrival = Arrival.CLASSES
    steps: int = Field(10, ge=1)
    blur: float = Field(0.3, ge=0, lt=1)
    classes_per_task: int = Field(2, ge=1)
    class_order: ClassOrder | tuple[int, ...] = ClassOrder.LABEL
    split: tuple[float, float, float] = (0.6, 0.2, 0.2)
    min_class_size: int = Field(3, ge=3)
    remainder: Remainder = Remainder.DROP
    inter_task_edges: bool = False
    inductive: bool = False
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

    @model_validator(mode="after")
    def _arrival_and_the_rest_fit(self) -> "StreamConfig":
        if self.arrival is not Arrival.CLASSES and self.setting is Setting.TASK_IL:
            raise ValueError(
                f"setting=class-il is wanted with arrival={self.arrival.value}, got task-il instead: "
                "a class that comes back has no task of its own"
            )
        fields = type(self).model_fields
        for name, user in OF_ARRIVAL.items():
            if self.arrival not in user and getattr(self, name) != fields[name].default:
                raise ValueError(
                    f"{name} goes with arrival={' or '.join(kind.value for kind in user)}, "
                    f"got it with arrival={self.arrival.value} instead; leave it out"
                )
        return self


OF_ARRIVAL = {
    "steps": (Arrival.TIME,),
    "blur": (Arrival.BLURRY,),
    "classes_per_task": (Arrival.CLASSES, Arrival.BLURRY),
    "class_order": (Arrival.CLASSES, Arrival.BLURRY),
    "remainder": (Arrival.CLASSES, Arrival.BLURRY),
}
"""The settings that only some kinds of arrival have."""


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

    classes: the class indices of this task, some of which may be known already; node_ids: the rows of the full
    graph; train: rows of `graph`.
    whole_potential: computes the Hodge potential -Δ₀†Ā1 of the whole graph on these nodes, if there is one.
    classes_return: whether classes of this stream may come back in later tasks.
    """

    index: int
    classes: tuple[int, ...]
    graph: Graph
    node_ids: GlobalIds
    train: LocalIds
    whole_potential: Callable[[], NDArray[np.float64]] | None = None
    classes_return: bool = False

    @property
    def train_labels(self) -> NDArray[np.int64]:
        return self.graph.labels[self.train]


def learner_view(
    task: Task,
    whole_potential: Callable[[], NDArray[np.float64]] | None = None,
    *,
    classes_return: bool = False,
) -> TaskView:
    """A view from which validation and test labels are erased."""
    labels = np.full_like(task.graph.labels, HIDDEN)
    labels[task.train] = task.graph.labels[task.train]
    graph = replace(task.graph, labels=labels)
    return TaskView(task.index, task.classes, graph, task.node_ids, task.train, whole_potential, classes_return)


@dataclass(frozen=True)
class WholePotential:
    """The Hodge potential of the graph of some nodes, computed at first use; rows: their place in the whole graph.

    A learner can reach this object, so it holds only the edges: neither labels nor splits.
    """

    adjacency: sparse.csr_array
    directed: bool
    rows: NDArray[np.int64]

    @cached_property
    def value(self) -> NDArray[np.float64]:
        return hodge_potential(self.adjacency, directed=self.directed).value

    def on(self, nodes: GlobalIds) -> NDArray[np.float64]:
        return self.value[np.searchsorted(self.rows, nodes)]


TRAIN, VAL, TEST = range(3)
Split: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Training, validation and test nodes."""


@dataclass(frozen=True)
class Cells:
    """The pairs of a task and one of its classes, in order: one entry for each pair.

    task, label: (cells,); sizes: (cells, 3), the training, validation and test nodes.
    """

    task: NDArray[np.int64]
    label: NDArray[np.int64]
    sizes: NDArray[np.int64]


@dataclass(frozen=True)
class TaskStream:
    """The tasks of one graph; each is extracted when it is indexed, so that nothing is stored twice.

    graph: the whole graph, features preprocessed, labels as in the source.
    order: the labels in order of arrival; class index k in a task is label order[k].
    splits: for each class in that order its training, validation and test nodes, of all tasks.
    messages: what was dropped, for the user.
    arrival: for each node the task in which it arrives; None where it is that of its class.
    """

    graph: Graph
    config: StreamConfig
    order: tuple[int, ...]
    splits: tuple[Split, ...]
    messages: tuple[str, ...] = ()
    arrival: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return int(self._task_of.max()) + 1

    def __iter__(self) -> Iterator[Task]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> Task:
        """A task as it is when it arrives."""
        if not 0 <= index < len(self):
            raise IndexError(f"a task index must be from 0 to {len(self) - 1}, got {index} instead")
        return self.together(index)[-1] if self.config.inter_task_edges else self.alone(index)

    def alone(self, index: int) -> Task:
        """A task in the graph of its own nodes."""
        return self._tasks(range(index, index + 1))[0]

    def together(self, now: int) -> list[Task]:
        """The tasks 0 .. now in the graph of all their nodes."""
        return self._tasks(range(now + 1))

    def seen(self, now: int) -> list[Task]:
        """The tasks 0 .. now as they are at task `now`: with inter-task edges all in the graph known by then."""
        return self.together(now) if self.config.inter_task_edges else [self.alone(k) for k in range(now + 1)]

    def views(self, now: int, *, with_past: bool) -> list[TaskView]:
        """What a learner sees at task `now`: that task, last, after the earlier ones where it may see the past."""
        inductive = self.config.inductive
        wanted = range(0 if with_past else now, now + 1)
        if self.config.inter_task_edges:
            tasks = self._tasks(range(now + 1), train_only=inductive)[wanted.start :]
        else:
            tasks = [self._tasks(range(k, k + 1), train_only=inductive)[0] for k in wanted]
        return [
            learner_view(task, partial(self._potential.on, task.node_ids), classes_return=self.classes_return)
            for task in tasks
        ]

    @cached_property
    def _potential(self) -> WholePotential:
        """Of the whole graph, or of all training nodes where learners see no others."""
        graph, rows = self.graph, np.arange(self.graph.n_nodes)
        if self.config.inductive:
            rows = np.flatnonzero(self._part_of == TRAIN)
            graph = graph.subgraph(rows)
        return WholePotential(graph.adjacency, graph.directed, rows)

    def _tasks(self, which: range, *, train_only: bool = False) -> list[Task]:
        """Some consecutive tasks in the graph of all their nodes, or of their training nodes."""
        inside = (self._task_of >= which.start) & (self._task_of < which.stop)
        if train_only:
            inside &= self._part_of == TRAIN
        nodes = np.flatnonzero(inside)
        graph = self.graph.subgraph(nodes)
        rank = np.argsort(self.order)
        graph = replace(graph, labels=rank[np.searchsorted(self.order, graph.labels, sorter=rank)])
        return [self._task(index, nodes, graph) for index in which]

    def _task(self, index: int, nodes: NDArray[np.int64], graph: Graph) -> Task:
        part_of = np.where(self._task_of[nodes] == index, self._part_of[nodes], -1)
        train, val, test = (LocalIds(np.flatnonzero(part_of == part)) for part in (TRAIN, VAL, TEST))
        return Task(index, self.classes_of(index), graph, GlobalIds(nodes), train, val, test)

    @cached_property
    def _part_of(self) -> NDArray[np.int64]:
        """For each node TRAIN, VAL or TEST; -1 where it is in no task."""
        parts = np.full(self.graph.n_nodes, -1)
        for split in self.splits:
            for part, nodes in enumerate(split):
                parts[nodes] = part
        return parts

    @cached_property
    def _class_of(self) -> NDArray[np.int64]:
        """For each node its class index; -1 where it is in no task."""
        classes = np.full(self.graph.n_nodes, -1)
        for label, split in enumerate(self.splits):
            classes[np.concatenate(split)] = label
        return classes

    @cached_property
    def _task_of(self) -> NDArray[np.int64]:
        """For each node the task in which it arrives; -1 where it is in none."""
        if self.arrival is not None:
            return self.arrival
        return np.where(self._class_of < 0, -1, self._class_of // self.config.classes_per_task)

    @cached_property
    def cells(self) -> Cells:
        """The classes of each task, task by task, and the sizes of their parts."""
        inside = np.flatnonzero(self._task_of >= 0)
        keys = self._task_of[inside] * self.n_classes + self._class_of[inside]
        found, cell = np.unique(keys, return_inverse=True)
        sizes = np.bincount(cell * 3 + self._part_of[inside], minlength=3 * len(found)).reshape(-1, 3)
        return Cells(found // self.n_classes, found % self.n_classes, sizes)

    def classes_of(self, index: int) -> tuple[int, ...]:
        """The class indices of a task, ascending."""
        return tuple(self.cells.label[self.cells.task == index].tolist())

    def known(self, now: int) -> int:
        """The number of classes that have arrived by the end of task `now`; 0 for -1."""
        return 1 + int(self.cells.label[self.cells.task <= now].max(initial=-1))

    @property
    def n_classes(self) -> int:
        return len(self.order)

    @property
    def classes_return(self) -> bool:
        """Whether a class may arrive in several tasks."""
        return self.config.arrival is not Arrival.CLASSES


def make_stream(graph: Graph, config: StreamConfig, *, split_seed: int, order_seed: int) -> TaskStream:
    """The tasks of `graph`; the same graph, settings and seeds give the same stream."""
    if graph.features is None:
        raise DataError(
            f"{graph.name} has no features, and learning needs some; "
            "derive them from the graph with --features spectral:64 or --features degree"
        )
    order, messages = class_plan(graph, config, order_seed)
    if config.arrival is Arrival.CLASSES:
        arrival = None
        splits = tuple(
            _split_nodes(np.flatnonzero(graph.labels == label), config.split, [split_seed, 0, label])
            for label in order
        )
    else:
        arrival, order = _arrivals(graph, config, order, order_seed)
        splits, more = _split_by_task(graph, config, order, arrival, split_seed)
        messages += more
    stream = TaskStream(graph, config, order, splits, messages, arrival)
    first = np.flatnonzero((stream._task_of == 0) & (stream._part_of == TRAIN))
    features = preprocess(graph.features, config.preprocessing, first)
    return replace(stream, graph=replace(graph, features=features))


def _arrivals(
    graph: Graph, config: StreamConfig, order: tuple[int, ...], seed: int
) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """For each node the task in which it arrives, -1 for dropped classes; and the labels by first arrival."""
    if config.arrival is Arrival.TIME:
        rank = _time_ranks(graph, config.steps, order)
        arrival = np.where(rank < 0, -1, rank * config.steps // (rank.max() + 1))
    else:
        arrival = _blurred(graph, config, order, seed)
        rank = arrival
    first = [rank[graph.labels == label].min() for label in order]
    return arrival, tuple(order[k] for k in np.argsort(first, kind="stable"))


def _time_ranks(graph: Graph, steps: int, order: tuple[int, ...]) -> NDArray[np.int64]:
    """The place of each node in time, -1 for dropped classes; nodes of the same time in the order of their rows."""
    if graph.times is None:
        raise DataError(
            f"{graph.name} has no times, and stream.arrival=time needs some; "
            "add a column time to the node table or choose stream.arrival=blurry"
        )
    nodes = np.flatnonzero(np.isin(graph.labels, order))
    if steps > len(nodes):
        raise ConfigError(f"stream.steps must be at most the number of nodes, {len(nodes)}, got {steps} instead")
    rank = np.full(graph.n_nodes, -1)
    rank[nodes[np.argsort(graph.times[nodes], kind="stable")]] = np.arange(len(nodes))
    return rank


def _blurred(graph: Graph, config: StreamConfig, order: tuple[int, ...], seed: int) -> NDArray[np.int64]:
    """The task of each node's class, or for a share of every class another task, drawn uniformly."""
    tasks = math.ceil(len(order) / config.classes_per_task)
    if tasks < 2:
        raise ConfigError(
            f"stream.arrival=blurry needs at least two tasks, got {len(order)} classes in one; "
            "lower stream.classes_per_task"
        )
    arrival = np.full(graph.n_nodes, -1)
    for index, label in enumerate(order):
        home = index // config.classes_per_task
        nodes = np.flatnonzero(graph.labels == label)
        rng = np.random.default_rng([seed, 2, label])
        moved = rng.permutation(nodes)[: round(config.blur * len(nodes))]
        arrival[nodes] = home
        arrival[moved] = (home + rng.integers(1, tasks, size=len(moved))) % tasks
    return arrival


def _split_by_task(
    graph: Graph, config: StreamConfig, order: tuple[int, ...], arrival: NDArray[np.int64], seed: int
) -> tuple[tuple[Split, ...], tuple[str, ...]]:
    """For each class its parts, split in every task by itself; fewer than three nodes are training nodes."""
    splits, small = [], 0
    tasks = int(arrival.max()) + 1
    tested = np.zeros(tasks, dtype=bool)
    for label in order:
        own = np.flatnonzero(graph.labels == label)
        parts = []
        for task in np.unique(arrival[own]):
            nodes = own[arrival[own] == task]
            if len(nodes) < 3:
                parts.append((nodes, nodes[:0], nodes[:0]))
                small += len(nodes)
            else:
                parts.append(_split_nodes(nodes, config.split, [seed, 0, label, 1 + int(task)]))
                tested[task] = True
        train, val, test = (np.sort(np.concatenate(part)) for part in zip(*parts, strict=True))
        splits.append((train, val, test))
    if not tested.all():
        raise ConfigError(
            f"every task must have test nodes, got none in task {int(tested.argmin()) + 1} of {tasks}: "
            "no class has three nodes there; lower stream.steps or stream.blur"
        )
    message = f"{small} nodes of classes with fewer than 3 nodes in a task are all training nodes"
    return tuple(splits), (message,) if small else ()


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
    if left and config.remainder is Remainder.DROP and config.arrival is not Arrival.TIME:
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


def _split_nodes(nodes: NDArray[np.int64], shares: tuple[float, float, float], seed: list[int]) -> Split:
    """Training, validation and test nodes: at least one each, and training gets what rounding leaves."""
    shuffled = np.random.default_rng(seed).permutation(nodes)
    n_val, n_test = (max(1, round(share * len(nodes))) for share in shares[1:])
    n_train = max(1, len(nodes) - n_val - n_test)
    n_val = min(n_val, len(nodes) - n_train - 1)
    train, val, test = np.split(shuffled, [n_train, n_train + n_val])
    return np.sort(train), np.sort(val), np.sort(test)


def _listed(labels: list[int]) -> str:
    return ", ".join(str(label) for label in labels)
