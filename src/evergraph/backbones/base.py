"""What a backbone is: a network below a head that grows, and a line in the table."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from evergraph.backbones.layers import Head
from evergraph.backbones.message import MessageGraph, ModelInput, NodeFeatures, everywhere
from evergraph.config import Settings


class Backbone(nn.Module, ABC):
    """A network whose last layer is `head`. `embed` is all that a new one must define.

    The other methods have defaults that hold for any network; a backbone overrides them where it knows better.
    """

    head: Head

    @abstractmethod
    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """What the head sees of graph.rows: (rows, width)."""

    def forward(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        """The logits of graph.rows: (rows, classes)."""
        logits: Tensor = self.head(self.embed(x, graph))
        return logits

    def hidden_layer(self, inputs: ModelInput) -> Tensor:
        """The first layer's output on graph.rows, or what the head sees: (rows, width)."""
        return self.embed(*inputs)

    def linear_maps(self, inputs: ModelInput) -> list[Tensor]:
        """W h of the senders of the last steps of message passing, one tensor for each step, the last step last.

        W h is what a layer's linear map makes of a node before its neighbours are added. By default there is one:
        the head's.
        """
        every = self.embed(*everywhere(inputs))
        return [every[inputs.graph.frontier[-2]] @ self.head.weight]

    def attention_weights(self, inputs: ModelInput) -> list[Tensor] | None:
        """The attention coefficients of each layer, (entries, heads) each; None for a network without attention."""
        return None


@dataclass(frozen=True)
class BackboneEntry:
    """A backbone's line in the table; build(n_features, settings, generator) makes an untrained one."""

    summary: str
    paper: str
    config: type[Settings]
    build: Callable[[int, Any, torch.Generator], Backbone]
