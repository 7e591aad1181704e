"""A GCN as most research code writes it: gather along edges, weigh, scatter-add, in every epoch."""

from typing import ClassVar

import torch
from torch import Tensor, nn

from .network import Edges, Network


class PlainGCN(Network):
    """logits = Â relu(Â X W1 + b1) W2 + b2."""

    NAMES: ClassVar = {
        "w1": "first.weight", "b1": "first.bias", "head": "head.weight", "head_bias": "head.bias"
    }  # fmt: skip
    w1: nn.Parameter
    b1: nn.Parameter

    def forward(self, x: Tensor, edges: Edges) -> Tensor:
        hidden = torch.relu(edges.propagate(x @ self.w1) + self.b1)
        return edges.propagate(hidden @ self.head) + self.head_bias
