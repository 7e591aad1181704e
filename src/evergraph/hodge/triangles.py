"""Triangles of a sparse graph, found by expanding two-edge paths in order of degree."""

from collections.abc import Iterator
from itertools import pairwise, starmap

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from evergraph.hodge.checks import as_undirected
from evergraph.hodge.edges import EdgeList, edges_of

PATHS_AT_ONCE = 1 << 22


def triangles(adjacency: csr_array) -> NDArray[np.int64]:
    """Return the triangles of an undirected graph as rows i < j < k in lexicographic order; (t, 3)."""
    return triangles_of(as_undirected(adjacency))


def triangles_of(graph: csr_array) -> NDArray[np.int64]:
    """Return the triangles of an adjacency that has been checked already.

    Every edge is directed from the lower to the higher degree, so that no node has more than sqrt(2m) edges
    going out, and a path u -> v -> w closes to a triangle exactly if u -> w is an edge: O(m sqrt(m)) paths.
    """
    n_nodes = graph.shape[0]
    order = np.argsort(np.diff(graph.indptr), kind="stable")
    ranked = edges_of(csr_array(graph[order][:, order].sorted_indices()))
    start = np.searchsorted(ranked.tail, np.arange(n_nodes + 1)).astype(np.int64)
    found = [_closed(ranked, start, block) for block in _blocks(ranked, start)]
    nodes = np.sort(order[np.concatenate([np.empty((0, 3), dtype=np.int64), *found])], axis=1)
    return nodes[np.lexsort((nodes[:, 2], nodes[:, 1], nodes[:, 0]))].astype(np.int64)


def _blocks(edges: EdgeList, start: NDArray[np.int64]) -> Iterator[slice]:
    """Split the edges into runs of about PATHS_AT_ONCE two-edge paths, which bounds the memory."""
    paths = np.cumsum(np.diff(start)[edges.head])
    total = int(paths[-1]) if len(paths) else 0
    cuts = np.searchsorted(paths, np.arange(PATHS_AT_ONCE, total, PATHS_AT_ONCE)) + 1
    bounds = np.unique(np.concatenate([[0], cuts, [len(edges)]]))
    return starmap(slice, pairwise(bounds.tolist()))


def _closed(edges: EdgeList, start: NDArray[np.int64], block: slice) -> NDArray[np.int64]:
    """Return the paths u -> v -> w over the edges u -> v of a block that an edge u -> w closes; (t, 3)."""
    tail, head = edges.tail[block], edges.head[block]
    counts = np.diff(start)[head]
    first = np.repeat(start[head] - (np.cumsum(counts) - counts), counts)
    end = edges.head[first + np.arange(len(first))]
    paths = np.stack([np.repeat(tail, counts), np.repeat(head, counts), end], axis=1)
    return paths[edges.find(paths[:, 0], end) >= 0]
