"""Propagated features: what the neighbourhood of a node sends it, without any parameter."""

from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from evergraph.backbones.message import MessageGraph, Norm
from evergraph.data.graph import Features, Graph
from evergraph.data.on_disk import (
    DiskAdjacency,
    DiskFeatures,
    DiskSteps,
    Remembered,
    disk_adjacency,
    is_on_disk,
    scratch_array,
)
from evergraph.errors import DataError

CPU = torch.device("cpu")
BLOCK = 512
"""Rows whose neighbourhoods are counted at once."""


class Aggregation(Enum):
    """How the features X of a neighbourhood of L hops are added up, with Â = D^-1/2 (A + I) D^-1/2.

    SGC: Â^L X. SSGC: (1 - α) / L · Σ_{l=1..L} Â^l X + α X. APPNP: H_L of H_0 = X, H_l = (1 - α) Â H_{l-1} + α X.
    A node without neighbours gets its own features from each of them.
    """

    SGC = "sgc"
    SSGC = "ssgc"
    APPNP = "appnp"


def aggregated(
    graph: Graph, rows: NDArray[np.int64], how: Aggregation, hops: int, alpha: float, mapped: Features | None = None
) -> Features:
    """Rows of an aggregation of the graph's features, or of `mapped` in their place; touches what reaches them."""
    features = own_features(graph) if mapped is None else mapped
    steps = MessageGraph(graph, rows, CPU, depth=hops)
    values: Features = features[steps.frontier[0]]
    total = alpha * features[rows]
    for step in range(1, hops + 1):
        values = steps.step_matrix(Norm.SYMMETRIC, step) @ values
        if how is Aggregation.APPNP:
            values = (1 - alpha) * values + alpha * features[steps.frontier[step]]
        elif how is Aggregation.SSGC:
            place = np.searchsorted(steps.frontier[step], rows) if step < hops else np.arange(len(rows))
            total = total + (1 - alpha) / hops * values[place]
    result = (total if how is Aggregation.SSGC else values).astype(np.float32)
    return result if isinstance(result, np.ndarray) else sparse.csr_array(result)


class DiskAggregation:
    """The same aggregation of all nodes of a graph on disk: one pass over it for each hop."""

    def __init__(self, how: Aggregation, hops: int, alpha: float):
        self.how, self.hops, self.alpha = how, hops, alpha
        self._known = Remembered()

    def __call__(
        self, graph: Graph, rows: NDArray[np.int64], projection: NDArray[np.float32] | None
    ) -> NDArray[np.float32]:
        """Rows of the aggregation of the graph's features, mapped by a matrix where one is given."""
        adjacency = disk_adjacency(graph)
        return np.asarray(self._known.of(adjacency, lambda: self._all(adjacency, graph.features, projection))[rows])

    def _all(self, adjacency: DiskAdjacency, features: Any, projection: NDArray[np.float32] | None) -> Any:
        own = features if projection is None else _mapped(features, projection)
        steps, values = DiskSteps(adjacency), own
        if self.how is not Aggregation.SSGC:
            for _ in range(self.hops):
                values = steps.times(values, self._after(own) if self.how is Aggregation.APPNP else None)
            return values
        total = scratch_array(own.shape)
        for part in adjacency.parts:
            total[part] = self.alpha * own[part]
        for _ in range(self.hops):
            values = steps.times(values)
            for part in adjacency.parts:
                total[part] += (1 - self.alpha) / self.hops * values[part]
        return total

    def _after(self, own: Any) -> Callable[[slice, slice, NDArray[np.float32]], NDArray[np.float32]]:
        return lambda part, columns, values: (1 - self.alpha) * values + self.alpha * own[part][:, columns]


def _mapped(features: DiskFeatures, projection: NDArray[np.float32]) -> NDArray[np.float32]:
    found = scratch_array((len(features), projection.shape[1]))
    for part, rows in features.blocks():
        found[part] = rows @ projection
    return found


def propagated(graph: Graph, rows: NDArray[np.int64], hops: int = 2) -> Features:
    """Rows of Â^hops X; only nodes that reach the rows are touched."""
    return aggregated(graph, rows, Aggregation.SGC, hops, 0.0)


def own_features(graph: Graph) -> Features:
    """The features of a graph; DataError where it has none."""
    if graph.features is None:
        raise DataError(f"features are wanted, got {graph.name} without any; derive them with --features")
    return graph.features


def neighbourhood_sizes(graph: Graph, rows: NDArray[np.int64], hops: int) -> NDArray[np.int64]:
    """How many nodes can reach each row in at most `hops` steps, itself included."""
    if is_on_disk(graph):
        return _sizes_on_disk(disk_adjacency(graph), rows, hops)
    incoming = sparse.csr_array(graph.adjacency.T) if graph.directed else graph.adjacency
    reach = sparse.csr_array(incoming + sparse.eye_array(graph.n_nodes, dtype=np.float32)).astype(bool)
    sizes = []
    for start in range(0, len(rows), BLOCK):
        reached = reach[rows[start : start + BLOCK]]
        for _ in range(hops - 1):
            reached = sparse.csr_array(reached @ reach)
        sizes.append(np.diff(reached.indptr))
    return np.concatenate(sizes).astype(np.int64)


def _sizes_on_disk(adjacency: DiskAdjacency, rows: NDArray[np.int64], hops: int) -> NDArray[np.int64]:
    """The same for a graph that is read in blocks: of each block only the rows that its nodes reach."""
    sizes = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        reached = _reach(adjacency, block)
        for _ in range(hops - 1):
            inner = np.unique(reached.indices).astype(np.int64)
            place = sparse.csr_array(reached[:, inner])
            reached = sparse.csr_array(place @ _reach(adjacency, inner))
        sizes.append(np.diff(reached.indptr).astype(np.int64))
    return np.concatenate(sizes)


def _reach(adjacency: DiskAdjacency, rows: NDArray[np.int64]) -> sparse.csr_array:
    """Which nodes send to each of these, itself included."""
    found = adjacency.rows(rows)
    own = sparse.csr_array((np.ones(len(rows), dtype=bool), (np.arange(len(rows)), rows)), shape=found.shape)
    return sparse.csr_array(found.astype(bool) + own)
