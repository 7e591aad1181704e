"""Counting correct predictions on validation and test nodes of all tasks so far, in both protocols."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from evergraph.data.on_disk import MOST_ROWS, is_on_disk
from evergraph.data.stream import TEST, VAL, Protocol, Setting, Task, TaskStream
from evergraph.methods.base import Learner


@dataclass(frozen=True)
class Correct:
    """Correctly classified nodes of each cell (a task and one of its classes) so far: (cells so far,) each.

    Where classes do not come back, the cells are the classes.
    """

    val: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True)
class _Prepared:
    """Nodes to predict: what computes their logits, their labels and tasks, and which of them are test nodes."""

    logits: Callable[[], Tensor]
    labels: NDArray[np.int32]
    tasks: NDArray[np.int32]
    is_test: NDArray[np.bool_]


class Evaluator:
    """Evaluates a learner on the tasks so far; task graphs do not change and are prepared once where they fit."""

    def __init__(self, stream: TaskStream, learner: Learner):
        self.stream = stream
        self.learner = learner
        self._local: list[list[_Prepared]] = []

    def __call__(self, now: int) -> dict[Protocol, Correct]:
        """Counts after learning task `now`: each task in its own graph, and all tasks in the graph known by now."""
        return {
            Protocol.TASK_GRAPHS: self._count(self._in_own_graphs(now), now),
            Protocol.WHOLE_GRAPH: self._count(self._prepare(self.stream.together(now), once=True), now),
        }

    def _in_own_graphs(self, now: int) -> Iterator[_Prepared]:
        if self.stream.in_arrays:  # together they may not fit
            for index in range(now + 1):
                yield from self._prepare([self.stream.alone(index)])
            return
        while len(self._local) <= now:
            self._local.append(self._prepare([self.stream.alone(len(self._local))]))
        for parts in self._local[: now + 1]:
            yield from parts

    def _prepare(self, tasks: list[Task], *, once: bool = False) -> list[_Prepared]:
        """The validation and test nodes of tasks that share one graph; in blocks where it is on disk.

        once: they are predicted once, so that the learner may leave out what only later predictions could need.
        """
        graph = tasks[0].graph
        task_of = np.full(graph.n_nodes, -1, dtype=np.int32)
        is_test = np.zeros(graph.n_nodes, dtype=bool)
        for task in tasks:
            task_of[task.val] = task_of[task.test] = task.index
            is_test[task.test] = True
        rows = np.flatnonzero(task_of >= 0)
        at_once = MOST_ROWS if is_on_disk(graph) else max(len(rows), 1)
        blocks = [rows[start : start + at_once] for start in range(0, len(rows), at_once)]

        def logits(block: NDArray[np.int64]) -> Callable[[], Tensor]:
            if once and not is_on_disk(graph):
                return partial(self.learner.logits, graph, block)
            return self.learner.outputs(graph, block)

        return [
            _Prepared(logits(block), graph.labels[block].astype(np.int32), task_of[block], is_test[block])
            for block in blocks
        ]

    def _count(self, parts: Iterable[_Prepared], now: int) -> Correct:
        cells, n_classes = self.stream.cells, self.stream.n_classes
        so_far = int((cells.task <= now).sum())
        keys = cells.task * n_classes + cells.label
        val, test = np.zeros((2, so_far), dtype=np.int64)
        for part in parts:
            hit = self._predict(part) == part.labels
            cell = np.searchsorted(keys, part.tasks.astype(np.int64) * n_classes + part.labels)
            test += np.bincount(cell[hit & part.is_test], minlength=so_far)
            val += np.bincount(cell[hit & ~part.is_test], minlength=so_far)
        return Correct(val, test)

    def _predict(self, part: _Prepared) -> NDArray[np.int64]:
        logits = part.logits().cpu().numpy()
        if self.stream.config.setting is Setting.TASK_IL:
            logits = logits.copy()
            for index in np.unique(part.tasks):
                others = np.ones(logits.shape[1], dtype=bool)
                others[list(self.stream.classes_of(int(index)))] = False
                logits[np.ix_(part.tasks == index, others)] = -np.inf
        best: NDArray[np.int64] = logits.argmax(axis=1)
        return best


def totals(stream: TaskStream) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of validation and of test nodes of each cell."""
    return stream.cells.sizes[:, VAL], stream.cells.sizes[:, TEST]
