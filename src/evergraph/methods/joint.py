"""Joint: a new model on all tasks so far, whenever a task arrives; the soft upper bound."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from evergraph.data.stream import TaskView
from evergraph.methods.base import Memory, MethodEntry, NoSettings
from evergraph.training.net import Net
from evergraph.watch import Watch


class Joint:
    """The only method that sees the past: it keeps nothing, the earlier tasks are handed to it again."""

    def __init__(self, net: Net, config: NoSettings):
        self.net = net

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.restart(task.index)
        for view in (*past, task):
            self.net.grow(view)
        self.net.fit(task, [self.net.task_batch(view) for view in (*past, task)], watch)

    def memory(self) -> Memory:
        return Memory()

    def state(self) -> dict[str, Tensor]:
        return self.net.state()

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        self.net.load_state(state)


ENTRY = MethodEntry(
    "re-trained on all tasks so far (soft upper bound)", "Caruana, 1997", NoSettings, Joint, sees_past=True
)
