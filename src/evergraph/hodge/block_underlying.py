"""The underlying undirected graph of a directed one in blocks, written to files that are memory-mapped."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from evergraph.hodge.blocks import BlockedGraph
from evergraph.hodge.checks import Vector


@dataclass(frozen=True, eq=False)
class Underlying:
    """The graph with w_ij = max(a_ij, a_ji), and the divergence (n,): one-way edges out of a node less those in."""

    graph: BlockedGraph
    divergence: Vector


def underlying_blocks(directed: BlockedGraph, folder: Path) -> Underlying:
    """Write the underlying graph of a checked one into a folder; its memory is that of `directed.together` entries.

    It is made for a range of nodes at a time: their rows are read as they are, their columns are gathered from all
    rows. All entries are read once for each range, so little memory means many passes.
    """
    wide = replace(directed, size=max(1, directed.together // 2))
    n, index = directed.n_nodes, np.dtype(np.int32 if directed.n_nodes < np.iinfo(np.int32).max else np.int64)
    counts, divergence = np.zeros(n, dtype=np.int64), np.zeros(n)
    paths = [folder / "indices", folder / "weights"]
    with paths[0].open("wb") as indices, paths[1].open("wb") as weights:
        for first, last in _ranges(wide):
            out, into = _rows(wide, first, last), _columns(wide, first, last)
            both = csr_array(out.maximum(into))
            both.sort_indices()
            counts[first:last] = np.diff(both.indptr)
            divergence[first:last] = both.multiply(_pattern(out) - _pattern(into)).sum(axis=1)
            indices.write(both.indices.astype(index).data)
            if directed.weights is not None:
                weights.write(both.data.astype(np.float64).data)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    values = None if directed.weights is None else _mapped(paths[1], np.dtype(np.float64))
    graph = BlockedGraph(indptr, _mapped(paths[0], index), values, directed.size, directed.together)
    return Underlying(graph, divergence)


def _ranges(graph: BlockedGraph) -> Iterator[tuple[int, int]]:
    """Ranges of nodes that have about `graph.size` entries in rows and columns, or are a single node."""
    ends = np.diff(graph.indptr)
    for entries in graph.entries():
        ends += np.bincount(entries.column, minlength=graph.n_nodes)
    total, first = np.cumsum(ends), 0
    while first < graph.n_nodes:
        done = int(total[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(total, done + graph.size, side="right")))
        yield first, last
        first = last


def _rows(graph: BlockedGraph, first: int, last: int) -> csr_array:
    """The rows of these nodes, (last - first, n)."""
    start, stop = graph.indptr[first], graph.indptr[last]
    values = np.ones(stop - start) if graph.weights is None else np.asarray(graph.weights)[start:stop]
    columns, pointers = np.asarray(graph.indices)[start:stop], graph.indptr[first : last + 1] - start
    return csr_array((values.astype(np.float64), columns, pointers), shape=(last - first, graph.n_nodes))


def _columns(graph: BlockedGraph, first: int, last: int) -> csr_array:
    """The transposed columns of these nodes, (last - first, n)."""
    found: list[tuple[NDArray[np.int64], NDArray[np.int64], Vector]] = []
    for row, column, weight in graph.entries():
        inside = (column >= first) & (column < last)
        values = np.ones(np.count_nonzero(inside)) if weight is None else weight[inside]
        found.append((column[inside] - first, row[inside], values))
    shape = (last - first, graph.n_nodes)
    if not found:
        return csr_array(shape)
    rows, columns, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return csr_array((values, (rows, columns)), shape=shape)


def _pattern(matrix: csr_array) -> csr_array:
    return csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)


def _mapped(path: Path, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The numbers in a file as a memory map; a file without any cannot be one."""
    return np.memmap(path, dtype=dtype, mode="r") if path.stat().st_size else np.zeros(0, dtype=dtype)
