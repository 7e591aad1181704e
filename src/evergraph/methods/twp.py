"""TWP: a penalty on changes of parameters important to past losses and past topology (Liu et al., 2021)."""

from collections.abc import Iterable, Sequence

import torch
from pydantic import Field
from torch import Tensor
from torch.nn.functional import leaky_relu

from evergraph.backbones import Backbone, MessageGraph, ModelInput
from evergraph.backbones.attention import row_softmax
from evergraph.backbones.products import sampled_product
from evergraph.config import Settings
from evergraph.data.stream import TaskView
from evergraph.methods.base import Learner, MethodEntry
from evergraph.methods.ewc import squared_gradient
from evergraph.methods.importance import QuadraticPenalty, derivatives, summed_derivatives
from evergraph.training.loop import Batch
from evergraph.training.net import Net
from evergraph.watch import Watch

SLOPE = 0.2
"""Of the LeakyReLU in the attention coefficients of backbones without attention."""


class TWPConfig(Settings):
    """The weights of the two importances and of the gradient."""

    loss_weight: float = Field(10_000.0, ge=0)
    """λ_l, of the importance for past losses."""
    topology_weight: float = Field(10_000.0, ge=0)
    """λ_t, of the importance for past topology."""
    gradient_weight: float = Field(0.01, ge=0)
    """β of ‖∇L‖₁."""


class TWP(Learner):
    """L + β ‖∇L‖₁ + Σ_{s<t} Σ_p (λ_l I_loss + λ_t I_topo)_{s,p} (p - p*_s)², L the loss of the current task.

    I_loss is the squared gradient of the training loss, as in EWC, I_topo that of the norm of the attention
    coefficients; both in evaluation mode. The gradient of β ‖∇L‖₁ is exact: the loss is differentiated twice. Where
    batches are sampled, L is the loss of a step, and both importances are those of one pass of sampled batches.
    """

    def __init__(self, net: Net, config: TWPConfig):
        self.config = config
        self.penalty = QuadraticPenalty(net.device)
        super().__init__(net, self.penalty)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        config, model = self.config, self.net.model
        self.net.grow(task)
        batch = self.net.planned_batch(task)
        held = self.penalty.term(model, 1.0)
        self.net.fit(task, [batch], watch, penalty=held, gradient_weight=config.gradient_weight)
        with watch.phase("importance"):
            loss = squared_gradient(model, self.net.pieces(task, batch))
            if isinstance(batch, Batch):
                topology = topology_importance(model, batch.input)
            else:
                inputs = (piece.input for piece in self.net.pieces(task, batch))
                topology = summed_topology_importance(model, inputs)
            weights = config.loss_weight, config.topology_weight
            self.penalty.add({p: weights[0] * loss[p] + weights[1] * topology[p] for p in loss}, model)


def topology_importance(model: Backbone, inputs: ModelInput) -> dict[str, Tensor]:
    """I_p = (∂‖e‖₂/∂p)², e all attention coefficients of all layers as one vector."""
    e = torch.cat([layer.flatten() for layer in attention_coefficients(model, inputs)])
    return {name: value.square() for name, value in derivatives(e.norm(), model).items()}


def summed_topology_importance(model: Backbone, inputs: Iterable[ModelInput]) -> dict[str, Tensor]:
    """The same for the coefficients of all `inputs`, one at a time: ∂‖e‖₂ = ∂(Σ e²) / 2‖e‖₂."""
    squares: list[Tensor] = []

    def squared_norm(part: ModelInput) -> Tensor:
        value = torch.stack([layer.square().sum() for layer in attention_coefficients(model, part)]).sum()
        squares.append(value.detach())
        return value

    found = summed_derivatives(map(squared_norm, inputs), model)
    norm = torch.stack(squares).sum().sqrt()
    return {name: (value / (2 * norm)).square() for name, value in found.items()}


def attention_coefficients(model: Backbone, inputs: ModelInput) -> list[Tensor]:
    """e_ij of each layer, for the nodes j that send to i: the backbone's attention, or from its linear maps."""
    own = model.attention_weights(inputs)
    if own is not None:
        return own
    maps, graph = model.linear_maps(inputs), inputs.graph
    first = graph.depth - len(maps) + 1
    return [coefficients(graph, first + at, z) for at, z in enumerate(maps)]


def coefficients(graph: MessageGraph, step: int, z: Tensor) -> Tensor:
    """softmax_j LeakyReLU(z_iᵀ tanh(z_j)) for each message of a step, from W h = z of its senders."""
    pattern = graph.pattern(step)
    raw = leaky_relu(sampled_product(pattern, z[graph.own(step)], torch.tanh(z)), SLOPE)
    return row_softmax(pattern, raw[:, None])


ENTRY = MethodEntry(
    "holds parameters by past losses and past neighbourhoods", "Liu et al., AAAI 2021", TWPConfig, TWP
)
