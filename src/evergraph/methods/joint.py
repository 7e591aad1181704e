"""Joint: a new model on all tasks so far, whenever a task arrives; the soft upper bound."""

from collections.abc import Sequence

import numpy as np

from evergraph.data.stream import TaskView
from evergraph.methods.base import Learner, MethodEntry, NoSettings
from evergraph.training.net import Net, Part
from evergraph.watch import Watch


class Joint(Learner):
    """The only method that sees the past: it keeps nothing, the earlier tasks are handed to it again.

    Every class counts alike, in however many tasks it arrives.
    """

    def __init__(self, net: Net, config: NoSettings):
        super().__init__(net)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.restart(task.index)
        for view in (*past, task):
            self.net.grow(view)
        sizes = np.bincount(np.concatenate([view.train_labels for view in (*past, task)]))
        self.net.fit(task, self.net.planned([Part.of(view, sizes=sizes) for view in (*past, task)]), watch)


ENTRY = MethodEntry(
    "re-trained on all tasks so far (soft upper bound)", "Caruana, 1997", NoSettings, Joint, sees_past=True
)
