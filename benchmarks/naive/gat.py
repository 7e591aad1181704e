"""A GAT as most research code writes it: a weight and a message for each edge and head, gathered and scattered."""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, elu, leaky_relu

from .network import Edges, Network

SHARE, SLOPE = 0.6, 0.2
"""Of dropout, and of the leaky ReLU: evergraph's defaults."""


class PlainGAT(Network):
    """Two attention layers: heads side by side and an ELU, then one head with an output for each class."""

    NAMES: ClassVar = {
        "w1": "first.weight", "b1": "first.bias", "a_to": "attend_to", "a_from": "attend_from",
        "head": "head.weight", "head_bias": "head.bias",
        "head_to": "head.attend_to", "head_from": "head.attend_from",
    }  # fmt: skip
    w1: nn.Parameter
    b1: nn.Parameter
    a_to: nn.Parameter
    a_from: nn.Parameter
    head_to: nn.Parameter
    head_from: nn.Parameter

    def forward(self, x: Tensor, edges: Edges) -> Tensor:
        z = (self._dropped(x) @ self.w1).view(len(x), *self.a_to.shape)
        hidden = self._dropped(elu(self._attended(z, self.a_to, self.a_from, edges).flatten(1) + self.b1))
        z = (hidden @ self.head)[:, None]
        return self._attended(z, self.head_to.t(), self.head_from.t(), edges).flatten(1) + self.head_bias

    def _attended(self, z: Tensor, to: Tensor, sent: Tensor, edges: Edges) -> Tensor:
        """Each node's average of z (nodes, heads, width), with softmax weights."""
        raw = (z * to).sum(dim=2)[edges.target] + (z * sent).sum(dim=2)[edges.source]
        weights = self._dropped(softmax(leaky_relu(raw, SLOPE), edges.target, len(z)))
        return torch.zeros_like(z).index_add(0, edges.target, z[edges.source] * weights[:, :, None])

    def _dropped(self, values: Tensor) -> Tensor:
        return dropout(values, SHARE, self.training)

    def grow(self, weight: Tensor, bias: Tensor) -> None:
        super().grow(weight, bias)
        new = torch.zeros(len(bias), 1)
        self.head_to, self.head_from = (
            nn.Parameter(torch.cat([old.detach(), new])) for old in (self.head_to, self.head_from)
        )


def softmax(raw: Tensor, target: Tensor, n_nodes: int) -> Tensor:
    """softmax of the values of edges (edges, heads) over those with the same target."""
    at = target[:, None].expand_as(raw)
    highest = torch.full((n_nodes, raw.shape[1]), -torch.inf).scatter_reduce(0, at, raw.detach(), "amax")
    e = torch.exp(raw - highest[target])
    return e / torch.zeros_like(highest).index_add(0, target, e)[target]
