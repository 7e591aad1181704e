"""A GIN as most research code writes it: the sum over neighbours of whole features, in every epoch."""

from typing import ClassVar

import torch
from torch import Tensor, nn

from .network import Edges, Network


class PlainGIN(Network):
    """h' = relu(relu((A + I) h W + b) W' + b'), then relu((A + I) h' W'' + b'') and a linear map to the classes."""

    NAMES: ClassVar = {
        "w1": "first.weight", "b1": "first.bias", "w2": "second.weight", "b2": "second.bias",
        "w3": "third.weight", "b3": "third.bias", "head": "head.weight", "head_bias": "head.bias",
    }  # fmt: skip
    w1: nn.Parameter
    b1: nn.Parameter
    w2: nn.Parameter
    b2: nn.Parameter
    w3: nn.Parameter
    b3: nn.Parameter

    def forward(self, x: Tensor, edges: Edges) -> Tensor:
        inner = torch.relu(edges.add_up(x) @ self.w1 + self.b1)
        hidden = torch.relu(inner @ self.w2 + self.b2)
        return torch.relu(edges.add_up(hidden) @ self.w3 + self.b3) @ self.head + self.head_bias
