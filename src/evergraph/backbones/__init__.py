"""The table of backbones; each is one file with a module and its settings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from evergraph.backbones.custom import CustomBackbone
from evergraph.backbones.gat import GAT, GATConfig
from evergraph.backbones.gcn import GCN, GCNConfig
from evergraph.backbones.gin import GIN, GINConfig
from evergraph.backbones.layers import Head
from evergraph.backbones.message import MessageGraph, ModelInput, NodeFeatures, Norm, model_input
from evergraph.config import Settings
from evergraph.registry import Registry

__all__ = [
    "BACKBONES",
    "Backbone",
    "BackboneEntry",
    "CustomBackbone",
    "MessageGraph",
    "ModelInput",
    "NodeFeatures",
    "Norm",
    "model_input",
]


class Backbone(Protocol):
    """What a method needs of a backbone, besides being a torch module."""

    head: Head

    def __call__(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """Logits of graph.rows: (rows, classes)."""
        ...

    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """What the output layer sees, for graph.rows: (rows, width)."""
        ...


@dataclass(frozen=True)
class BackboneEntry:
    """A name's module: build(n_features, settings, generator)."""

    summary: str
    paper: str
    config: type[Settings]
    build: Callable[[int, Any, torch.Generator], nn.Module]


BACKBONES: Registry[BackboneEntry] = Registry(
    "backbone",
    {
        "gcn": BackboneEntry(
            "two graph convolutions, symmetric normalisation (or norm=sum, bias=false)",
            "Kipf and Welling, ICLR 2017",
            GCNConfig,
            GCN,
        ),
        "gat": BackboneEntry(
            "two attention layers, 8 heads of 32, dropout 0.6", "Veličković et al., ICLR 2018", GATConfig, GAT
        ),
        "gin": BackboneEntry("two sum-aggregating layers with perceptrons", "Xu et al., ICLR 2019", GINConfig, GIN),
    },
)
