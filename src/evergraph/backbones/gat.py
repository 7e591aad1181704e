"""GAT: two graph attention layers (Veličković et al., 2018)."""

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from evergraph.backbones.activation import elu_dropped
from evergraph.backbones.attention import attended, attention
from evergraph.backbones.base import Backbone, BackboneEntry
from evergraph.backbones.blocks import Blocks
from evergraph.backbones.dropout import Dropout
from evergraph.backbones.input_product import InputProduct
from evergraph.backbones.layers import Head, InputLinear, glorot
from evergraph.backbones.message import MessageGraph, ModelInput, NodeFeatures
from evergraph.backbones.narrow_product import narrow_product
from evergraph.backbones.size import FLOAT, GraphSize
from evergraph.config import Settings


class GATConfig(Settings):
    """Sizes of a GAT."""

    hidden: int = Field(256, ge=1, le=65_536)
    """Total width of the heads of the first layer; a multiple of heads."""
    heads: int = Field(8, ge=1)
    """Attention heads of the first layer."""
    dropout: float = Field(0.6, ge=0, lt=1)
    """Share of inputs and attention coefficients that is left out in each training step."""
    slope: float = Field(0.2, ge=0)
    """Of the LeakyReLU in the attention coefficients, below 0."""

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "GATConfig":
        if self.hidden % self.heads:
            raise ValueError(f"hidden must be a multiple of heads, got {self.hidden} and {self.heads} instead")
        return self


class GAT(Backbone):
    """Each node averages its neighbours' W h_j with weights softmax_j LeakyReLU(a_to·W h_i + a_from·W h_j).

    First layer: `heads` heads side by side and an ELU; second layer: one head with an output for each class.
    Dropout falls on the features, on the hidden layer and on the attention weights.
    """

    head: "AttentionHead"
    by_steps = True

    def __init__(self, n_features: int, config: GATConfig, generator: torch.Generator):
        super().__init__()
        self.heads, self.slope = config.heads, config.slope
        self.width = config.hidden // config.heads
        self.first = InputLinear(n_features, config.hidden, generator)
        self.attend_to = nn.Parameter(glorot(config.heads, self.width, generator))
        self.attend_from = nn.Parameter(glorot(config.heads, self.width, generator))
        self.head = AttentionHead(config.hidden)
        self.dropout = Dropout(config.dropout)

    def input_product(self, x: NodeFeatures) -> InputProduct:
        """The matrix below the first weight."""
        return x.restricted()

    def hidden(self, x: NodeFeatures, graph: MessageGraph, *, dropped: bool = False) -> Tensor:
        """The first layer's output on the nodes of frontier[1], after dropout if `dropped`."""
        z = self.first.multiply(self.input_product(x).dropped(self.dropout))
        averages = self._averages(z, graph)
        mask = self.dropout.mask(averages.shape, averages.device) if dropped else None
        return elu_dropped(averages, self.first.bias, mask)

    def _averages(self, z: Tensor, graph: MessageGraph) -> Tensor:
        """What the first layer's nodes receive, from W h (nodes, heads * width) of the senders."""
        to, sent = (side.t().contiguous() for side in self.sides(z, graph))
        mask = self.dropout.mask((self.heads, graph.pattern(1).n_entries), z.device)
        by_head = z.view(-1, self.heads, self.width).transpose(0, 1).contiguous()
        return attended(graph.pattern(1), to, sent, by_head, mask, self.slope).flatten(1)

    def sides(self, z: Tensor, graph: MessageGraph) -> tuple[Tensor, Tensor]:
        """The terms of each raw weight from the receiver's and from the sender's W h: (nodes, heads) each."""
        both = torch.cat([_by_head(self.attend_to), _by_head(self.attend_from)], dim=1)
        to, sent = (z @ both).chunk(2, dim=1)
        return to.index_select(0, graph.own(1)), sent

    def attention(self, z: Tensor, graph: MessageGraph) -> Tensor:
        """The first layer's weights, from W h (nodes, heads * width): (entries, heads)."""
        return attention(graph.pattern(1), *self.sides(z, graph), self.slope)

    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """The attended hidden layer: (rows, hidden)."""
        hidden = self.hidden(x, graph, dropped=True)
        z = narrow_product(hidden, self.head.weight)
        return self.head.attended(z, hidden, graph, self.slope, self.dropout)

    def forward(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """(rows, classes)."""
        z = narrow_product(self.hidden(x, graph, dropped=True), self.head.weight)
        return self.head.attended(z, z, graph, self.slope, self.dropout) + self.head.bias

    def in_blocks(self, blocks: Blocks, *, head: bool) -> Tensor:
        def first(z: Tensor, graph: MessageGraph) -> Tensor:
            hidden = elu_dropped(self._averages(z, graph), self.first.bias, None)
            return narrow_product(hidden, self.head.weight) if head else hidden

        def last(below: Tensor, graph: MessageGraph) -> Tensor:
            if head:
                return self.head.attended(below, below, graph, self.slope, self.dropout) + self.head.bias
            z = narrow_product(below, self.head.weight)
            return self.head.attended(z, below, graph, self.slope, self.dropout)

        return blocks.last_step(blocks.first_step(blocks.inputs(self.first.multiply), first), last)

    def hidden_layer(self, inputs: ModelInput) -> Tensor:
        return self.hidden(*inputs)[inputs.graph.own(2)]

    def step_bytes(self, size: GraphSize, classes: int) -> int:
        """For each message four numbers a head and their draws; ten hidden layers; the features with dropout."""
        of_messages = size.messages * 5 * (self.heads + 1)
        of_nodes = size.nodes * (10 * self.head.weight.shape[0] + 6 * classes)
        return size.message_bytes + 3 * size.features_bytes() + FLOAT * (of_messages + of_nodes)

    def attention_weights(self, inputs: ModelInput) -> list[Tensor]:
        x, graph = inputs
        first = self.first.multiply(self.input_product(x))
        second = self.hidden(x, graph) @ self.head.weight
        return [self.attention(first, graph), self.head.attention(second, graph, self.slope)]


class AttentionHead(Head):
    """An output layer with attention; a new class does not change the attention until it is trained."""

    def __init__(self, inputs: int):
        super().__init__(inputs)
        self.attend_to = nn.Parameter(torch.empty(0, 1))
        self.attend_from = nn.Parameter(torch.empty(0, 1))

    def grow(self, count: int, generator: torch.Generator) -> None:
        super().grow(count, generator)
        for name in ("attend_to", "attend_from"):
            old: Tensor = getattr(self, name).detach()
            setattr(self, name, nn.Parameter(torch.cat([old, old.new_zeros(count, 1)])))

    def attention(self, z: Tensor, graph: MessageGraph, slope: float) -> Tensor:
        """One weight for each entry of the last step."""
        return attention(graph.pattern(graph.depth), *self.sides(z, graph), slope).squeeze(1)

    def attended(self, z: Tensor, dense: Tensor, graph: MessageGraph, slope: float, dropout: Dropout) -> Tensor:
        """`dense` averaged with these weights, after dropout on the weights."""
        to, sent = (side.t().contiguous() for side in self.sides(z, graph))
        last = graph.pattern(graph.depth)
        mask = dropout.mask((1, last.n_entries), z.device)
        return attended(last, to, sent, dense[None], mask, slope).squeeze(1)

    def sides(self, z: Tensor, graph: MessageGraph) -> tuple[Tensor, Tensor]:
        """The terms of each raw weight from the receiver's and from the sender's z: (nodes, 1) each."""
        return (z @ self.attend_to).index_select(0, graph.own(graph.depth)), z @ self.attend_from


def _by_head(vectors: Tensor) -> Tensor:
    """The vectors of the heads as a block-diagonal matrix of columns: (heads * width, heads)."""
    return torch.block_diag(*vectors.unsqueeze(2).unbind())  # type: ignore[no-untyped-call,no-any-return]


ENTRY = BackboneEntry(
    "two attention layers, 8 heads of 32, dropout 0.6", "Veličković et al., ICLR 2018", GATConfig, GAT
)
