"""Graphs that stay on disk: adjacency and features are read in blocks of rows, never as a whole.

`Graph.adjacency` and `Graph.features` of such a graph are a DiskAdjacency and a DiskFeatures over memory maps.
Whatever knows nothing of them gets one clear sentence instead of a copy that does not fit.
"""

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NoReturn, TypeAlias, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from evergraph.budget import Budget, current_budget
from evergraph.data.graph import Graph, row_entries
from evergraph.errors import DataError, StoreError
from evergraph.matrices import all_ones, csr
from evergraph.threads import in_threads

Rows: TypeAlias = slice | NDArray[np.int64]
Scale: TypeAlias = Callable[[NDArray[Any]], NDArray[np.float32]]

ENTRY_BYTES, NODE_BYTES = 96, 100
"""Memory of an adjacency entry that is worked on, and of a node, with all copies."""
COPIES = 4
"""How many times a graph is in memory while it is standardised, cut into tasks and propagated."""
MOST_ENTRIES = 1 << 22
MOST_ROWS = 1 << 18
"""The most entries of the adjacency, and rows of features, that are read together."""


class _NotInMemory:
    """Refuses, in one sentence, whatever needs the array as a whole."""

    def _refuse(self) -> NoReturn:
        raise DataError(
            "this needs the whole graph in memory, got one that is read from disk in blocks; raise --memory, or "
            "take a method that reads blocks (analytic, ncm, slda, tem, cat)"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        self._refuse()

    def __matmul__(self, other: object) -> NoReturn:
        self._refuse()

    def __rmatmul__(self, other: object) -> NoReturn:
        self._refuse()


class DiskAdjacency(_NotInMemory):
    """The adjacency of some nodes of a graph in memory maps, and of the edges between them.

    whole: CSR over memory maps; nodes: its rows and columns that count, rising, None for all of them. weighted:
    whether its values are read; else every edge counts 1. loops: whether its diagonal counts.
    """

    def __init__(
        self, whole: sparse.csr_array, nodes: NDArray[np.int64] | None = None, *, weighted: bool, loops: bool
    ):
        self.whole, self.nodes, self.weighted, self.loops = whole, nodes, weighted, loops
        n = int(whole.shape[0]) if nodes is None else len(nodes)
        self.shape = (n, n)

    @property
    def n_nodes(self) -> int:
        return self.shape[0]

    @cached_property
    def nnz(self) -> int:
        """Counted in one pass where nodes are left out."""
        if self.nodes is None and self.loops:
            return int(self.whole.indptr[-1])
        return sum(in_threads(lambda part: int(self.rows(part).nnz), self.parts))

    def induced(self, nodes: NDArray[np.int64]) -> "DiskAdjacency":
        """That of some of the nodes, rising."""
        if np.any(np.diff(nodes) <= 0):
            raise DataError("the nodes of a graph on disk must be given in order, got others instead; sort them")
        own = nodes if self.nodes is None else self.nodes[nodes]
        return DiskAdjacency(self.whole, own, weighted=self.weighted, loops=self.loops)

    def same_as(self, other: object) -> bool:
        """Whether this is the adjacency of the same nodes of the same files."""
        if not isinstance(other, DiskAdjacency) or self.whole is not other.whole or self.shape != other.shape:
            return False
        first, second = self.nodes, other.nodes
        return first is second or (first is not None and second is not None and np.array_equal(first, second))

    @cached_property
    def _place(self) -> NDArray[Any]:
        """The row here of each node of the whole graph, -1 for those left out."""
        n = int(self.whole.shape[0])
        place = np.full(n, -1, dtype=np.int32 if n <= np.iinfo(np.int32).max else np.int64)
        place[self.nodes] = np.arange(self.n_nodes, dtype=place.dtype)
        return place

    @cached_property
    def parts(self) -> list[slice]:
        """All rows in blocks, each of about as many entries as the budget allows."""
        most = block_entries(current_budget())
        indptr = self.whole.indptr
        if self.nodes is None:
            ends = np.asarray(indptr[1:])
        else:
            ends = np.cumsum(indptr[self.nodes + 1].astype(np.int64) - indptr[self.nodes])
        bounds, start = [0], 0
        while start < self.n_nodes:
            before = int(ends[start - 1]) if start else 0
            stop = int(np.searchsorted(ends, before + most, side="right"))
            start = min(max(stop, start + 1), start + MOST_ROWS, self.n_nodes)
            bounds.append(start)
        return [slice(first, last) for first, last in pairwise(bounds)]

    def rows(self, part: Rows) -> sparse.csr_array:
        """Some rows, with all columns: (rows, n)."""
        whole = self.whole
        if self.nodes is None and isinstance(part, slice):
            own = np.arange(part.start, part.stop)
            start, stop = (int(whole.indptr[row]) for row in (part.start, part.stop))
            entries: Rows = slice(start, stop)
            columns = np.asarray(whole.indices[entries])
            ends = np.asarray(whole.indptr[part.start + 1 : part.stop + 1]).astype(np.int64) - start
            kept = None if self.loops else self._off_diagonal(own, ends, columns)
        else:
            own = np.asarray(part) if self.nodes is None else self.nodes[part]
            entries, counts = row_entries(whole, own)
            columns = stored = np.asarray(whole.indices[entries])
            ends, kept = np.cumsum(counts), None
            if self.nodes is not None:
                columns = self._place[stored]
                kept = columns >= 0
            if not self.loops:
                off = self._off_diagonal(own, ends, stored)
                kept = off if kept is None else kept & off
        values = np.asarray(whole.data[entries]) if self.weighted else None
        if kept is not None:
            ends = np.concatenate([[0], np.cumsum(kept)])[ends]
            columns, values = columns[kept], None if values is None else values[kept]
        data = np.ones(len(columns), dtype=np.float32) if values is None else values
        return _trusted(data, columns, np.concatenate([[0], ends]), (len(own), self.n_nodes))

    def arrays(self) -> Iterator[NDArray[Any]]:
        """indptr, indices and values as they would be in memory, in blocks: three passes over the rows."""
        whole = np.int32 if max(self.nnz, self.n_nodes, 1) < np.iinfo(np.int32).max else np.int64
        end = 0
        yield np.zeros(1, dtype=whole)
        for part in self.parts:
            ends = end + self.rows(part).indptr[1:].astype(np.int64)
            end = int(ends[-1])
            yield ends.astype(whole)
        for part in self.parts:
            yield self.rows(part).indices.astype(whole)
        for part in self.parts:
            yield self.rows(part).data

    def loops_among(self, part: slice) -> int:
        """The number of self-loops of some rows."""
        rows = self.rows(part)
        own = np.repeat(np.arange(part.start, part.stop), np.diff(rows.indptr))
        return int(np.count_nonzero(rows.indices == own))

    def mapped(self) -> sparse.csr_array:
        """The same as CSR over memory maps: those of the whole graph, or of files that go with it."""
        if self.nodes is None and self.loops and (self.weighted or all_ones(self.whole.data)):
            return self.whole
        counts = np.concatenate(in_threads(lambda part: np.diff(self.rows(part).indptr), self.parts))
        kind = np.int32 if max(int(counts.sum(dtype=np.int64)), self.n_nodes) < np.iinfo(np.int32).max else np.int64
        indptr = np.concatenate([np.zeros(1, dtype=kind), np.cumsum(counts, dtype=kind)])
        indices = scratch_file((int(indptr[-1]),), kind)
        values = scratch_file((len(indices),), np.float32) if self.weighted else None
        for part in self.parts:
            rows, here = self.rows(part), slice(int(indptr[part.start]), int(indptr[part.stop]))
            indices[here] = rows.indices
            if values is not None:
                values[here] = rows.data
        matrix = sparse.csr_array(self.shape, dtype=np.float32)
        matrix.indptr, matrix.indices = indptr, indices
        matrix.data = np.broadcast_to(np.ones(1, dtype=np.float32), indices.shape) if values is None else values
        matrix.has_sorted_indices = matrix.has_canonical_format = True
        return matrix

    def _off_diagonal(self, own: NDArray[Any], ends: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(columns != np.repeat(own, np.diff(ends, prepend=0)))


def _trusted(
    data: NDArray[np.float32], columns: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> sparse.csr_array:
    matrix = csr(data, columns, indptr, shape)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


class DiskFeatures(_NotInMemory):
    """Rows of features in a memory map, scaled when they are read: f[rows] is an array of 32 bits.

    nodes: the rows of the file that count, None for all of them; scale: what is done to rows, each by itself.
    """

    dtype = np.dtype(np.float32)

    def __init__(self, stored: NDArray[Any], nodes: NDArray[np.int64] | None = None, scale: Scale | None = None):
        self.stored, self.nodes, self.scale = stored, nodes, scale
        self.shape = (len(stored) if nodes is None else len(nodes), int(stored.shape[1]))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Rows) -> NDArray[np.float32]:
        values = np.asarray(self.stored[rows if self.nodes is None else self.nodes[rows]])
        values = values.astype(np.float32) if self.scale is None else self.scale(values.astype(np.float32))
        return np.ascontiguousarray(values, dtype=np.float32)

    def induced(self, nodes: NDArray[np.int64]) -> "DiskFeatures":
        return DiskFeatures(self.stored, nodes if self.nodes is None else self.nodes[nodes], self.scale)

    def scaled(self, scale: Scale) -> "DiskFeatures":
        """The same rows, scaled; they were not before."""
        return DiskFeatures(self.stored, self.nodes, scale)

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """All rows, some at a time."""
        at_once = block_rows(current_budget(), self.shape[1])
        for start in range(0, len(self), at_once):
            part = slice(start, min(start + at_once, len(self)))
            yield part, self[part]


def is_on_disk(graph: Graph) -> bool:
    """Whether a graph is read in blocks."""
    return isinstance(graph.adjacency, DiskAdjacency)


def kept_on_disk(graph: Graph, *, weighted: bool, loops: bool) -> Graph:
    """A graph over memory maps as one that is read in blocks."""
    adjacency = DiskAdjacency(graph.adjacency, weighted=weighted, loops=loops)
    features = None if graph.features is None else DiskFeatures(np.asarray(graph.features))
    return replace(graph, adjacency=cast("sparse.csr_array", adjacency), features=cast("Any", features))


def disk_adjacency(graph: Graph) -> DiskAdjacency:
    """The adjacency of a graph on disk, undirected: that of a directed one would have to be transposed."""
    adjacency: object = graph.adjacency
    if not isinstance(adjacency, DiskAdjacency):
        raise TypeError(f"a graph on disk is wanted, got {graph.name} in memory instead")
    if graph.directed:
        raise DataError(
            f"a graph on disk must be undirected, got {graph.name} with directions instead; convert its tables "
            "with --set dataset.options.directed=false"
        )
    return adjacency


def in_csr(adjacency: sparse.csr_array) -> sparse.csr_array:
    """An adjacency as CSR; one on disk over memory maps, of new files where it has none."""
    given: object = adjacency
    return given.mapped() if isinstance(given, DiskAdjacency) else adjacency


def has_weights(graph: Graph) -> bool:
    """Whether an edge that counts has another weight than 1."""
    adjacency: object = graph.adjacency
    if isinstance(adjacency, DiskAdjacency):
        return adjacency.weighted and not all_ones(adjacency.whole.data)
    return not all_ones(graph.adjacency.data)


def count_loops(graph: Graph) -> int:
    """The number of self-loops that count."""
    adjacency: object = graph.adjacency
    if not isinstance(adjacency, DiskAdjacency):
        return int(np.count_nonzero(graph.adjacency.diagonal()))
    if not adjacency.loops:
        return 0
    return sum(in_threads(adjacency.loops_among, adjacency.parts))


def bytes_in_memory(graph: Graph) -> int:
    """About what a graph over memory maps would need in memory, with the copies that are made on the way."""
    entries = int(graph.adjacency.nnz) * (int(graph.adjacency.indices.itemsize) + 4)
    return COPIES * (entries + graph.n_nodes * (8 + 4 * graph.n_features))


def block_entries(budget: Budget) -> int:
    """Entries of the adjacency that are worked on together, for each thread."""
    return max(1, min(MOST_ENTRIES, budget.memory // 16 // ENTRY_BYTES))


def block_rows(budget: Budget, width: int) -> int:
    """Rows of so many numbers of 32 bits that are worked on together."""
    return max(1, min(MOST_ROWS, budget.memory // 64 // max(4 * width, 1)))


def block_columns(budget: Budget, n_nodes: int, width: int) -> int:
    """Columns of numbers of 32 bits, one for each node, that are in memory together; alike in every pass."""
    most = max(1, int(0.4 * budget.memory) // max(4 * n_nodes, 1))
    passes = -(-width // most)
    return max(1, -(-width // passes))


def scratch_array(shape: tuple[int, int]) -> NDArray[np.float32]:
    """Room for numbers of 32 bits: in memory where they are few, else in a file."""
    if 4 * shape[0] * shape[1] <= current_budget().memory // 64:
        return np.empty(shape, dtype=np.float32)
    return scratch_file(shape, np.float32)


def scratch_file(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Room for an array in a file of the scratch folder, which goes with the array."""
    size, scratch = int(np.prod(shape)) * np.dtype(dtype).itemsize, current_budget().scratch
    if not size:
        return np.empty(shape, dtype=dtype)
    try:
        with tempfile.TemporaryFile(dir=scratch) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)  # a full disk is noticed here, not in a page later
            else:
                file.truncate(size)
            return np.memmap(file, dtype=dtype, mode="r+", shape=shape)
    except OSError as error:
        raise StoreError(
            f"{scratch} must have room for {size / 1e9:.2g} GB of what is computed in blocks, got: "
            f"{error.strerror or error}; choose another folder with --scratch"
        ) from None


class DiskSteps:
    """Products with Â = D^-1/2 (A + I) D^-1/2 of an undirected graph on disk, the same bits as in memory."""

    def __init__(self, adjacency: DiskAdjacency):
        self.adjacency = adjacency
        self.scale = np.empty(adjacency.n_nodes, dtype=np.float32)

        def fill(part: slice) -> None:
            self.scale[part] = np.asarray(self._with_loops(part).sum(axis=1)) ** -0.5

        in_threads(fill, adjacency.parts)

    def _with_loops(self, part: slice) -> sparse.csr_array:
        """Some rows of A + I."""
        rows = self.adjacency.rows(part)
        count, n = rows.shape
        ones = np.ones(count, dtype=np.float32)
        own = np.arange(part.start, part.stop, dtype=rows.indices.dtype)
        return sparse.csr_array(rows + _trusted(ones, own, np.arange(count + 1), (count, n)))

    def rows(self, part: slice) -> sparse.csr_array:
        """Some rows of Â."""
        loops = self._with_loops(part)
        data = loops.data * np.repeat(self.scale[part], np.diff(loops.indptr)) * self.scale[loops.indices]
        return _trusted(data.astype(np.float32), loops.indices, loops.indptr, loops.shape)

    def times(
        self, source: Any, after: Callable[[slice, slice, NDArray[np.float32]], NDArray[np.float32]] | None = None
    ) -> NDArray[np.float32]:
        """Â times a matrix that is read by rows, in blocks of rows and columns.

        after: is given rows, columns and values of each block, and gives the values to keep.
        """
        n, width = source.shape
        found = scratch_array((n, width))
        budget = current_budget()
        at_once = block_columns(budget, n, width)
        for first in range(0, width, at_once):
            columns = slice(first, min(first + at_once, width))
            inputs = _columns(source, columns, block_rows(budget, width))

            def fill(part: slice, columns: slice = columns, inputs: NDArray[np.float32] = inputs) -> None:
                values = self.rows(part) @ inputs
                found[part, columns] = values if after is None else after(part, columns, values)

            in_threads(fill, self.adjacency.parts)
        return found


def _columns(source: Any, columns: slice, at_once: int) -> NDArray[np.float32]:
    """Some columns of a matrix that is read by rows, in memory."""
    n, width = source.shape
    if isinstance(source, np.ndarray) and not isinstance(source, np.memmap) and columns == slice(0, width):
        return source
    inputs = np.empty((n, columns.stop - columns.start), dtype=np.float32)
    for start in range(0, n, at_once):
        inputs[start : start + at_once] = source[start : start + at_once][:, columns]
    return inputs


class Remembered:
    """What was computed of the last graphs on disk: the whole graph and a task's own are asked for in turn."""

    MOST = 2

    def __init__(self) -> None:
        self._known: list[tuple[DiskAdjacency, Any]] = []

    def of(self, adjacency: DiskAdjacency, compute: Callable[[], Any]) -> Any:
        """The value for these nodes, computed where it is not known."""
        for at, (known, value) in enumerate(self._known):
            if known.same_as(adjacency):
                self._known.append(self._known.pop(at))
                return value
        self._known = self._known[-(self.MOST - 1) :]  # before more room is taken
        value = compute()
        self._known.append((adjacency, value))
        return value


def described(graph: Graph) -> str:
    """The plan: what of a graph on disk is in memory at a time."""
    budget, n = current_budget(), graph.n_nodes
    columns = block_columns(budget, n, graph.n_features)
    return (
        f"read from disk in blocks (memory {budget.memory / 1e9:.3g} GB): {block_entries(budget):,} entries at a "
        f"time for each thread, {columns} of {graph.n_features} columns of the features of all nodes at a time; "
        f"propagated features go to {budget.scratch}, {4 * n * graph.n_features / 1e9:.3g} GB for each hop"
    )
