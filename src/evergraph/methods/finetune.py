"""Fine-tune: the current task only, no measure against forgetting; the soft lower bound."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from evergraph.data.stream import TaskView
from evergraph.methods.base import Memory, MethodEntry, NoSettings
from evergraph.training.net import Net
from evergraph.watch import Watch


class FineTune:
    """Goes on training the same model on each task as it comes."""

    def __init__(self, net: Net, config: NoSettings):
        self.net = net

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)
        self.net.fit(task, [self.net.task_batch(task)], watch)

    def memory(self) -> Memory:
        return Memory()

    def state(self) -> dict[str, Tensor]:
        return self.net.state()

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        self.net.load_state(state)


ENTRY = MethodEntry("the current task only (soft lower bound)", "Girshick et al., CVPR 2014", NoSettings, FineTune)
