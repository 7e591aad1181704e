"""A graph in blocks of entries, so that arrays of the size of all entries may stay on disk as memory maps.

A block is a matrix over slices of `indptr` and `indices`; the value array of an unweighted graph is one array of
ones that all blocks share, that of a weighted one is filled anew for each block. Blocks have equally many entries,
so a long row may go on in the next block.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from evergraph.errors import ConfigError, DataError
from evergraph.hodge.checks import Vector
from evergraph.matrices import all_ones
from evergraph.splitmix import GOLDEN, finalised

ENTRY_BYTES = 128
"""Memory for each entry that is worked on together, with all copies."""
LARGEST_BLOCK = 1 << 17
"""Entries of the largest block: its ones stay in the cache of the processor, larger blocks are slower."""
LEAST_MEMORY = 1 << 20


class Entries(NamedTuple):
    """Entries that follow each other: row, column and weight of each; weights None where all are 1."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    weight: Vector | None


class Part(NamedTuple):
    """A block: its first row, its first entry, and its rows as a matrix (rows, n) over the arrays of the graph.

    The values of the matrix are shared by all blocks, so they are those of this block only while it is in use.
    """

    row: int
    entry: int
    matrix: csr_array


@dataclass(frozen=True, eq=False)
class BlockedGraph:
    """A CSR adjacency whose arrays are only read in blocks; weights None where all entries are 1.

    indptr: (n + 1,) int64; indices, weights: (m,), memory maps or arrays. size: entries of a block.
    together: entries that fit into the memory that was granted.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    weights: NDArray[Any] | None
    size: int
    together: int

    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The blocks; what they have of their own are row pointers, of the size of the nodes."""
        values = np.ones(min(self.size, len(self.indices)))
        return tuple(self._part(start, values) for start in range(0, len(self.indices), self.size))

    def _part(self, start: int, values: Vector) -> Part:
        stop = min(start + self.size, len(self.indices))
        first = int(np.searchsorted(self.indptr, start, side="right")) - 1
        last = int(np.searchsorted(self.indptr, stop, side="left"))
        pointers = np.clip(self.indptr[first : last + 1], start, stop) - start
        matrix = csr_array((last - first, self.n_nodes), dtype=np.float64)
        # The constructor of a matrix of given arrays may read or copy them.
        matrix.indptr, matrix.indices = pointers.astype(self.indices.dtype), np.asarray(self.indices)[start:stop]
        matrix.data = values[: stop - start]
        return Part(first, start, matrix)

    def entries(self) -> Iterator[Entries]:
        """Row, column and weight of every entry, a block after the other."""
        for part in self.parts:
            counts = np.diff(part.matrix.indptr)
            row = np.repeat(np.arange(part.row, part.row + len(counts)), counts)
            weight = None if self.weights is None else self._weights(part).astype(np.float64)
            yield Entries(row, part.matrix.indices.astype(np.int64), weight)

    def _weights(self, part: Part) -> NDArray[Any]:
        return np.asarray(self.weights)[part.entry : part.entry + len(part.matrix.indices)]

    def product(self, values: Vector) -> Vector:
        """Return A values (n,)."""
        result = np.zeros(self.n_nodes)
        for part in self.parts:
            if self.weights is not None:
                part.matrix.data[:] = self._weights(part)
            result[part.row : part.row + part.matrix.shape[0]] += part.matrix @ values
        return result

    @cached_property
    def degrees(self) -> Vector:
        """The sum of every row (n,)."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        return self.product(np.ones(self.n_nodes))

    def laplacian(self, values: Vector) -> Vector:
        """Return (D - A) values (n,)."""
        return self.degrees * values - self.product(values)


def check_memory(memory: int) -> int:
    """Return a number of bytes that is large enough to work with; ConfigError otherwise."""
    if memory < LEAST_MEMORY:
        raise ConfigError(f"memory has to be at least {LEAST_MEMORY:,} bytes, got {memory:,} instead; grant more")
    return memory


def blocked(adjacency: csr_array, memory: int) -> BlockedGraph:
    """Return an adjacency (n, n) in blocks that need about so many bytes; its entries are read once, not copied.

    They have to be as `as_graph` would make them: columns rise in each row, weights are above 0, no self-loops.
    """
    together = check_memory(memory) // ENTRY_BYTES
    return in_blocks(adjacency, min(together, LARGEST_BLOCK), together)


def in_blocks(adjacency: csr_array, size: int, together: int) -> BlockedGraph:
    """Return an adjacency (n, n) in blocks of so many entries, checked."""
    if not issparse(adjacency) or adjacency.format != "csr" or adjacency.ndim != 2:
        raise DataError(
            f"the adjacency has to be a scipy.sparse csr_array, got {type(adjacency).__name__} instead; "
            "convert it with scipy.sparse.csr_array"
        )
    if adjacency.shape[0] != adjacency.shape[1]:
        raise DataError(
            f"the adjacency has to be square, got shape {adjacency.shape} instead; give one row and column per node"
        )
    if adjacency.dtype.kind not in "biuf":
        raise DataError(
            f"the adjacency has to hold real numbers, got dtype {adjacency.dtype} instead; convert it to float64"
        )
    indptr = np.asarray(adjacency.indptr).astype(np.int64)
    indices, weights = adjacency.indices, adjacency.data
    if indptr[0] != 0 or indptr[-1] != len(indices) or len(weights) != len(indices) or np.any(np.diff(indptr) < 0):
        raise DataError(
            "indptr of the adjacency has to rise from 0 to the number of its entries, got another one instead; "
            "build the matrix with scipy.sparse.csr_array"
        )
    graph = BlockedGraph(indptr, indices, None if all_ones(weights) else weights, size, together)
    _check_entries(graph)
    return graph


def _check_entries(graph: BlockedGraph) -> None:
    """DataError unless columns are nodes and rise in each row, weights are above 0, and no edge is a self-loop."""
    before, loops = (-1, -1), 0
    for row, column, weight in graph.entries():
        if column.min() < 0 or column.max() >= graph.n_nodes:
            worst = column.min() if column.min() < 0 else column.max()
            raise DataError(
                f"every column of the adjacency has to be from 0 to {graph.n_nodes - 1}, got {worst} instead; "
                "leave it out"
            )
        rises = (row[1:] > row[:-1]) | (column[1:] > column[:-1])
        if not rises.all() or not (int(row[0]), int(column[0])) > before:
            raise DataError(
                "the columns of each row have to be there once and in order, got others instead; "
                "call sum_duplicates on the adjacency"
            )
        before = int(row[-1]), int(column[-1])
        if weight is not None and not (np.isfinite(weight) & (weight > 0.0)).all():
            raise DataError(
                "stored edge weights have to be finite and above 0, got others instead; "
                "leave edges of weight 0 out, and keep signs in an edge flow"
            )
        loops += int(np.count_nonzero(row == column))
    if loops:
        raise DataError(
            f"the graph has to be free of self-loops, got {loops} instead; clear the diagonal with setdiag(0)"
        )


def is_symmetric(graph: BlockedGraph) -> bool:
    """Whether every entry has its reverse with the same weight, in one pass without looking for any of them.

    Every entry above the diagonal adds a number of 64 bits that depends on its ends and weight, every one below
    takes that of its reverse away. As no entry is there twice, the sum is zero exactly if the two halves are equal;
    by chance it is so once in 2⁶⁴ graphs.
    """
    total = np.uint64(0)
    for row, column, weight in graph.entries():
        low, high = np.minimum(row, column), np.maximum(row, column)
        number = _word(low.view(np.uint64) * np.uint64(graph.n_nodes) + high.view(np.uint64))
        if weight is not None:
            number = _word(number ^ weight.view(np.uint64))
        above = row < column
        with np.errstate(over="ignore"):
            total += number[above].sum(dtype=np.uint64) - number[~above].sum(dtype=np.uint64)
    return bool(total == 0)


def _word(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A number of 64 bits for each state; the factor spreads neighbouring states before the first step."""
    return finalised((state + np.uint64(1)) * np.uint64(GOLDEN))
