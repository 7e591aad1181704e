"""A GCN as most research code writes it: gather along edges, weigh, scatter-add, in every epoch."""

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
        return torch.zeros_like(h).index_add(0, self.target, h[self.source] * self.weight)


class PlainGCN(nn.Module):
    """logits = Â relu(Â X W1 + b1) W2 + b2, from the parameters of evergraph's GCN."""

    def __init__(self, state: dict[str, Tensor]):
        super().__init__()
        self.w1, self.b1, self.w2, self.b2 = (
            nn.Parameter(state[name].clone()) for name in ("first.weight", "first.bias", "head.weight", "head.bias")
        )

    def forward(self, x: Tensor, edges: Edges) -> Tensor:
        hidden = torch.relu(edges.propagate(x @ self.w1) + self.b1)
        return edges.propagate(hidden @ self.w2) + self.b2

    def grow(self, weight: Tensor, bias: Tensor) -> None:
        """Append outputs for new classes."""
        self.w2 = nn.Parameter(torch.cat([self.w2.detach(), weight], dim=1))
        self.b2 = nn.Parameter(torch.cat([self.b2.detach(), bias]))
