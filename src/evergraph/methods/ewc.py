"""EWC: a penalty on changes of parameters that are important to past tasks (Kirkpatrick et al., 2017)."""

from collections.abc import Iterable, Sequence

from pydantic import Field
from torch import Tensor, nn

from evergraph.config import Settings
from evergraph.data.stream import TaskView
from evergraph.methods.base import Learner, MethodEntry
from evergraph.methods.importance import QuadraticPenalty, summed_derivatives
from evergraph.training.loop import Batch, batch_loss
from evergraph.training.net import Net
from evergraph.watch import Watch


class EWCConfig(Settings):
    """The weight of the past."""

    weight: float = Field(10_000.0, ge=0)
    """λ of the penalty."""


class EWC(Learner):
    """Loss + λ Σ_{s<t} Σ_p F_{s,p} (p - p*_s)², with p*_s the parameters after task s.

    Where batches are sampled, F is that of one pass of sampled batches.
    """

    def __init__(self, net: Net, config: EWCConfig):
        self.config = config
        self.penalty = QuadraticPenalty(net.device)
        super().__init__(net, self.penalty)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)
        batch = self.net.planned_batch(task)
        self.net.fit(task, [batch], watch, penalty=self.penalty.term(self.net.model, self.config.weight))
        with watch.phase("importance"):
            pieces = self.net.pieces(task, batch)
            self.penalty.add(squared_gradient(self.net.model, pieces), self.net.model)


def squared_gradient(model: nn.Module, pieces: Iterable[Batch]) -> dict[str, Tensor]:
    """F_p = (∂L/∂p)² of a task's training loss L, the sum of its pieces, in evaluation mode."""
    found = summed_derivatives((batch_loss(model, piece) for piece in pieces), model)
    return {name: value.square() for name, value in found.items()}


ENTRY = MethodEntry(
    "holds parameters by the squared gradient of past losses", "Kirkpatrick et al., PNAS 2017", EWCConfig, EWC
)
