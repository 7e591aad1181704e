"""Fine-tune: the current task only, no measure against forgetting; the soft lower bound."""

from collections.abc import Sequence

from evergraph.data.stream import TaskView
from evergraph.methods.base import Learner, MethodEntry, NoSettings
from evergraph.training.net import Net
from evergraph.watch import Watch


class FineTune(Learner):
    """Trains the same model on each task as it arrives."""

    def __init__(self, net: Net, config: NoSettings):
        super().__init__(net)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)
        self.net.fit(task, [self.net.planned_batch(task)], watch)


ENTRY = MethodEntry("the current task only (soft lower bound)", "Girshick et al., CVPR 2014", NoSettings, FineTune)
