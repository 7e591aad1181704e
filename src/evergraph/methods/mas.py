"""MAS: a penalty on changes of parameters to which the outputs are sensitive (Aljundi et al., 2018)."""

from collections.abc import Iterable, Mapping, Sequence

import torch
from pydantic import Field
from torch import Tensor

from evergraph.backbones import ModelInput
from evergraph.config import Settings
from evergraph.data.stream import Setting, TaskView
from evergraph.methods.base import Learner, MethodEntry
from evergraph.methods.importance import QuadraticPenalty, summed_derivatives
from evergraph.training.net import Net
from evergraph.watch import Watch


class MASConfig(Settings):
    """The weight of the past."""

    weight: float = Field(10_000.0, ge=0)
    """λ of the penalty."""


class MAS(Learner):
    """Loss + λ Σ_p Ω_p (p - p*)², with p* the parameters after the last task.

    Ω = Σ_s n_s Ω_s / Σ_s n_s is the mean of the tasks' importances weighted by their training nodes n_s; an output
    added after a task has importance 0 for it. Where batches are sampled, Ω_s is that of one pass.
    """

    def __init__(self, net: Net, config: MASConfig):
        self.config = config
        self.penalty = QuadraticPenalty(net.device)
        self.nodes = 0
        super().__init__(net, self.penalty)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)
        batch = self.net.planned_batch(task)
        self.net.fit(task, [batch], watch, penalty=self.penalty.term(self.net.model, self.config.weight))
        with watch.phase("importance"):
            self.nodes += len(task.train)
            inputs = (piece.input for piece in self.net.pieces(task, batch))
            found = sensitivity(self.net, inputs, len(task.train), task.index)
            self.penalty.blend(found, len(task.train) / self.nodes, self.net.model)

    def state(self) -> dict[str, Tensor]:
        return {**super().state(), "nodes": torch.tensor(self.nodes)}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        super().load_state(state)
        self.nodes = int(state["nodes"])


def sensitivity(net: Net, inputs: Iterable[ModelInput], nodes: int, task: int) -> dict[str, Tensor]:
    """Ω_p = |∂/∂p (1/n) Σ_i ‖f(x_i)‖²| over the n nodes of all `inputs`, in evaluation mode, without any label.

    It is the gradient of the mean, not the mean of absolute gradients: one backward pass instead of n, as in the
    public implementations. f is all outputs so far, in task-incremental learning those of `task`.
    """

    def mean_square(part: ModelInput) -> Tensor:
        outputs: Tensor = net.model(*part)
        if net.setting is Setting.TASK_IL:
            outputs = outputs[:, net.task_of_class == task]
        return outputs.square().sum(dim=1).mean() * (len(outputs) / nodes)

    found = summed_derivatives(map(mean_square, inputs), net.model)
    return {name: value.abs() for name, value in found.items()}


ENTRY = MethodEntry(
    "holds parameters by the sensitivity of the outputs", "Aljundi et al., ECCV 2018", MASConfig, MAS
)
