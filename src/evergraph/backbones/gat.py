"""GAT: two graph attention layers (Veličković et al., 2018)."""

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn.functional import elu, leaky_relu

from evergraph.backbones.layers import Dropout, Head, InputLinear, glorot
from evergraph.backbones.message import InputProduct, MessageGraph, NodeFeatures
from evergraph.backbones.products import Pattern, weighted_product
from evergraph.config import Settings


class GATConfig(Settings):
    """Sizes of a GAT; `hidden` is shared out over the heads of the first layer."""

    hidden: int = Field(256, ge=1, le=65_536)
    heads: int = Field(8, ge=1)
    dropout: float = Field(0.6, ge=0, lt=1)
    slope: float = Field(0.2, ge=0)

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "GATConfig":
        if self.hidden % self.heads:
            raise ValueError(f"hidden must be a multiple of heads, got {self.hidden} and {self.heads} instead")
        return self


class GAT(nn.Module):
    """Each node averages its neighbours' W h_j with weights softmax_j LeakyReLU(a_to·W h_i + a_from·W h_j).

    First layer: `heads` heads side by side and an ELU; second layer: one head with an output for each class.
    Dropout falls on the features, on the hidden layer and on the attention weights.
    """

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
        """What the first weight is multiplied with."""
        return x.restricted()

    def hidden(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """The first layer's output on the nodes of frontier[1]."""
        z = self.first.multiply(self.input_product(x).dropped(self.dropout))
        by_head = z.view(-1, self.heads, self.width)
        weights = self.dropout(self.attention(by_head, graph))
        apart = zip(weights.t().contiguous().unbind(), by_head.transpose(0, 1).contiguous().unbind(), strict=True)
        parts = [weighted_product(graph.pattern(1), of_head, sent) for of_head, sent in apart]
        return elu(torch.cat(parts, dim=1) + self.first.bias)

    def attention(self, by_head: Tensor, graph: MessageGraph) -> Tensor:
        """The first layer's weights, from W h (nodes, heads, width): (entries, heads)."""
        to = (by_head.index_select(0, graph.own(1)) * self.attend_to).sum(dim=2)
        sent = (by_head * self.attend_from).sum(dim=2)
        return attention(graph.pattern(1), to, sent, self.slope)

    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """What the output layer sees: the attended hidden layer, (rows, hidden)."""
        hidden = self.dropout(self.hidden(x, graph))
        weights = self.head.attention(hidden @ self.head.weight, graph, self.slope)
        return weighted_product(graph.pattern(2), self.dropout(weights), hidden)

    def forward(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """(rows, classes)."""
        z = self.dropout(self.hidden(x, graph)) @ self.head.weight
        weights = self.dropout(self.head.attention(z, graph, self.slope))
        return weighted_product(graph.pattern(2), weights, z) + self.head.bias


class AttentionHead(Head):
    """An output layer with attention; a class that arrives leaves the attention as it was until it is trained."""

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
        """One weight for each entry of the second step."""
        to, sent = (z @ self.attend_to).index_select(0, graph.own(2)), z @ self.attend_from
        return attention(graph.pattern(2), to, sent, slope).squeeze(1)


def attention(pattern: Pattern, to: Tensor, sent: Tensor, slope: float) -> Tensor:
    """softmax over each row of LeakyReLU(to_i + sent_j): (entries, heads)."""
    return row_softmax(pattern, leaky_relu(pattern.of_row(to) + pattern.of_column(sent), slope))


def row_softmax(pattern: Pattern, raw: Tensor) -> Tensor:
    """softmax of entry values over each row: (entries, k)."""
    shifted = torch.exp(raw - pattern.of_row(pattern.row_max(raw)))
    return shifted / pattern.of_row(pattern.row_sum(shifted))
