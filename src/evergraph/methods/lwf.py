"""LwF: distillation of the previous model's outputs on the new nodes (Li and Hoiem, 2016)."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import kl_div, log_softmax

from evergraph.config import Settings
from evergraph.data.stream import Setting, TaskView
from evergraph.methods.base import Learner, MethodEntry
from evergraph.training.loop import ExtraLoss
from evergraph.training.net import Net
from evergraph.watch import Watch


class LwFConfig(Settings):
    """The distillation."""

    weight: float = Field(1.0, ge=0)
    """Weight of the distillation loss."""
    temperature: float = Field(2.0, gt=0)
    """Divisor of the logits."""


class LwF(Learner):
    """Loss + weight · KL(previous model ‖ model) over the old classes, mean of the training nodes.

    The previous model's outputs on a task's nodes are computed once, before the task is learned, so nothing is kept
    between tasks. In task-incremental learning each old task has its own softmax.
    """

    def __init__(self, net: Net, config: LwFConfig):
        super().__init__(net)
        self.config = config

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        groups = self.old_classes()
        self.net.grow(task)
        batch = self.net.planned_batch(task)
        if groups:
            said = self.net.batch_logits(batch)
            batch = replace(batch, extra=distillation(said, groups, self.config))
        self.net.fit(task, [batch], watch)

    def old_classes(self) -> list[Tensor]:
        """The classes so far, in groups that compete with each other."""
        tasks = self.net.task_of_class
        together = torch.zeros_like(tasks) if self.net.setting is Setting.CLASS_IL else tasks
        return [(together == group).nonzero().squeeze(1) for group in torch.unique(together)]


def distillation(said: Tensor, groups: Sequence[Tensor], config: LwFConfig) -> ExtraLoss:
    """The loss weight · Σ_groups mean_i KL(softmax(said_i / T) ‖ softmax(logits_i / T)) of logits."""

    def softened(logits: Tensor) -> list[Tensor]:
        return [log_softmax(logits[:, group] / config.temperature, dim=1) for group in groups]

    targets = softened(said)

    def cost(logits: Tensor, at: Tensor | None = None) -> Tensor:
        own = targets if at is None else [target[at] for target in targets]
        pairs = zip(softened(logits), own, strict=True)
        parts = [kl_div(now, target, reduction="batchmean", log_target=True) for now, target in pairs]
        return config.weight * sum(parts[1:], parts[0])

    return cost


ENTRY = MethodEntry("distils the previous model on the new task's nodes", "Li and Hoiem, ECCV 2016", LwFConfig, LwF)
