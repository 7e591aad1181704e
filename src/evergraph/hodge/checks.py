"""Checks of the arguments of this package's functions."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from evergraph.errors import DataError

Vector: TypeAlias = NDArray[np.float64]


def as_square(matrix: csr_array, name: str = "the adjacency") -> csr_array:
    """Return a copy in canonical form: float64, sorted indices, no duplicates, no stored zeros; (n, n)."""
    if not issparse(matrix):
        raise DataError(
            f"{name} has to be a scipy.sparse csr_array, got {type(matrix).__name__} instead; "
            "convert it with scipy.sparse.csr_array"
        )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise DataError(
            f"{name} has to be square, got shape {matrix.shape} instead; give one row and column per node"
        )
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"{name} has to hold real numbers, got dtype {matrix.dtype} instead; convert it to float64")
    square = csr_array(matrix.astype(np.float64).tocsr())
    square.sum_duplicates()
    if not square.data.all():
        square.eliminate_zeros()
    if not np.isfinite(square.data).all():
        raise DataError(
            f"{name} has to hold finite numbers, got NaN or infinity instead; remove or replace these entries"
        )
    return square


def as_graph(adjacency: csr_array) -> csr_array:
    """Return a canonical copy of a weighted, possibly directed adjacency; weights >= 0, no self-loops."""
    graph = as_square(adjacency)
    if graph.data.min(initial=0.0) < 0.0:
        raise DataError(
            f"edge weights have to be non-negative, got {graph.data.min()} instead; "
            "keep signs in an edge flow, not in the adjacency"
        )
    loops = np.count_nonzero(graph.diagonal())
    if loops:
        raise DataError(
            f"the graph has to be free of self-loops, got {loops} instead; clear the diagonal with setdiag(0)"
        )
    return graph


def as_undirected(adjacency: csr_array) -> csr_array:
    """Return a canonical copy of a weighted undirected adjacency: A = Aᵀ >= 0 with a zero diagonal."""
    graph = as_graph(adjacency)
    if not is_symmetric(graph):
        raise DataError(
            "the adjacency of an undirected graph has to be symmetric, got an asymmetric one instead; "
            "pass directed=True where the function takes it, or make it undirected with underlying_graph"
        )
    return graph


def is_symmetric(matrix: csr_array) -> bool:
    """Whether a canonical matrix equals its transposed."""
    values = matrix.data
    if np.all(values == values[:1]):
        values = np.ones(len(values), dtype=np.int8)  # only the pattern counts, and bytes are moved faster
    mirrored = csr_array(
        (values, matrix.indices, matrix.indptr), shape=matrix.shape
    ).T.tocsr()  # in order of columns
    return (
        np.array_equal(matrix.indptr, mirrored.indptr)
        and np.array_equal(matrix.indices, mirrored.indices)
        and np.array_equal(values, mirrored.data)
    )


def as_vector(values: ArrayLike, length: int, name: str) -> Vector:
    """Return finite float64 values of shape (length,)."""
    vector = np.asarray(values)
    if vector.dtype.kind not in "biuf" or vector.shape != (length,):
        raise DataError(
            f"{name} has to be {length} real numbers, got shape {vector.shape} and dtype {vector.dtype} "
            "instead; give exactly one number for each"
        )
    if not np.isfinite(vector).all():
        raise DataError(f"{name} has to be finite, got NaN or infinity instead; remove or replace these values")
    return vector.astype(np.float64)


def as_node_weights(weights: ArrayLike | None, n_nodes: int) -> Vector:
    """Return positive float64 node weights of shape (n,); None stands for ones."""
    if weights is None:
        return np.ones(n_nodes)
    vector = as_vector(weights, n_nodes, "node_weights")
    if vector.min(initial=1.0) <= 0.0:
        raise DataError(
            f"node_weights have to be positive, got {vector.min()} instead; drop the nodes that do not count"
        )
    return vector
