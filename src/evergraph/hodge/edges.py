"""Edge flows: one number for each undirected edge i < j, edges in row-major order of the upper triangle."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from evergraph.errors import DataError
from evergraph.hodge.checks import Vector, as_square, as_undirected, as_vector


@dataclass(frozen=True, eq=False)
class EdgeList:
    """The m undirected edges (tail, head) with tail < head, sorted by tail and then head; arrays (m,).

    A flow X has the value X(tail, head) on each of them, and X(head, tail) = -X(tail, head).
    """

    n_nodes: int
    """Nodes of the graph."""
    tail: NDArray[np.int64]
    """The smaller end."""
    head: NDArray[np.int64]
    """The larger end."""
    weight: Vector
    """Of each edge."""

    def __len__(self) -> int:
        return len(self.tail)

    def find(self, tail: NDArray[np.int64], head: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position of each edge (tail, head), tail < head, or -1 where there is none."""
        if not len(self):
            return np.full(len(tail), -1, dtype=np.int64)
        keys = self.tail * self.n_nodes + self.head
        wanted = tail * self.n_nodes + head
        position = np.minimum(np.searchsorted(keys, wanted), len(self) - 1).astype(np.int64)
        position[keys[position] != wanted] = -1
        return position


def edge_list(adjacency: csr_array) -> EdgeList:
    """Return the edges of an undirected adjacency (n, n) in the order every edge flow here uses."""
    return edges_of(as_undirected(adjacency))


def edges_of(graph: csr_array) -> EdgeList:
    """Return the edges of an adjacency that has been checked already."""
    tail = np.repeat(np.arange(graph.shape[0], dtype=np.int64), np.diff(graph.indptr))
    head = graph.indices.astype(np.int64)
    upper = tail < head
    return EdgeList(graph.shape[0], tail[upper], head[upper], graph.data[upper])


def flow_to_matrix(adjacency: csr_array, flow: ArrayLike) -> csr_array:
    """Return the antisymmetric matrix X (n, n) of an edge flow (m,): X_ij = flow_ij = -X_ji for i < j."""
    edges = edge_list(adjacency)
    values = as_vector(flow, len(edges), "the edge flow")
    rows = np.concatenate([edges.tail, edges.head])
    columns = np.concatenate([edges.head, edges.tail])
    shape = (edges.n_nodes, edges.n_nodes)
    return csr_array((np.concatenate([values, -values]), (rows, columns)), shape=shape)


def flow_from_matrix(adjacency: csr_array, matrix: csr_array) -> Vector:
    """Return the edge flow (m,) of an antisymmetric matrix (n, n) that is zero off the graph's edges."""
    edges = edge_list(adjacency)
    flow = as_square(matrix, "the flow matrix")
    if flow.shape[0] != edges.n_nodes:
        raise DataError(
            f"the flow matrix has to have {edges.n_nodes} rows, got {flow.shape[0]} instead; "
            "give one row and column per node of the graph"
        )
    if np.any((flow + flow.T).data):
        raise DataError(
            "the flow matrix has to be antisymmetric, got X != -X.T instead; use (X - X.T) / 2 if that is meant"
        )
    entries = edges_of(flow)
    position = edges.find(entries.tail, entries.head)
    if np.any(position < 0):
        raise DataError(
            f"the flow matrix has to be zero off the edges, got {np.count_nonzero(position < 0)} flows "
            "without an edge instead; add these edges to the adjacency"
        )
    values = np.zeros(len(edges))
    values[position] = entries.weight
    return values
