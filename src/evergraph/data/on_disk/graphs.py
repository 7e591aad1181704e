"""Graphs whose adjacency and features are on disk."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.budget import current_budget
from evergraph.data.graph import Graph
from evergraph.data.on_disk.adjacency import DiskAdjacency
from evergraph.data.on_disk.blocks import block_columns, block_entries
from evergraph.data.on_disk.features import DiskFeatures
from evergraph.data.remote.place import Place
from evergraph.errors import DataError
from evergraph.matrices import all_ones
from evergraph.threads import in_threads

COPIES = 4
"""How many times a graph is in memory while it is standardised, cut into tasks and propagated."""


def is_on_disk(graph: Graph) -> bool:
    """Whether a graph is read in blocks."""
    return isinstance(graph.adjacency, DiskAdjacency)


def kept_on_disk(graph: Graph, *, weighted: bool, loops: bool, place: Place | None = None) -> Graph:
    """A graph over memory maps, those of a folder, as one that is read in blocks."""
    adjacency = DiskAdjacency(graph.adjacency, weighted=weighted, loops=loops, place=place)
    features = None if graph.features is None else DiskFeatures(np.asarray(graph.features), place=place)
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


def row_counts(adjacency: sparse.csr_array) -> NDArray[np.int64]:
    """The entries of each row; of an adjacency on disk counted in blocks."""
    given: object = adjacency
    return given.counts if isinstance(given, DiskAdjacency) else np.diff(adjacency.indptr)


def has_weights(adjacency: sparse.csr_array) -> bool:
    """Whether an edge that counts has another weight than 1."""
    given: object = adjacency
    if isinstance(given, DiskAdjacency):
        return given.weighted and not all_ones(given.whole.data)
    return not all_ones(adjacency.data)


def count_loops(graph: Graph) -> int:
    """The number of self-loops that count."""
    adjacency: object = graph.adjacency
    if not isinstance(adjacency, DiskAdjacency):
        return int(np.count_nonzero(graph.adjacency.diagonal()))
    if not adjacency.loops:
        return 0
    return sum(in_threads(adjacency.loops_among, adjacency.parts))


def bytes_in_memory(graph: Graph) -> int:
    """About what a graph on disk would need in memory, with the copies that are made on the way."""
    adjacency: object = graph.adjacency
    stored = adjacency.whole if isinstance(adjacency, DiskAdjacency) else graph.adjacency
    entries = graph.n_edges * (int(stored.indices.itemsize) + 4)
    return COPIES * (entries + graph.n_nodes * (8 + 4 * graph.n_features))


def described(n_nodes: int, n_features: int) -> str:
    """The plan: what of a graph on disk is in memory at a time."""
    budget = current_budget()
    columns = block_columns(budget, n_nodes, n_features)
    return (
        f"read from disk in blocks (memory {budget.memory / 1e9:.3g} GB): {block_entries(budget):,} entries at a "
        f"time for each thread, {columns} of {n_features} columns of the features of all nodes at a time; "
        f"propagated features go to {budget.scratch}, {4 * n_nodes * n_features / 1e9:.3g} GB for each hop"
    )
