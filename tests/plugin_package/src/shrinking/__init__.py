"""Shrink: the current task, with every parameter drawn a little towards zero; and a score of no use."""

from collections.abc import Sequence

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from evergraph import Learner, MethodEntry, Net, ScoreEntry, Settings, TaskView, Watch
from evergraph.scores import NodeScores, ScoreContext


class ShrinkConfig(Settings):
    """weight: how strongly the parameters are drawn."""

    weight: float = Field(0.01, ge=0)


class Shrink(Learner):
    def __init__(self, net: Net, config: ShrinkConfig):
        super().__init__(net)
        self.config = config

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)
        self.net.fit(task, [self.net.task_batch(task)], watch, penalty=self.size)

    def size(self) -> Tensor:
        return self.config.weight * torch.stack([p.square().sum() for p in self.net.model.parameters()]).sum()


def label_rank(context: ScoreContext) -> NodeScores:
    """Later nodes first."""
    return NodeScores(np.arange(len(context.task.train), dtype=np.float64))


SHRINK = MethodEntry(
    "the current task, with a penalty on the size of all parameters", "nobody, 2026", ShrinkConfig, Shrink
)
LABEL_RANK = ScoreEntry("later nodes first", "nobody, 2026", label_rank)
