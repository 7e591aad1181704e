"""Graph: CSR adjacency, features, labels; induced subgraphs; validation of input."""

from dataclasses import dataclass, replace
from typing import NewType, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evergraph.errors import DataError
from evergraph.matrices import Features, adjacency_from_edges, checked_adjacency, checked_features, csr

__all__ = [
    "Features",
    "GlobalIds",
    "Graph",
    "LocalIds",
    "adjacency_from_edges",
    "csr",
    "induced_adjacency",
    "make_graph",
    "row_entries",
]

GlobalIds = NewType("GlobalIds", NDArray[np.int64])
"""Rows of the full graph."""
LocalIds = NewType("LocalIds", NDArray[np.int64])
"""Rows of one task's graph."""

Times: TypeAlias = NDArray[np.float64] | NDArray[np.int64]


@dataclass(frozen=True)
class Graph:
    """A graph with node features and integer labels; build it with `make_graph`, which validates."""

    adjacency: sparse.csr_array
    """(n, n) CSR, entry (i, j) for an edge from i to j, int32 indices wherever they suffice."""
    features: Features | None
    """(n, d), a float32 array or a float32 CSR array; None where the source has none."""
    labels: NDArray[np.int64]
    """(n,) int64, never negative."""
    original_ids: NDArray[np.int64]
    """(n,) int64, the row of each node in the source it was read from."""
    directed: bool = True
    """Whether edges have a direction."""
    name: str = "graph"
    """What tables and messages call it."""
    class_names: tuple[str, ...] | None = None
    """What the source calls each class, by label."""
    feature_names: tuple[str, ...] | None = None
    """What the source calls each feature."""
    remarks: tuple[str, ...] = ()
    """What a reader of a result on this graph must know (a stand-in, derived features)."""
    times: Times | None = None
    """(n,) when each node appeared, on any scale; int64 where float64 would round whole numbers; None where the
    source does not say."""
    node_names: NDArray[np.str_] | None = None
    """(n,) what the source calls each node; None where it does not name them."""

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return int(self.adjacency.shape[0])

    @property
    def n_edges(self) -> int:
        """Stored adjacency entries: an undirected edge counts twice."""
        return int(self.adjacency.nnz)

    @property
    def n_features(self) -> int:
        """The number of features; 0 where there are none."""
        return 0 if self.features is None else int(self.features.shape[1])

    @property
    def classes(self) -> NDArray[np.int64]:
        """The labels that occur, ascending."""
        return np.unique(self.labels)

    def subgraph(self, nodes: NDArray[np.int64]) -> "Graph":
        """The graph induced on `nodes`, in that order, in time proportional to what is selected.

        That of a graph on disk stays there; names of its nodes are found by their original_ids.
        """
        adjacency, original_ids = induced_adjacency(self.adjacency, nodes), self.original_ids[nodes]
        if _is_on_disk(self):
            original_ids = _one_of(adjacency.nodes, original_ids)
        return replace(
            self,
            adjacency=adjacency,
            features=None if self.features is None else _induced_rows(self.features, nodes, original_ids),
            labels=self.labels[nodes],
            original_ids=original_ids,
            times=None if self.times is None else self.times[nodes],
            node_names=None if self.node_names is None or _is_on_disk(self) else self.node_names[nodes],
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
    if not sparse.issparse(adjacency):  # on disk, where it stays
        return adjacency.induced(nodes)
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


def _is_on_disk(graph: Graph) -> bool:
    return not sparse.issparse(graph.adjacency)


def _induced_rows(features: Features, nodes: NDArray[np.int64], known: NDArray[np.int64]) -> Features:
    """known: what may be the rows of the file, for those on disk."""
    if isinstance(features, np.ndarray) or sparse.issparse(features):
        return features[nodes]
    found = features.induced(nodes)
    found.nodes = _one_of(known, found.nodes)
    return found


def _one_of(known: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first for both where they are equal: vectors of the size of the nodes are kept once."""
    return known if np.array_equal(known, other) else other


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
    """A validated Graph, or DataError; `directed=None` compares the adjacency with its transpose.

    The other arguments are the attributes of `Graph`.
    """
    matrix = checked_adjacency(adjacency)
    n = int(matrix.shape[0])
    asymmetric = not directed and bool((matrix != matrix.T).nnz)
    if asymmetric and directed is not None:
        raise DataError("an undirected graph needs a symmetric adjacency, got an edge without its reverse instead")
    return Graph(
        adjacency=matrix,
        features=None if features is None else checked_features(features, n),
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
