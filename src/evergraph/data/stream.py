"""A labelled graph as a stream of tasks: their graphs, their splits, and the learner's view."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.budget import current_budget
from evergraph.data.arrival import Split, arrivals, class_plan, split_by_task, split_nodes
from evergraph.data.graph import GlobalIds, Graph, LocalIds
from evergraph.data.on_disk import as_arrays, in_csr, is_on_disk
from evergraph.data.preprocess import preprocess
from evergraph.data.stream_config import Arrival, ClassOrder, Protocol, Remainder, Setting, StreamConfig
from evergraph.errors import DataError
from evergraph.hodge import ranking_potential

__all__ = [
    "HIDDEN",
    "TEST",
    "TRAIN",
    "VAL",
    "Arrival",
    "Cells",
    "ClassOrder",
    "Protocol",
    "Remainder",
    "Setting",
    "StreamConfig",
    "Task",
    "TaskStream",
    "TaskView",
    "class_plan",
    "learner_view",
    "make_stream",
]

HIDDEN = -1
"""The label in a learner's view of a node whose label it may not read."""
TRAIN, VAL, TEST = range(3)
"""The parts of a split."""


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
    """What a learner sees of a task: the graph, and the labels of the training nodes; all others are HIDDEN."""

    index: int
    """The place of the task in the stream, from 0."""
    classes: tuple[int, ...]
    """The class indices of this task, some of which may be known already."""
    graph: Graph
    """The graph in which the task is learned."""
    node_ids: GlobalIds
    """The rows of the full graph."""
    train: LocalIds
    """The training nodes, rows of `graph`."""
    whole_potential: Callable[[GlobalIds], NDArray[np.float64]] | None = None
    """From rows of the full graph to its Hodge potential -Δ₀†Ā1 there, if there is a full graph."""
    classes_return: bool = False
    """Whether classes of this stream may come back in later tasks."""
    forgettable: bool = False
    """Whether nodes may have to be forgotten on request, by their node_ids."""

    @property
    def train_labels(self) -> NDArray[np.int64]:
        """The labels of the training nodes."""
        return self.graph.labels[self.train]


def learner_view(
    task: Task,
    whole_potential: Callable[[GlobalIds], NDArray[np.float64]] | None = None,
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
    """The Hodge potential of the graph of some nodes, computed at first use.

    rows: their place in the whole graph, None for all of its nodes. A learner can reach this object, so it holds
    only the edges: neither labels nor splits.
    """

    adjacency: sparse.csr_array
    directed: bool
    rows: NDArray[np.int64] | None

    @cached_property
    def value(self) -> NDArray[np.float64]:
        memory = current_budget().memory
        return ranking_potential(in_csr(self.adjacency), directed=self.directed, memory=memory).value

    def on(self, nodes: GlobalIds) -> NDArray[np.float64]:
        if self.rows is None:
            return self.value[nodes]
        place = np.searchsorted(self.rows, nodes)
        return self.value[np.minimum(place, len(self.rows) - 1)]


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
    in_arrays: whether the tasks of a graph on disk have graphs as arrays, for learners that do not read blocks.
    """

    graph: Graph
    config: StreamConfig
    order: tuple[int, ...]
    splits: tuple[Split, ...]
    messages: tuple[str, ...] = ()
    arrival: NDArray[np.int32] | None = None
    in_arrays: bool = False

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
        return [learner_view(task, self._potential.on, classes_return=self.classes_return) for task in tasks]

    @cached_property
    def _potential(self) -> WholePotential:
        """Of the whole graph, or of all training nodes where learners see no others."""
        graph, rows = self.graph, None
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
        if self.in_arrays:
            graph = as_arrays(graph)
        rank = np.argsort(self.order)
        graph = replace(graph, labels=rank[np.searchsorted(self.order, graph.labels, sorter=rank)])
        return [self._task(index, nodes, graph) for index in which]

    def _task(self, index: int, nodes: NDArray[np.int64], graph: Graph) -> Task:
        part_of = np.where(self._task_of[nodes] == index, self._part_of[nodes], np.int8(-1))
        train, val, test = (LocalIds(np.flatnonzero(part_of == part)) for part in (TRAIN, VAL, TEST))
        return Task(index, self.classes_of(index), graph, GlobalIds(nodes), train, val, test)

    @cached_property
    def _part_of(self) -> NDArray[np.int8]:
        """For each node TRAIN, VAL or TEST; -1 where it is in no task."""
        parts = np.full(self.graph.n_nodes, -1, dtype=np.int8)
        for split in self.splits:
            for part, nodes in enumerate(split):
                parts[nodes] = part
        return parts

    @cached_property
    def _class_of(self) -> NDArray[np.int32]:
        """For each node its class index; -1 where it is in no task."""
        classes = np.full(self.graph.n_nodes, -1, dtype=np.int32)
        for label, split in enumerate(self.splits):
            classes[np.concatenate(split)] = label
        return classes

    @cached_property
    def _task_of(self) -> NDArray[np.int32]:
        """For each node the task in which it arrives; -1 where it is in none."""
        if self.arrival is not None:
            return self.arrival
        return self._class_of // np.int32(self.config.classes_per_task)  # rounds -1 down to -1

    @cached_property
    def cells(self) -> Cells:
        """The classes of each task, task by task, and the sizes of their parts."""
        inside = np.flatnonzero(self._task_of >= 0)
        keys = self._task_of[inside].astype(np.int64) * self.n_classes + self._class_of[inside]
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
            split_nodes(np.flatnonzero(graph.labels == label), config.split, [split_seed, 0, label])
            for label in order
        )
    else:
        when, order = arrivals(graph, config, order, order_seed)
        splits, more = split_by_task(graph, config, order, when, split_seed)
        arrival = when.astype(np.int32)
        messages += more
    stream = TaskStream(graph, config, order, splits, messages, arrival)
    first = np.flatnonzero((stream._task_of == 0) & (stream._part_of == TRAIN))
    features = preprocess(graph.features, config.preprocessing, first)
    names = None if is_on_disk(graph) else graph.node_names  # which the graphs of tasks have not either
    return replace(stream, graph=replace(graph, features=features, node_names=names))
