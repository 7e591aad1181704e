"""Graph: CSR adjacency, features, labels; induced subgraphs; validation of input."""

from dataclasses import dataclass, replace
from typing import Any, NewType, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evergraph.errors import DataError

GlobalIds = NewType("GlobalIds", NDArray[np.int64])
"""Rows of the full graph."""
LocalIds = NewType("LocalIds", NDArray[np.int64])
"""Rows of one task's graph."""

Times: TypeAlias = NDArray[np.float64] | NDArray[np.int64]
Features: TypeAlias = NDArray[np.float32] | sparse.csr_array


@dataclass(frozen=True)
class Graph:
    """A graph with node features and integer labels; build it with `make_graph`, which validates.

    adjacency: (n, n) CSR, entry (i, j) for an edge from i to j, int32 indices wherever they suffice.
    features: (n, d), a float32 array or a float32 CSR array; None where the source has none.
    labels: (n,) int64, never negative.
    original_ids: (n,) int64, the row of each node in the source it was read from.
    remarks: what a reader of a result on this graph must know (a stand-in, derived features).
    times: (n,) when each node appeared, on any scale; int64 where float64 would round whole numbers; None where the
    source does not say.
    node_names: (n,) what the source calls each node; None where it does not name them.
    """

    adjacency: sparse.csr_array
    features: Features | None
    labels: NDArray[np.int64]
    original_ids: NDArray[np.int64]
    directed: bool = True
    name: str = "graph"
    class_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    remarks: tuple[str, ...] = ()
    times: Times | None = None
    node_names: NDArray[np.str_] | None = None

    @property
    def n_nodes(self) -> int:
        return int(self.adjacency.shape[0])

    @property
    def n_edges(self) -> int:
        """Stored adjacency entries: an undirected edge counts twice."""
        return int(self.adjacency.nnz)

    @property
    def n_features(self) -> int:
        return 0 if self.features is None else int(self.features.shape[1])

    @property
    def classes(self) -> NDArray[np.int64]:
        return np.unique(self.labels)

    def subgraph(self, nodes: NDArray[np.int64]) -> "Graph":
        """The graph induced on `nodes`, in that order, in time proportional to what is selected."""
        return replace(
            self,
            adjacency=induced_adjacency(self.adjacency, nodes),
            features=None if self.features is None else self.features[nodes],
            labels=self.labels[nodes],
            original_ids=self.original_ids[nodes],
            times=None if self.times is None else self.times[nodes],
            node_names=None if self.node_names is None else self.node_names[nodes],
        )


def row_entries(matrix: sparse.csr_array, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions in `indices`/`data` of all entries of the given rows, and the number of entries per row."""
    starts = matrix.indptr[rows].astype(np.int64)
    counts = matrix.indptr[rows + 1].astype(np.int64) - starts
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - counts), counts) + np.arange(total), counts


def induced_adjacency(adjacency: sparse.csr_array, nodes: NDArray[np.int64]) -> sparse.csr_array:
    """Rows and columns `nodes` of `adjacency`, without touching anything of the size of the whole graph."""
    entries, counts = row_entries(adjacency, nodes)
    order = np.argsort(nodes, kind="stable")
    ascending = nodes[order]
    if np.any(ascending[1:] == ascending[:-1]):
        raise DataError("the nodes of an induced subgraph must be distinct, got a repeated node instead")
    columns = adjacency.indices[entries]
    slot = np.minimum(np.searchsorted(ascending, columns), max(len(nodes) - 1, 0))
    inside = ascending[slot] == columns if len(nodes) else np.zeros(0, dtype=bool)
    rows = np.repeat(np.arange(len(nodes)), counts)[inside]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(nodes)))])
    result = csr(adjacency.data[entries[inside]], order[slot[inside]], indptr, (len(nodes), len(nodes)))
    result.sort_indices()
    return result


def csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> sparse.csr_array:
    """A CSR array whose index type is the smallest that holds its size."""
    index_type = np.int32 if max(len(indices), *shape, 1) < np.iinfo(np.int32).max else np.int64
    return sparse.csr_array(
        (data, indices.astype(index_type, copy=False), indptr.astype(index_type, copy=False)), shape=shape
    )


def make_graph(
    adjacency: sparse.sparray | sparse.spmatrix,
    features: ArrayLike | sparse.sparray | sparse.spmatrix | None,
    labels: ArrayLike,
    *,
    directed: bool | None = None,
    name: str = "graph",
    class_names: tuple[str, ...] | None = None,
    feature_names: tuple[str, ...] | None = None,
    remarks: tuple[str, ...] = (),
    times: ArrayLike | None = None,
    node_names: NDArray[np.str_] | None = None,
) -> Graph:
    """A validated Graph, or DataError; `directed=None` compares the adjacency with its transpose."""
    matrix = _checked_adjacency(adjacency)
    n = int(matrix.shape[0])
    asymmetric = not directed and bool((matrix != matrix.T).nnz)
    if asymmetric and directed is not None:
        raise DataError("an undirected graph needs a symmetric adjacency, got an edge without its reverse instead")
    return Graph(
        adjacency=matrix,
        features=None if features is None else _checked_features(features, n),
        labels=_checked_labels(labels, n),
        original_ids=np.arange(n, dtype=np.int64),
        directed=directed or asymmetric,
        name=name,
        class_names=class_names,
        feature_names=feature_names,
        remarks=remarks,
        times=None if times is None else _checked_times(times, n),
        node_names=node_names,
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


def _checked_adjacency(adjacency: sparse.sparray | sparse.spmatrix) -> sparse.csr_array:
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


def _checked_features(features: ArrayLike | sparse.sparray | sparse.spmatrix, n: int) -> Features:
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


def _checked_labels(labels: ArrayLike, n: int) -> NDArray[np.int64]:
    values = np.asarray(labels)
    if values.shape != (n,):
        raise DataError(f"there must be one label for each of the {n} nodes, got shape {values.shape} instead")
    if values.dtype.kind == "f":
        if np.isnan(values).any():
            raise DataError(
                f"every node needs a label, got {int(np.isnan(values).sum())} nodes without one instead"
            )
        if np.any(values != np.floor(values)) or np.any(np.abs(values) >= 2**53):
            raise DataError("labels must be whole numbers, got fractions or numbers too large instead")
    elif values.dtype.kind not in "iub":
        raise DataError(f"labels must be whole numbers, got values of type {values.dtype} instead")
    result = values.astype(np.int64)
    if np.any(result < 0):
        raise DataError(
            f"labels must not be negative, got {int(result.min())} instead; -1 for 'unknown' is not one"
        )
    return result


def _checked_times(times: ArrayLike, n: int) -> Times:
    """As float64; whole numbers beyond 2^53, such as nanoseconds since 1970, as they are."""
    given = np.asarray(times)
    if given.dtype.kind in "iu" and given.shape == (n,) and np.abs(given.astype(np.float64)).max() >= 2**53:
        if given.max() > np.iinfo(np.int64).max:
            raise DataError(f"times must fit 64 bits with a sign, got {given.max()} instead")
        return given.astype(np.int64)
    try:
        values = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("the times must be numbers, got something else instead") from None
    if values.shape != (n,):
        raise DataError(f"there must be one time for each of the {n} nodes, got shape {values.shape} instead")
    if not np.isfinite(values).all():
        bad = int(n - np.isfinite(values).sum())
        raise DataError(f"every time must be a finite number, got {bad} NaN or infinite values instead")
    return values
