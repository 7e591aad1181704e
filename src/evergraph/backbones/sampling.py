"""Message passing to some nodes of a graph as a small graph of its own: from all neighbours, or a sample of them.

A sample of k of a node's d neighbours is drawn uniformly without replacement, and the weights of its messages are
multiplied by d / k (Horvitz and Thompson, 1952). So the sum that a node receives is an unbiased estimate of the
whole sum, for every norm: the degrees in a norm are those of the whole graph. A node always hears itself, with its
own weight. Attention is a softmax over the neighbours in the sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from evergraph.backbones.message import MessageGraph, ModelInput, NodeFeatures, Norm
from evergraph.data.graph import Features, Graph, row_entries
from evergraph.errors import DataError


@dataclass(frozen=True)
class Messages:
    """The messages of one step: from the node `senders[m]` to the receiver at `at[m]`, with a weight."""

    receivers: NDArray[np.int64]
    at: NDArray[np.int64]
    senders: NDArray[np.int64]
    weights: NDArray[np.float32]


class Links:
    """Who sends to whom in a graph, for steps to any of its nodes; an undirected graph is not copied."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.incoming = sparse.csr_array(graph.adjacency.T) if graph.directed else graph.adjacency

    @cached_property
    def scales(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """(1 + what a node receives)^-1/2 and (1 + what it sends)^-1/2, of every node."""
        if not self.graph.directed and self.incoming.data.strides == (0,):  # one number for all edges of a map
            sums = [self.degrees.astype(np.float32) * self.incoming.data[:1].sum()] * 2
        else:
            sums = [np.asarray(self.incoming.sum(axis=axis), dtype=np.float32) for axis in (1, 0)]
        received, sent = ((1 + total) ** -0.5 for total in sums)
        return received, sent

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """How many nodes each node hears, without itself."""
        degrees: NDArray[np.int64] = np.diff(self.incoming.indptr).astype(np.int64)
        return degrees

    def messages(
        self, receivers: NDArray[np.int64], fanout: int | None = None, rng: np.random.Generator | None = None
    ) -> Messages:
        """What the receivers hear: all neighbours, or at most `fanout` that `rng` draws; and themselves."""
        counts = self.degrees[receivers]
        if fanout is None:
            entries, kept = row_entries(self.incoming, receivers)
        elif rng is None:
            raise ValueError("a generator is wanted where neighbours are drawn, got none instead")
        else:
            entries, kept = self._drawn(receivers, counts, fanout, rng)
        at = np.repeat(np.arange(len(receivers)), kept)
        weights = self.incoming.data[entries] * (counts / np.maximum(kept, 1)).astype(np.float32)[at]
        return Messages(
            receivers,
            np.concatenate([at, np.arange(len(receivers))]),
            np.concatenate([self.incoming.indices[entries].astype(np.int64), receivers]),
            np.concatenate([weights, np.ones(len(receivers), dtype=np.float32)]),
        )

    def _drawn(
        self, receivers: NDArray[np.int64], counts: NDArray[np.int64], fanout: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The entries of at most `fanout` neighbours of each receiver, and their number."""
        kept = np.minimum(counts, fanout)
        starts = self.incoming.indptr[receivers].astype(np.int64)
        ends = np.cumsum(kept)
        within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - kept, kept)
        many = counts > fanout
        within[np.repeat(many, kept)] = draw_without_replacement(counts[many], fanout, rng).ravel()
        return np.repeat(starts, kept) + within, kept


def draw_without_replacement(counts: NDArray[np.int64], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """`size` different numbers below each of `counts`, every subset equally likely: (counts, size).

    Floyd's algorithm (Bentley and Floyd, 1987), all rows at a time: the work does not depend on the counts.
    """
    chosen = np.empty((len(counts), size), dtype=np.int64)
    for at in range(size):
        last = counts - size + at
        drawn = (rng.random(len(counts)) * (last + 1)).astype(np.int64)
        taken = (chosen[:, :at] == drawn[:, None]).any(axis=1)
        chosen[:, at] = np.where(taken, last, drawn)
    return chosen


class LocalGraph(MessageGraph):
    """The messages that lead to some nodes of a graph in len(fanout) steps, as a graph of its own.

    nodes: the nodes of the whole graph that are in it, ascending; all other positions are among these. fanout: how
    many neighbours these nodes hear, then how many those hear, and so on; None for all.
    """

    def __init__(
        self,
        links: Links,
        rows: NDArray[np.int64],
        device: torch.device,
        fanout: Sequence[int | None],
        rng: np.random.Generator | None = None,
    ):
        self.links = links
        self._begin(device, depth=len(fanout))
        heard, messages = [rows], list[Messages]()
        for size in fanout:
            messages.insert(0, links.messages(heard[0], size, rng))
            heard.insert(0, np.unique(messages[0].senders))
        self.nodes = heard[0]
        self.n_nodes = len(self.nodes)
        self.frontier = [np.searchsorted(self.nodes, nodes) for nodes in heard]
        self.rows = self.frontier[-1]
        self._steps = [_matrix(step, senders) for step, senders in zip(messages, heard[:-1], strict=True)]

    def step_matrix(self, norm: Norm, step: int) -> sparse.csr_array:
        """The weights of one step, those of sampled messages multiplied by neighbours / sampled neighbours."""
        weights = self._steps[step - 1].copy()
        if norm is Norm.SYMMETRIC:
            received, sent = self.links.scales
            of_row = received[self.nodes[self.frontier[step]]]
            of_column = sent[self.nodes[self.frontier[step - 1]]]
            weights.data *= np.repeat(of_row, np.diff(weights.indptr)) * of_column[weights.indices]
        return weights

    @cached_property
    def _adjacency(self) -> sparse.csr_array:
        """Who hears whom in any step, every node itself too."""
        every = sparse.eye_array(self.n_nodes, dtype=np.float32, format="csr")
        for step, weights in enumerate(self._steps, start=1):
            rows = np.repeat(self.frontier[step], np.diff(weights.indptr))
            columns = self.frontier[step - 1][weights.indices]
            ones = np.ones(len(rows), dtype=np.float32)
            every = every + sparse.csr_array((ones, (rows, columns)), shape=every.shape)
        every.data[:] = 1
        return sparse.csr_array(every)

    @cached_property
    def graph(self) -> Graph:  # type: ignore[override]
        """The nodes with the messages of all steps as directed edges without weights."""
        hears = self._adjacency.tocoo()
        others = hears.row != hears.col
        ends = (hears.col[others], hears.row[others])
        adjacency = sparse.csr_array((hears.data[others], ends), shape=hears.shape)
        whole = self.links.graph
        features = None if whole.features is None else whole.features[self.nodes]
        labels = np.full(self.n_nodes, -1, dtype=np.int64)
        return Graph(adjacency, features, labels, whole.original_ids[self.nodes], directed=True, name=whole.name)


def _matrix(step: Messages, senders: NDArray[np.int64]) -> sparse.csr_array:
    """The weights of a step as a (receivers, senders) matrix, columns in order; a repeated message is summed."""
    places = (step.at, np.searchsorted(senders, step.senders))
    return sparse.csr_array((step.weights, places), shape=(len(step.receivers), len(senders)))


def local_input(
    links: Links,
    rows: NDArray[np.int64],
    device: torch.device,
    fanout: Sequence[int | None],
    rng: np.random.Generator | None = None,
) -> ModelInput:
    """A part of a graph prepared for the outputs of `rows`; the other arguments are those of LocalGraph."""
    features: Features | None = links.graph.features
    if features is None:
        raise DataError(
            f"{links.graph.name} has no features, and a backbone needs some; derive them with --features"
        )
    graph = LocalGraph(links, rows, device, fanout, rng)
    return ModelInput(NodeFeatures(features[graph.nodes], graph), graph)
