"""Exact outputs for some nodes of a graph, one step of message passing and one block of nodes at a time.

Only the layer below and what a block needs are in memory. The blocks depend on the graph alone, not on a budget, so
the bits do not depend on it either.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evergraph.backbones.input_product import InputProduct, as_input
from evergraph.backbones.message import ModelInput
from evergraph.backbones.sampling import Links, LocalGraph, local_input
from evergraph.data.on_disk import scratch_array
from evergraph.errors import DataError

StepLayer: TypeAlias = Callable[[Tensor, LocalGraph], Tensor]
"""From the values of the senders of a step of one block to those of its receivers."""
BLOCK_FLOATS = 16 << 20
"""Numbers that a block of nodes gathers from its neighbours, at most, beside those of its first node."""
HEARD_TWICE = 4
"""How often a node is heard within two steps to one block, as a guess; each is gathered once."""


class Blocks:
    """The nodes `rows` of a graph, whose outputs are wanted, and the nodes that they hear."""

    def __init__(self, links: Links, rows: NDArray[np.int64], device: torch.device):
        self.links = links
        self.rows = rows
        self.device = device

    @cached_property
    def heard(self) -> NDArray[np.int64]:
        """The nodes whose messages the last step needs, ascending."""
        found = np.zeros(self.links.graph.n_nodes, dtype=bool)
        for block in cut(self.rows, self.links.degrees[self.rows] + 1.0):
            found[self.links.messages(block).senders] = True
        return np.flatnonzero(found)

    def inputs(self, layer: Callable[[InputProduct], Tensor]) -> Tensor:
        """A layer that sees the features of one node at a time, of all nodes of the graph: (nodes, width)."""
        features = self.links.graph.features
        if features is None:
            raise DataError(f"{self.links.graph.name} has no features, and a backbone needs some")
        nodes = np.arange(features.shape[0])
        parts = cut(nodes, np.full(len(nodes), _numbers_of_a_node(self.links)))
        return _together((layer(as_input(features[part], self.device)) for part in parts), len(nodes))

    def first_step(self, below: Tensor, layer: StepLayer) -> Tensor:
        """A layer on `below`, the values of all nodes, of the nodes in `heard`: (heard, width)."""
        return self._step(self.heard, np.arange(len(below)), below, layer)

    def last_step(self, below: Tensor, layer: StepLayer) -> Tensor:
        """A layer on `below`, the values of the nodes in `heard`, of `rows`: (rows, width)."""
        return self._step(self.rows, self.heard, below, layer).to(self.device)

    def _step(
        self, receivers: NDArray[np.int64], senders: NDArray[np.int64], below: Tensor, layer: StepLayer
    ) -> Tensor:
        def of(block: NDArray[np.int64]) -> Tensor:
            graph = LocalGraph(self.links, block, self.device, (None,))
            at = torch.as_tensor(np.searchsorted(senders, graph.nodes), device=below.device)
            return layer(below[at].to(self.device), graph)

        blocks = cut(receivers, (self.links.degrees[receivers] + 1.0) * below.shape[1])
        return _together((of(block) for block in blocks), len(receivers))

    def two_steps(self) -> Iterator[tuple[slice, ModelInput]]:
        """Blocks of `rows` with all that both steps need: for what is computed of each row by itself."""
        links = self.links
        messages = links.degrees + 1
        reached = messages[self.rows].astype(np.float64)
        for at in cut(np.arange(len(self.rows)), reached):
            step = links.messages(self.rows[at])
            reached[at] += np.bincount(step.at, weights=messages[step.senders], minlength=len(at))
        width = _numbers_of_a_node(links) / HEARD_TWICE
        for at in cut(np.arange(len(self.rows)), reached * width):
            inputs = local_input(links, self.rows[at], self.device, (None, None))
            yield slice(int(at[0]), int(at[-1]) + 1), inputs


def _together(parts: Iterator[Tensor], rows: int) -> Tensor:
    """The rows of all parts beside the processor, in a file of the scratch folder where they are many."""
    first = next(parts)
    room = torch.from_numpy(scratch_array((rows, first.shape[1])))
    at = 0
    for part in chain([first], parts):
        room[at : at + len(part)] = part
        at += len(part)
    return room


def _numbers_of_a_node(links: Links) -> float:
    """The numbers that its features have, a few for a message beside them."""
    features = links.graph.features
    if features is None:
        return 8.0
    stored = features.size if isinstance(features, np.ndarray) else 3 * features.nnz
    return 8.0 + float(stored / max(features.shape[0], 1))


def cut(nodes: NDArray[np.int64], costs: NDArray[np.floating[Any]]) -> list[NDArray[np.int64]]:
    """Nodes in consecutive blocks of about BLOCK_FLOATS, from what each costs; at least one block."""
    block = (np.cumsum(costs) // BLOCK_FLOATS).astype(np.int64)
    return np.split(nodes, np.flatnonzero(np.diff(block)) + 1)
