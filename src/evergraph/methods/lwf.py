"""LwF: the outputs of the previous model on the new nodes are targets of the new one (Li and Hoiem, 2016)."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import kl_div, log_softmax

from evergraph.config import Settings
from evergraph.data.stream import Setting, TaskView
from evergraph.methods.base import Learner, MethodEntry
from evergraph.training.net import Net
from evergraph.watch import Watch


class LwFConfig(Settings):
    """weight: of the distillation beside the loss; temperature: by which logits are divided."""

    weight: float = Field(1.0, ge=0)
    temperature: float = Field(2.0, gt=0)


class LwF(Learner):
    """Loss + weight · KL(previous model ‖ model), both softened, over the old classes, mean of the training nodes.

    What the previous model says about a task's nodes is computed once, before the task is learned, so that
    nothing has to be kept between tasks. In task-incremental learning each old task has a softmax of its own.
    """

    def __init__(self, net: Net, config: LwFConfig):
        super().__init__(net)
        self.config = config

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        groups = self.old_classes()
        self.net.grow(task)
        batch = self.net.task_batch(task)
        if groups:
            said = self.net.logits(batch.input)
            batch = replace(batch, extra=distillation(said, groups, self.config))
        self.net.fit(task, [batch], watch)

    def old_classes(self) -> list[Tensor]:
        """The classes so far, in groups that compete with each other."""
        tasks = self.net.task_of_class
        if self.net.setting is Setting.CLASS_IL:
            groups = [tasks >= 0]
        else:
            groups = [tasks == index for index in torch.unique(tasks)]
        return [group.nonzero().squeeze(1) for group in groups if len(group)]


def distillation(said: Tensor, groups: Sequence[Tensor], config: LwFConfig) -> Callable[[Tensor], Tensor]:
    """What logits cost that differ from `said`: Σ_groups mean_i KL(softmax(said_i / T) ‖ softmax(logits_i / T))."""
    targets = [log_softmax(said[:, group] / config.temperature, dim=1) for group in groups]

    def cost(logits: Tensor) -> Tensor:
        parts = [
            kl_div(
                log_softmax(logits[:, group] / config.temperature, dim=1),
                target,
                reduction="batchmean",
                log_target=True,
            )
            for group, target in zip(groups, targets, strict=True)
        ]
        return config.weight * sum(parts[1:], parts[0])

    return cost


ENTRY = MethodEntry("distils the previous model on the new task's nodes", "Li and Hoiem, ECCV 2016", LwFConfig, LwF)
