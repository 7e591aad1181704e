"""Propagated features: what the neighbourhood of a node sends it, without any parameter."""

from enum import Enum

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from evergraph.backbones.message import MessageGraph, Norm
from evergraph.data.graph import Features, Graph
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
            total = total + (1 - alpha) / hops * values[np.searchsorted(steps.frontier[step], rows)]
    result = (total if how is Aggregation.SSGC else values).astype(np.float32)
    return result if isinstance(result, np.ndarray) else sparse.csr_array(result)


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
    incoming = sparse.csr_array(graph.adjacency.T) if graph.directed else graph.adjacency
    reach = sparse.csr_array(incoming + sparse.eye_array(graph.n_nodes, dtype=np.float32)).astype(bool)
    sizes = []
    for start in range(0, len(rows), BLOCK):
        reached = reach[rows[start : start + BLOCK]]
        for _ in range(hops - 1):
            reached = sparse.csr_array(reached @ reach)
        sizes.append(np.diff(reached.indptr))
    return np.concatenate(sizes).astype(np.int64)
