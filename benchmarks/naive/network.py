"""What the naive networks share: edges as lists, and parameters that begin as those of evergraph."""

from typing import ClassVar

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor, nn


class Edges:
    """Source, target and weight of every edge, self-loops among them: Â = D^-1/2 (A + I) D^-1/2."""

    def __init__(self, adjacency: csr_array):
        n_nodes = adjacency.shape[0]
        loops = np.arange(n_nodes)
        rows = np.repeat(loops, np.diff(adjacency.indptr))
        self.source = torch.as_tensor(np.concatenate([adjacency.indices, loops]).astype(np.int64))
        self.target = torch.as_tensor(np.concatenate([rows, loops]).astype(np.int64))
        degree = torch.bincount(self.target, minlength=n_nodes).float()
        self.weight = (degree[self.source] * degree[self.target]).rsqrt()[:, None]

    def propagate(self, h: Tensor) -> Tensor:
        """The weighted sum of each node's neighbours and itself."""
        return torch.zeros_like(h).index_add(0, self.target, h[self.source] * self.weight)

    def add_up(self, h: Tensor) -> Tensor:
        """The sum of each node's neighbours and itself."""
        return torch.zeros_like(h).index_add(0, self.target, h[self.source])


class Network(nn.Module):
    """NAMES: evergraph's name of each parameter. `head` and `head_bias` get columns for new classes."""

    NAMES: ClassVar[dict[str, str]]
    head: nn.Parameter
    head_bias: nn.Parameter

    def __init__(self, state: dict[str, Tensor]):
        super().__init__()
        for own, name in self.NAMES.items():
            setattr(self, own, nn.Parameter(state[name].clone()))

    def grow(self, weight: Tensor, bias: Tensor) -> None:
        """Append outputs for new classes."""
        self.head = nn.Parameter(torch.cat([self.head.detach(), weight], dim=1))
        self.head_bias = nn.Parameter(torch.cat([self.head_bias.detach(), bias]))

    def named(self) -> dict[str, Tensor]:
        """The parameters by evergraph's names."""
        return {name: getattr(self, own).detach().clone() for own, name in self.NAMES.items()}
