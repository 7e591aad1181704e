import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from evergraph.hodge import (
    curl,
    divergence,
    edge_list,
    flow_to_matrix,
    gradient,
    laplacian,
    signed_adjacency,
    triangles,
    underlying_graph,
)

from .graphs import directed_graphs, from_pairs, positive, quick, undirected_graphs, vectors


@quick
@given(st.data())
def test_gradient_is_the_difference_head_minus_tail(data: st.DataObject) -> None:
    graph = data.draw(undirected_graphs(weighted=True))
    s = data.draw(vectors(graph.shape[0]))
    edges = edge_list(graph)
    assert np.array_equal(gradient(graph) @ s, s[edges.head] - s[edges.tail])


@quick
@given(st.data())
def test_divergence_is_the_weighted_sum_of_what_leaves_a_node(data: st.DataObject) -> None:
    graph = data.draw(undirected_graphs(weighted=True))
    flow = data.draw(vectors(graph.nnz // 2))
    weights = data.draw(positive(graph.shape[0]))
    leaving = (graph.toarray() * flow_to_matrix(graph, flow).toarray()).sum(axis=1) / weights
    assert np.allclose(divergence(graph, weights) @ flow, leaving, atol=1e-12)


@quick
@given(st.data())
def test_divergence_is_the_negative_adjoint_of_the_gradient(data: st.DataObject) -> None:
    graph = data.draw(undirected_graphs(weighted=True))
    weights = data.draw(positive(graph.shape[0]))
    s, flow = data.draw(vectors(graph.shape[0])), data.draw(vectors(graph.nnz // 2))
    on_edges = np.sum(edge_list(graph).weight * (gradient(graph) @ s) * flow)
    on_nodes = -np.sum(weights * s * (divergence(graph, weights) @ flow))
    assert np.isclose(on_edges, on_nodes, atol=1e-9)


@quick
@given(st.data())
def test_laplacian_is_minus_divergence_of_gradient(data: st.DataObject) -> None:
    graph = data.draw(undirected_graphs(weighted=True))
    weights = data.draw(positive(graph.shape[0]))
    composed = -(divergence(graph, weights) @ gradient(graph)).toarray()
    assert np.allclose(laplacian(graph, weights).toarray(), composed, atol=1e-12)


@quick
@given(undirected_graphs(weighted=True))
def test_laplacian_without_node_weights_is_degree_minus_adjacency(graph: csr_array) -> None:
    dense = graph.toarray()
    assert np.allclose(laplacian(graph).toarray(), np.diag(dense.sum(axis=1)) - dense, atol=1e-12)


@quick
@given(undirected_graphs(weighted=True))
def test_curl_of_a_gradient_is_zero(graph: csr_array) -> None:
    product = curl(graph) @ gradient(graph)
    assert product.shape == (len(triangles(graph)), graph.shape[0])
    assert not np.any(product.toarray())


@quick
@given(st.data())
def test_curl_goes_round_each_triangle(data: st.DataObject) -> None:
    graph = data.draw(undirected_graphs())
    flow = data.draw(vectors(graph.nnz // 2))
    x = flow_to_matrix(graph, flow).toarray()
    i, j, k = triangles(graph).T
    assert np.allclose(curl(graph) @ flow, x[i, j] + x[j, k] + x[k, i], atol=1e-12)


@quick
@given(directed_graphs(weighted=True))
def test_signed_adjacency_of_a_directed_graph_marks_one_way_edges(graph: csr_array) -> None:
    edge = graph.toarray() > 0.0
    expected = np.where(edge & ~edge.T, 1.0, 0.0) - np.where(edge.T & ~edge, 1.0, 0.0)
    signed = signed_adjacency(graph, directed=True)
    assert np.array_equal(signed.toarray(), expected)
    assert signed.nnz == np.count_nonzero(expected)


@quick
@given(undirected_graphs(weighted=True))
def test_signed_adjacency_of_an_undirected_graph_is_the_adjacency(graph: csr_array) -> None:
    assert np.array_equal(signed_adjacency(graph, directed=False).toarray(), graph.toarray())


@quick
@given(directed_graphs(weighted=True))
def test_underlying_graph_keeps_the_larger_weight(graph: csr_array) -> None:
    dense = graph.toarray()
    assert np.array_equal(underlying_graph(graph).toarray(), np.maximum(dense, dense.T))


def test_shapes_of_a_triangle_with_a_tail() -> None:
    graph = from_pairs(4, [(0, 1), (1, 2), (0, 2), (2, 3)])
    assert gradient(graph).shape == (4, 4)
    assert divergence(graph).shape == (4, 4)
    assert curl(graph).toarray().tolist() == [[1.0, -1.0, 1.0, 0.0]]
