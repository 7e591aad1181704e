"""Backbones: a network below a head that grows, and its entry in the table."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from evergraph.backbones.blocks import Blocks
from evergraph.backbones.layers import Head
from evergraph.backbones.message import MessageGraph, ModelInput, NodeFeatures, everywhere
from evergraph.backbones.size import FLOAT, GraphSize
from evergraph.config import Settings


class Backbone(nn.Module, ABC):
    """A network whose last layer is `head`; a subclass must define `embed`, the other methods have defaults."""

    head: Head
    by_steps = False
    """Whether the graph is read through the two steps of a MessageGraph alone; then `in_blocks` must be defined."""

    @abstractmethod
    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """The input of the head for graph.rows: (rows, width)."""

    def forward(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """The logits of graph.rows: (rows, classes)."""
        logits: Tensor = self.head(self.embed(x, graph))
        return logits

    def hidden_layer(self, inputs: ModelInput) -> Tensor:
        """The first layer's output on graph.rows, by default the input of the head: (rows, width)."""
        return self.embed(*inputs)

    def linear_maps(self, inputs: ModelInput) -> list[Tensor]:
        """W h of the senders of the last steps of message passing, before neighbours are added, in order of steps.

        By default there is one: the head's.
        """
        every = self.embed(*everywhere(inputs))
        return [every[inputs.graph.frontier[-2]] @ self.head.weight]

    def step_bytes(self, size: GraphSize, classes: int) -> int:
        """About the memory of one training step on all nodes of a graph: messages, features, activations.

        The parameters and the optimiser are not in it.
        """
        width = self.head.weight.shape[0]
        floats = size.nodes * (8 * width + 4 * classes)
        return size.message_bytes + size.propagated_bytes() + FLOAT * floats

    def in_blocks(self, blocks: Blocks, *, head: bool) -> Tensor:
        """The logits of the rows of `blocks`, or without the head what it sees of them, one block at a time."""
        raise NotImplementedError

    def attention_weights(self, inputs: ModelInput) -> list[Tensor] | None:
        """The attention coefficients of each layer, (entries, heads) each; None for a network without attention."""
        return None


class CustomBackbone(Backbone):
    """A custom module, whose output is the representation of each node, below a head that grows.

    module(x, graph) gets the features of all nodes (a dense or a sparse CSR tensor) and the MessageGraph with its
    `edge_index` and `operator`, and returns (nodes, width).
    """

    def __init__(self, module: nn.Module, width: int):
        super().__init__()
        self.module = module
        self.head = Head(width)

    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        every: Tensor = self.module(x.tensor(), graph)
        return every[graph.rows]


@dataclass(frozen=True)
class BackboneEntry:
    """A backbone's entry in the table."""

    summary: str
    """One line on what it is."""
    paper: str
    """Where it was published."""
    config: type[Settings]
    """Its settings."""
    build: Callable[[int, Any, torch.Generator], Backbone]
    """build(n_features, settings, generator) makes an untrained one."""
