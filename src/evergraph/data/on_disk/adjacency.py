"""The adjacency of a graph on disk, read in blocks of rows."""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.budget import current_budget
from evergraph.data.graph import row_entries
from evergraph.data.on_disk.blocks import MOST_ROWS, NotInMemory, block_entries, scratch_file
from evergraph.data.remote.place import Place
from evergraph.errors import DataError
from evergraph.matrices import all_ones, csr
from evergraph.threads import in_threads

Rows: TypeAlias = slice | NDArray[np.int64]


class DiskAdjacency(NotInMemory):
    """The adjacency of some nodes of a graph in memory maps, and of the edges between them.

    whole: CSR over memory maps; nodes: its rows and columns that count, rising, None for all of them. weighted:
    whether its values are read; else every edge counts 1. loops: whether its diagonal counts. place: where the
    maps are from.
    """

    def __init__(
        self,
        whole: sparse.csr_array,
        nodes: NDArray[np.int64] | None = None,
        *,
        weighted: bool,
        loops: bool,
        place: Place | None = None,
    ):
        self.whole, self.nodes, self.weighted, self.loops, self.place = whole, nodes, weighted, loops, place
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
        return self.counting(own, weighted=self.weighted, loops=self.loops)

    def counting(self, nodes: NDArray[np.int64] | None, *, weighted: bool, loops: bool) -> "DiskAdjacency":
        """That of these nodes of the same files."""
        return DiskAdjacency(self.whole, nodes, weighted=weighted, loops=loops, place=self.place)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the files again."""
        return _opened_again, (self.place, self.nodes, self.weighted, self.loops)

    def same_as(self, other: object) -> bool:
        """Whether this is the adjacency of the same nodes of the same files."""
        if not isinstance(other, DiskAdjacency) or self.whole is not other.whole or self.shape != other.shape:
            return False
        first, second = self.nodes, other.nodes
        return first is second or (first is not None and second is not None and np.array_equal(first, second))

    @property
    def weights(self) -> NDArray[Any]:
        """The values of the stored entries of the whole graph; 0 of them where every edge counts 1."""
        return np.asarray(self.whole.data) if self.weighted else np.zeros(0, dtype=np.float32)

    def bounds(self, part: slice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each of some rows begins and ends in the stored entries of the whole graph."""
        indptr = self.whole.indptr
        if self.nodes is None:
            both = np.asarray(indptr[part.start : part.stop + 1]).astype(np.int64)
            return both[:-1], both[1:]
        own = self.nodes[part]
        return indptr[own].astype(np.int64), indptr[own + 1].astype(np.int64)

    @cached_property
    def place_of(self) -> NDArray[Any]:
        """The row here of each node of the whole graph, -1 for those left out; 0 of them where all are here."""
        if self.nodes is None:
            return np.zeros(0, dtype=np.int32)
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
                columns = self.place_of[stored]
                kept = columns >= 0
            if not self.loops:
                off = self._off_diagonal(own, ends, stored)
                kept = off if kept is None else kept & off
        values = np.asarray(whole.data[entries]) if self.weighted else None
        if kept is not None:
            ends = np.concatenate([[0], np.cumsum(kept)])[ends]
            columns, values = columns[kept], None if values is None else values[kept]
        data = np.ones(len(columns), dtype=np.float32) if values is None else values
        return trusted(data, columns, np.concatenate([[0], ends]), (len(own), self.n_nodes))

    @property
    def counts(self) -> NDArray[np.int64]:
        """The entries of each row, counted in one pass."""
        found = in_threads(lambda part: np.diff(self.rows(part).indptr), self.parts)
        return np.concatenate([np.zeros(0, dtype=np.int64), *found])

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
        counts = self.counts
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


def _opened_again(place: Place, nodes: NDArray[np.int64] | None, weighted: bool, loops: bool) -> DiskAdjacency:
    from evergraph.data.graph_folder.reading import mapped_csr  # which reads graphs into this package

    return DiskAdjacency(mapped_csr(place.here()), nodes, weighted=weighted, loops=loops, place=place)


def trusted(
    data: NDArray[np.float32], columns: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> sparse.csr_array:
    matrix = csr(data, columns, indptr, shape)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix
