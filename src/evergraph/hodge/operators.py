"""The operators of Hodge theory on a weighted graph as sparse matrices.

Inner products: <s, t> = sum_i w_i s_i t_i on nodes, <X, Y> = sum_{i<j} w_ij X_ij Y_ij on edge flows. With n nodes,
m edges i < j and t triangles i < j < k:

    (grad s)(i, j)    = s_j - s_i                                (m, n)
    (div X)(i)        = sum_j w_ij / w_i X(i, j) = -grad*         (n, m)
    (curl X)(i, j, k) = X(i, j) + X(j, k) + X(k, i)               (t, m)
    laplacian         = -div grad, D - A if all w_i = 1           (n, n)

They take an undirected adjacency A whose entries are the w_ij; `underlying_graph` makes one of a directed graph.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array

from evergraph.hodge.checks import as_graph, as_node_weights, as_undirected
from evergraph.hodge.edges import EdgeList, edge_list, edges_of
from evergraph.hodge.triangles import triangles_of


def underlying_graph(adjacency: csr_array) -> csr_array:
    """Return the undirected graph of a directed one: w_ij = max(a_ij, a_ji); (n, n)."""
    graph = as_graph(adjacency)
    return csr_array(graph.maximum(graph.T))


def signed_adjacency(adjacency: csr_array, *, directed: bool) -> csr_array:
    """Return the paper's Ā (n, n), the pairwise comparisons a graph stands for.

    Directed: +1 for an edge with no reverse, -1 for its reverse, 0 otherwise. Undirected: Ā = A.
    """
    if not directed:
        return as_undirected(adjacency)
    pattern = as_graph(adjacency)
    pattern.data[:] = 1.0
    signed = csr_array(pattern - pattern.T)
    signed.eliminate_zeros()
    return signed


def gradient(adjacency: csr_array) -> csr_array:
    """Return grad (m, n): (grad s)(i, j) = s_j - s_i for each edge i < j."""
    return gradient_of(edge_list(adjacency))


def gradient_of(edges: EdgeList) -> csr_array:
    """Return grad (m, n) of edges that have been found already."""
    columns = np.stack([edges.tail, edges.head], axis=1).ravel()
    values = np.tile([-1.0, 1.0], len(edges))
    starts = np.arange(0, 2 * len(edges) + 1, 2)
    return csr_array((values, columns, starts), shape=(len(edges), edges.n_nodes))


def divergence(adjacency: csr_array, node_weights: ArrayLike | None = None) -> csr_array:
    """Return div (n, m): (div X)(i) = sum_j w_ij / w_i X(i, j), the negative adjoint of grad."""
    edges = edge_list(adjacency)
    weights = as_node_weights(node_weights, edges.n_nodes)
    return csr_array(diags_array(-1.0 / weights) @ gradient_of(edges).T @ diags_array(edges.weight))


def curl(adjacency: csr_array) -> csr_array:
    """Return curl (t, m): (curl X)(i, j, k) = X(i, j) + X(j, k) + X(k, i) for each triangle i < j < k."""
    return curl_of(as_undirected(adjacency))


def curl_of(graph: csr_array) -> csr_array:
    """Return curl (t, m) of an adjacency that has been checked already."""
    edges, corners = edges_of(graph), triangles_of(graph)
    i, j, k = corners.T
    columns = np.stack([edges.find(i, j), edges.find(j, k), edges.find(i, k)], axis=1).ravel()
    values = np.tile([1.0, 1.0, -1.0], len(corners))
    starts = np.arange(0, 3 * len(corners) + 1, 3)
    return csr_array((values, columns, starts), shape=(len(corners), len(edges)))


def laplacian(adjacency: csr_array, node_weights: ArrayLike | None = None) -> csr_array:
    """Return the graph Laplacian -div grad (n, n): (D - A)_ij / w_i, the usual D - A without node weights."""
    graph = as_undirected(adjacency)
    weights = as_node_weights(node_weights, graph.shape[0])
    return csr_array(diags_array(1.0 / weights) @ laplacian_of(graph))


def laplacian_of(graph: csr_array) -> csr_array:
    """Return D - A (n, n) of an adjacency that has been checked already."""
    return csr_array(diags_array(graph.sum(axis=1)) - graph)
