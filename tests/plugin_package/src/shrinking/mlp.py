"""A perceptron that sees the features and no edge."""

import torch
from pydantic import Field
from torch import Tensor

from evergraph import Backbone, BackboneEntry, Settings
from evergraph.backbones import MessageGraph, NodeFeatures
from evergraph.backbones.layers import Head, Linear


class MLPConfig(Settings):
    """hidden: units of the one layer."""

    hidden: int = Field(16, ge=1)


class MLP(Backbone):
    def __init__(self, n_features: int, config: MLPConfig, generator: torch.Generator):
        super().__init__()
        self.inner = Linear(n_features, config.hidden, generator)
        self.head = Head(config.hidden)

    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        features = x.tensor()
        dense = features.to_dense() if features.layout is not torch.strided else features
        return torch.relu(self.inner(dense[torch.as_tensor(graph.rows)]))


MLP_ENTRY = BackboneEntry("a perceptron without edges", "nobody, 2026", MLPConfig, MLP)
