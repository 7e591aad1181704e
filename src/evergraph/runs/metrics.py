"""The accuracy matrix and pure functions of it; accuracies are shares from 0 to 1, never rounded."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

AccuracyMatrix: TypeAlias = NDArray[np.float64]
"""(T, T): entry (i, j) is the accuracy on task j after learning task i; NaN above the diagonal."""


def average_accuracy(matrix: AccuracyMatrix) -> float:
    """AA: the mean accuracy over all tasks after the last one."""
    return float(matrix[-1].mean())


def average_forgetting(matrix: AccuracyMatrix) -> float:
    """AF: final minus just-learned accuracy, averaged over the first T - 1 tasks; 0 for a single task."""
    return float((matrix[-1, :-1] - np.diagonal(matrix)[:-1]).mean()) if len(matrix) > 1 else 0.0


def accuracy_curve(matrix: AccuracyMatrix) -> NDArray[np.float64]:
    """AA after each task: (T,)."""
    return np.array([row[: index + 1].mean() for index, row in enumerate(matrix)])


def learning_accuracy(matrix: AccuracyMatrix) -> float:
    """The mean accuracy on each task right after learning it."""
    return float(np.diagonal(matrix).mean())


def backward_transfer(matrix: AccuracyMatrix) -> float:
    """BWT of Lopez-Paz and Ranzato (2017); the same sum as AF, under the name of the transfer literature."""
    return average_forgetting(matrix)


def area(curve: NDArray[np.float64]) -> float:
    """The area under a curve over the stream, which has length 1: every step has the same width."""
    return float(curve.mean())


def forgetting_from_best(per_class: NDArray[np.float64]) -> NDArray[np.float64]:
    """Final minus best accuracy of each class after any task, NaN for a class that was never tested: (classes,)."""
    best = np.where(np.isnan(per_class), -np.inf, per_class).max(axis=0)
    return np.where(np.isfinite(best), per_class[-1] - best, np.nan)


@dataclass(frozen=True)
class Counts:
    """What every accuracy is computed from, for one split (validation or test).

    A cell is a task and one of its classes; cells are in the order of their tasks. Where classes do not come back,
    a cell is a class.
    correct: (tasks learned, cells), the correctly classified nodes of a cell after each task, -1 while unseen;
    total: (cells,), all nodes of a cell; first: the first cell of each task and, last, the number of cells;
    label: (cells,), the class of each cell; None where it is the cell's own number.
    """

    correct: NDArray[np.int64]
    total: NDArray[np.int64]
    first: NDArray[np.int64]
    label: NDArray[np.int64] | None = None

    def per_class(self) -> NDArray[np.float64]:
        """Accuracy on each class's nodes so far after each task, NaN while unseen: (tasks learned, classes)."""
        if self.label is None:
            return self._per_cell()
        right, total = self._so_far()
        member = np.eye(self.label.max() + 1, dtype=np.int64)[self.label]
        right, total = right @ member, total @ member
        return np.where(total > 0, right / np.maximum(total, 1), np.nan)

    def balanced(self) -> AccuracyMatrix:
        """The accuracy matrix in which every class of a task counts alike; one without nodes does not count."""
        counts = np.ones(len(self.total)) if self.label is None else (self.total > 0).astype(np.float64)
        return self._by_task(self._per_cell(), counts)

    def plain(self) -> AccuracyMatrix:
        """The accuracy matrix in which every node counts alike."""
        return self._by_task(self._per_cell(), self.total.astype(np.float64))

    def plain_so_far(self) -> NDArray[np.float64]:
        """Accuracy on all nodes so far after each task, every node counting alike: (tasks learned,)."""
        right, total = self._so_far()
        return np.asarray(right.sum(axis=1) / total.sum(axis=1))

    def balanced_so_far(self) -> NDArray[np.float64]:
        """The same, every class so far counting alike: (tasks learned,)."""
        return np.asarray(np.nanmean(self.per_class(), axis=1))

    def _per_cell(self) -> NDArray[np.float64]:
        return np.where(self.correct < 0, np.nan, self.correct / np.maximum(self.total, 1))

    def _so_far(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Correct and all nodes of the cells seen by each task: (tasks learned, cells) each."""
        seen = self.correct >= 0
        return np.where(seen, self.correct, 0), np.where(seen, self.total, 0)

    def _by_task(self, accuracy: NDArray[np.float64], weight: NDArray[np.float64]) -> AccuracyMatrix:
        sums = np.add.reduceat(accuracy * weight, self.first[:-1], axis=1)
        return sums / np.add.reduceat(weight, self.first[:-1])
