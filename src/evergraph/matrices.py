"""Adjacencies in CSR and features: checked, made from lists of edges, without direction, weights or self-loops."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evergraph.errors import DataError

Features: TypeAlias = NDArray[np.float32] | sparse.csr_array


def csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> sparse.csr_array:
    """A CSR array whose index type is the smallest that holds its size."""
    index_type = np.int32 if max(len(indices), *shape, 1) < np.iinfo(np.int32).max else np.int64
    return sparse.csr_array(
        (data, indices.astype(index_type, copy=False), indptr.astype(index_type, copy=False)), shape=shape
    )


def adjacency_from_edges(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    n_nodes: int,
    weight: NDArray[np.float32] | None = None,
    *,
    merge_duplicates: bool = False,
) -> sparse.csr_array:
    """An adjacency from two columns of node indices; repeated edges raise unless merging was asked for."""
    for end, ids in (("source", source), ("target", target)):
        if len(ids) and (ids.min() < 0 or ids.max() >= n_nodes):
            worst = ids.min() if ids.min() < 0 else ids.max()
            raise DataError(f"every edge {end} must be a node index from 0 to {n_nodes - 1}, got {worst} instead")
    data = np.ones(len(source), dtype=np.float32) if weight is None else weight
    matrix = sparse.csr_array((data, (source, target)), shape=(n_nodes, n_nodes))  # sums duplicates
    repeated = len(source) - matrix.nnz
    if repeated and not merge_duplicates:
        raise DataError(f"every edge must be listed once, got {repeated} repeated edges instead; remove them first")
    if repeated and weight is None:
        matrix.data[:] = 1
    return matrix


def plain_adjacency(
    adjacency: sparse.csr_array, *, directed: bool, weighted: bool, self_loops: bool
) -> sparse.csr_array:
    """The adjacency without what is not wanted; without direction it is max(A, Aᵀ), without weights 0 or 1."""
    if not directed:
        adjacency = sparse.csr_array(adjacency.maximum(adjacency.T))
    if not self_loops and adjacency.diagonal().any():
        adjacency = sparse.csr_array(adjacency - sparse.diags_array(adjacency.diagonal()))
    if not weighted and not all_ones(adjacency.data):
        adjacency = csr(np.ones_like(adjacency.data), adjacency.indices, adjacency.indptr, adjacency.shape)
    return adjacency


def all_ones(weights: NDArray[Any]) -> bool:
    """Whether every weight is 1, without an array of their number: they may be a memory map."""
    block = 1 << 20
    return all(bool(np.all(weights[start : start + block] == 1)) for start in range(0, len(weights), block))


def forbid_repeated(
    ends: tuple[NDArray[np.int64], NDArray[np.int64]],
    where: Callable[[int], str],
    advice: str = "remove them, or merge them (--merge-duplicates, duplicates='merge', merge_duplicates in HTTP)",
) -> None:
    """Raise a DataError where an edge is listed more than once; `where` names the place of an edge."""
    order = np.lexsort((np.arange(len(ends[0])), ends[1], ends[0]))
    same = (np.diff(ends[0][order]) == 0) & (np.diff(ends[1][order]) == 0)
    if same.any():
        row = int(order[1:][same].min())
        raise repeated_edges(where(row), int(same.sum()), advice)


def repeated_edges(place: str, count: int, advice: str) -> DataError:
    """The error about edges that are listed more than once."""
    return DataError(
        f"every edge must be listed once, got {place} again instead ({count} repeated edges); {advice}"
    )


def checked_adjacency(adjacency: sparse.sparray | sparse.spmatrix) -> sparse.csr_array:
    """An adjacency that a person gave, as float32 CSR: square, finite, every edge once."""
    if not sparse.issparse(adjacency):
        raise DataError(f"the adjacency must be a scipy.sparse matrix, got {type(adjacency).__name__} instead")
    shape = adjacency.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise DataError(f"the adjacency must be square, got shape {shape} instead")
    if shape[0] == 0:
        raise DataError("the graph must have at least one node, got an empty graph instead")
    matrix = sparse.csr_array(adjacency, dtype=np.float32)
    if matrix.nnz and (matrix.indices.min() < 0 or matrix.indices.max() >= shape[0]):
        worst = matrix.indices.min() if matrix.indices.min() < 0 else matrix.indices.max()
        raise DataError(f"every column of the adjacency must be from 0 to {shape[0] - 1}, got {worst} instead")
    if not matrix.has_canonical_format:
        stored = matrix.nnz
        matrix = matrix.copy()  # it may share its arrays with what was given
        matrix.sum_duplicates()
        if matrix.nnz < stored:
            raise DataError(f"every edge must be stored once, got {stored - matrix.nnz} duplicate edges instead")
    if not np.isfinite(matrix.data).all() or np.any(matrix.data < 0):
        raise DataError("every edge weight must be finite and not negative, got NaN, inf or a negative one instead")
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return csr(matrix.data, matrix.indices, matrix.indptr, (shape[0], shape[0]))


def checked_features(features: ArrayLike | sparse.sparray | sparse.spmatrix, n: int) -> Features:
    """Features that a person gave, as float32, an array or CSR: one row a node, all finite."""
    result: Features
    if sparse.issparse(features):
        result = sparse.csr_array(features, dtype=np.float32)
        if not result.has_canonical_format:
            result = result.copy()  # it may share its arrays with what was given
            result.sum_duplicates()
        values = result.data
    else:
        try:
            result = values = np.ascontiguousarray(features, dtype=np.float32)
        except (TypeError, ValueError):
            raise DataError("the features must be numbers, got something else instead") from None
    if len(result.shape) != 2 or result.shape[0] != n:
        raise DataError(
            f"the features must have one row for each of the {n} nodes, got shape {result.shape} instead"
        )
    if result.shape[1] == 0:
        raise DataError("the features must have at least one column, got none instead")
    if not np.isfinite(values).all():
        bad = int(np.size(values) - np.isfinite(values).sum())
        raise DataError(f"every feature must be finite, got {bad} NaN or infinite values instead")
    return result
