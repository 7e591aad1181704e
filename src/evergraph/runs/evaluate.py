"""Counting correct predictions, class by class, on validation and test nodes of all tasks so far."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from evergraph.backbones import ModelInput, model_input
from evergraph.data.stream import Setting, Task, TaskStream
from evergraph.methods.base import Learner


@dataclass(frozen=True)
class Correct:
    """Correctly classified nodes of each class so far: (classes seen,) each."""

    val: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True)
class _Prepared:
    inputs: ModelInput
    labels: NDArray[np.int64]
    is_test: NDArray[np.bool_]


class Evaluator:
    """Evaluates a learner on the tasks so far; task graphs that do not change are prepared once."""

    def __init__(self, stream: TaskStream, device: torch.device):
        self.stream = stream
        self.device = device
        self._prepared: list[_Prepared] = []

    def __call__(self, learner: Learner, now: int) -> Correct:
        """Counts after learning task `now`."""
        n_classes = self.stream.classes_of(now).stop
        val, test = np.zeros((2, n_classes), dtype=np.int64)
        for index, prepared in enumerate(self._tasks(now)):
            predicted = self._predict(learner, prepared, self.stream.classes_of(index))
            hit = predicted == prepared.labels
            test += np.bincount(prepared.labels[hit & prepared.is_test], minlength=n_classes)
            val += np.bincount(prepared.labels[hit & ~prepared.is_test], minlength=n_classes)
        return Correct(val, test)

    def _tasks(self, now: int) -> list[_Prepared]:
        if self.stream.config.inter_task_edges:
            return [self._prepare(task) for task in self.stream.seen(now)]
        while len(self._prepared) <= now:
            self._prepared.append(self._prepare(self.stream[len(self._prepared)]))
        return self._prepared[: now + 1]

    def _prepare(self, task: Task) -> _Prepared:
        rows = np.sort(np.concatenate([task.val, task.test]))
        inputs = model_input(task.graph, rows, self.device)
        return _Prepared(inputs, task.graph.labels[rows], np.isin(rows, task.test))

    def _predict(self, learner: Learner, prepared: _Prepared, own: range) -> NDArray[np.int64]:
        logits = learner.net.logits(prepared.inputs)
        if self.stream.config.setting is Setting.TASK_IL:
            return logits[:, own.start : own.stop].argmax(dim=1).cpu().numpy() + own.start
        best: NDArray[np.int64] = logits.argmax(dim=1).cpu().numpy()
        return best


def totals(stream: TaskStream) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of validation and of test nodes of each class."""
    sizes = np.array([[len(part) for part in split] for split in stream.splits], dtype=np.int64)
    return sizes[:, 1], sizes[:, 2]
