"""Connected components of a graph in blocks: union-find on whole blocks, in one pass over the entries."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from evergraph.hodge.blocks import LARGEST_BLOCK, BlockedGraph

Nodes: TypeAlias = NDArray[np.int64]


def mapped_components(adjacency: csr_array) -> NDArray[np.int32]:
    """Return the component of each node (n,) of a memory-mapped adjacency whose indices have been checked.

    The numbers are those of scipy's connected_components without directions, which copies the adjacency twice.
    """
    indptr = np.asarray(adjacency.indptr).astype(np.int64)
    return block_components(BlockedGraph(indptr, adjacency.indices, None, LARGEST_BLOCK, LARGEST_BLOCK))


def block_components(graph: BlockedGraph) -> NDArray[np.int32]:
    """Return the component of each node (n,), numbered by their first nodes; directions do not count.

    Every node points to a smaller one of its component, the first one to itself. The edges of a block join the
    first nodes of its ends, of which few differ after some blocks.
    """
    parent = np.arange(graph.n_nodes)
    for row, column, _ in graph.entries():
        _join(parent, _root(parent, row), _root(parent, column))
    while True:
        above = parent[parent]
        if np.array_equal(above, parent):
            break
        parent = above
    is_first = parent == np.arange(graph.n_nodes)
    return (np.cumsum(is_first)[parent] - 1).astype(np.int32)


def _root(parent: Nodes, nodes: Nodes) -> Nodes:
    """Return the first node of each node's component so far, to which the nodes point from now on."""
    root = parent[nodes]
    while True:
        above = parent[root]
        if np.array_equal(above, root):
            parent[nodes] = root
            return root
        root = above


def _join(parent: Nodes, left: Nodes, right: Nodes) -> None:
    """Make the components of these pairs of first nodes one, with the smallest of them as its first node."""
    apart = left != right
    if not apart.any():
        return
    left, right = left[apart], right[apart]
    nodes, place = np.unique(np.concatenate([left, right]), return_inverse=True)
    ends = place.reshape(2, -1)
    pairs = coo_array((np.ones(len(left), dtype=np.int8), (ends[0], ends[1])), shape=(len(nodes), len(nodes)))
    _, label = connected_components(pairs, directed=False)
    _, first = np.unique(label, return_index=True)
    parent[nodes] = nodes[first[label]]
