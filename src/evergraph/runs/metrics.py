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


@dataclass(frozen=True)
class Counts:
    """What every accuracy is computed from, for one split (validation or test).

    correct: (tasks learned, classes), the correctly classified nodes of a class after each task, -1 while unseen;
    total: (classes,), all nodes of a class; first: the first class of each task and, last, the number of classes.
    """

    correct: NDArray[np.int64]
    total: NDArray[np.int64]
    first: NDArray[np.int64]

    def per_class(self) -> NDArray[np.float64]:
        """Accuracy on each class after each task, NaN while unseen: (tasks learned, classes)."""
        return np.where(self.correct < 0, np.nan, self.correct / np.maximum(self.total, 1))

    def balanced(self) -> AccuracyMatrix:
        """The accuracy matrix in which every class of a task counts alike."""
        return self._by_task(self.per_class(), np.ones(len(self.total)))

    def plain(self) -> AccuracyMatrix:
        """The accuracy matrix in which every node counts alike."""
        return self._by_task(self.per_class(), self.total.astype(np.float64))

    def _by_task(self, accuracy: NDArray[np.float64], weight: NDArray[np.float64]) -> AccuracyMatrix:
        sums = np.add.reduceat(accuracy * weight, self.first[:-1], axis=1)
        return sums / np.add.reduceat(weight, self.first[:-1])
