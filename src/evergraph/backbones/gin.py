"""GIN: two sum-aggregating layers, each with a perceptron of one hidden layer (Xu et al., 2019)."""

import torch
from pydantic import Field
from torch import Tensor

from evergraph.backbones.base import Backbone, BackboneEntry
from evergraph.backbones.blocks import Blocks
from evergraph.backbones.input_product import InputProduct
from evergraph.backbones.layers import Head, InputLinear, Linear
from evergraph.backbones.message import MessageGraph, ModelInput, NodeFeatures, Norm
from evergraph.backbones.size import FLOAT, GraphSize
from evergraph.config import Settings


class GINConfig(Settings):
    """Sizes of a GIN."""

    hidden: int = Field(256, ge=1, le=65_536)
    """Units of each hidden layer."""


class GIN(Backbone):
    """h' = MLP(h_i + sum of neighbours h_j), twice: the GIN-0 of the paper (ε = 0), without batch normalisation.

    With ε fixed at 0 the first sum is constant and computed once a task; the paper found no difference.
    """

    by_steps = True

    def __init__(self, n_features: int, config: GINConfig, generator: torch.Generator):
        super().__init__()
        self.first = InputLinear(n_features, config.hidden, generator)
        self.second = Linear(config.hidden, config.hidden, generator)
        self.third = Linear(config.hidden, config.hidden, generator)
        self.head = Head(config.hidden)

    def input_product(self, x: NodeFeatures) -> InputProduct:
        """The matrix below the first weight."""
        return x.propagated(Norm.SUM)

    def hidden(self, x: NodeFeatures) -> Tensor:
        """The first layer's output on the nodes of frontier[1]."""
        inner = torch.relu_(self.first(self.input_product(x)))
        return torch.relu_(self.second(inner))

    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        return torch.relu_(self.third(graph.operator(Norm.SUM, 2) @ self.hidden(x)))

    def in_blocks(self, blocks: Blocks, *, head: bool) -> Tensor:
        def first(below: Tensor, graph: MessageGraph) -> Tensor:
            inner = torch.relu_(graph.operator(Norm.SUM, 1) @ below + self.first.bias)
            return torch.relu_(self.second(inner))

        def last(below: Tensor, graph: MessageGraph) -> Tensor:
            embedded = torch.relu_(self.third(graph.operator(Norm.SUM, 1) @ below))
            return self.head(embedded) if head else embedded

        return blocks.last_step(blocks.first_step(blocks.inputs(self.first.multiply), first), last)

    def hidden_layer(self, inputs: ModelInput) -> Tensor:
        return self.hidden(inputs.x)[inputs.graph.own(2)]

    def step_bytes(self, size: GraphSize, classes: int) -> int:
        """Four layers of the two perceptrons, the gradients of two at a time, more between sparse factors."""
        layers = 6 if size.stored is None else 14
        activations = FLOAT * size.nodes * (layers * self.head.weight.shape[0] + 3 * classes)
        return size.message_bytes + size.propagated_bytes() + activations

    def linear_maps(self, inputs: ModelInput) -> list[Tensor]:
        """The first map of each perceptron."""
        return [self.first.multiply(inputs.x.restricted()), self.hidden(inputs.x) @ self.third.weight]


ENTRY = BackboneEntry("two sum-aggregating layers with perceptrons", "Xu et al., ICLR 2019", GINConfig, GIN)
