import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from evergraph.errors import DataError
from evergraph.hodge import edge_list, flow_from_matrix, flow_to_matrix

from .graphs import from_pairs, quick, undirected_graphs, vectors


@quick
@given(undirected_graphs(weighted=True))
def test_edges_are_the_upper_triangle_in_row_major_order(graph: csr_array) -> None:
    edges = edge_list(graph)
    tail, head = np.nonzero(np.triu(graph.toarray()))
    assert edges.tail.tolist() == tail.tolist()
    assert edges.head.tolist() == head.tolist()
    assert edges.weight.tolist() == graph.toarray()[tail, head].tolist()


@quick
@given(undirected_graphs())
def test_find_tells_edges_from_non_edges(graph: csr_array) -> None:
    edges = edge_list(graph)
    tail, head = (index.astype(np.int64) for index in np.triu_indices(graph.shape[0], 1))
    found = edges.find(tail, head)
    present = graph.toarray()[tail, head] > 0.0
    assert (found[~present] == -1).all()
    assert found[present].tolist() == list(range(len(edges)))


@quick
@given(st.data())
def test_matrix_and_flow_are_two_forms_of_the_same(data: st.DataObject) -> None:
    graph = data.draw(undirected_graphs())
    flow = data.draw(vectors(graph.nnz // 2))
    matrix = flow_to_matrix(graph, flow)
    assert np.array_equal(matrix.toarray(), -matrix.toarray().T)
    edges = edge_list(graph)
    assert np.array_equal(matrix.toarray()[edges.tail, edges.head], flow)
    assert np.array_equal(flow_from_matrix(graph, matrix), flow)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), "antisymmetric"),
        (csr_array([[0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [-2.0, 0.0, 0.0]]), "got 1 flows without an edge instead"),
        (csr_array((2, 2)), "3 rows, got 2 instead"),
    ],
)
def test_bad_flow_matrix_is_refused(matrix: csr_array, message: str) -> None:
    with pytest.raises(DataError, match=message):
        flow_from_matrix(from_pairs(3, [(0, 1)]), matrix)


def test_flow_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(DataError, match="the edge flow has to be 1 real numbers"):
        flow_to_matrix(from_pairs(3, [(0, 1)]), [1.0, 2.0])
