"""GCN: two graph convolutions (Kipf and Welling, 2017)."""

import torch
from pydantic import Field
from torch import Tensor

from evergraph.backbones.base import Backbone, BackboneEntry
from evergraph.backbones.blocks import Blocks
from evergraph.backbones.input_product import InputProduct
from evergraph.backbones.layers import Head, InputLinear
from evergraph.backbones.message import MessageGraph, ModelInput, NodeFeatures, Norm
from evergraph.backbones.narrow_product import narrow_product
from evergraph.backbones.size import FLOAT, GraphSize
from evergraph.config import Settings


class GCNConfig(Settings):
    """Width, aggregation and bias of a GCN.

    norm = "sum" with bias = false is the GCN of the field's public benchmark. Without a bias the largest output
    does not depend on the scale of the sums, so replaying a node with few of its neighbours keeps its class.
    """

    hidden: int = Field(256, ge=1, le=65_536)
    norm: Norm = Norm.SYMMETRIC
    bias: bool = True


class GCN(Backbone):
    """logits = Â relu(Â X W1 + b1) W2 + b2, with Â = D^-1/2 (A + I) D^-1/2 or, for norm = "sum", A + I."""

    by_steps = True

    def __init__(self, n_features: int, config: GCNConfig, generator: torch.Generator):
        super().__init__()
        self.norm = config.norm
        self.first = InputLinear(n_features, config.hidden, generator, bias=config.bias)
        self.head = Head(config.hidden, bias=config.bias)

    def input_product(self, x: NodeFeatures) -> InputProduct:
        """The matrix below the first weight."""
        return x.propagated(self.norm)

    def hidden(self, x: NodeFeatures) -> Tensor:
        """The first layer's output on the nodes of frontier[1]."""
        return torch.relu_(self.first(self.input_product(x)))

    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        return graph.operator(self.norm, 2) @ self.hidden(x)

    def forward(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """(rows, classes); the product with the head comes first, since it makes the propagation narrow."""
        return graph.operator(self.norm, 2) @ narrow_product(self.hidden(x), self.head.weight) + self.head.bias

    def in_blocks(self, blocks: Blocks, *, head: bool) -> Tensor:
        def first(below: Tensor, graph: MessageGraph) -> Tensor:
            hidden = torch.relu_(graph.operator(self.norm, 1) @ below + self.first.bias)
            return narrow_product(hidden, self.head.weight) if head else hidden

        def last(below: Tensor, graph: MessageGraph) -> Tensor:
            return graph.operator(self.norm, 1) @ below + (self.head.bias if head else 0.0)

        return blocks.last_step(blocks.first_step(blocks.inputs(self.first.multiply), first), last)

    def hidden_layer(self, inputs: ModelInput) -> Tensor:
        return self.hidden(inputs.x)[inputs.graph.own(2)]

    def step_bytes(self, size: GraphSize, classes: int) -> int:
        """The hidden layer, its gradient and a copy, more between sparse factors; the outputs four times."""
        layers = 3 if size.stored is None else 6
        activations = FLOAT * size.nodes * (layers * self.head.weight.shape[0] + 4 * classes)
        return size.message_bytes + size.propagated_bytes() + activations

    def linear_maps(self, inputs: ModelInput) -> list[Tensor]:
        return [self.first.multiply(inputs.x.restricted()), self.hidden(inputs.x) @ self.head.weight]


ENTRY = BackboneEntry(
    "two graph convolutions, symmetric normalisation (or norm=sum, bias=false)",
    "Kipf and Welling, ICLR 2017",
    GCNConfig,
    GCN,
)
