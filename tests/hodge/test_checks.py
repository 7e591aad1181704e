from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from evergraph.errors import DataError
from evergraph.hodge import hodge_potential, laplacian, solve_laplacian
from evergraph.hodge.checks import as_graph, as_node_weights, as_vector

from .graphs import from_pairs

Use = Callable[[csr_array], object]


def _solve(graph: csr_array) -> object:
    return solve_laplacian(graph, np.zeros(graph.shape[0]))


BAD = [
    (csr_array(np.zeros((2, 3))), "square.*got shape"),
    (csr_array([[0.0, np.nan], [np.nan, 0.0]]), "finite.*NaN"),
    (csr_array([[0.0, np.inf], [np.inf, 0.0]]), "finite.*infinity"),
    (csr_array([[0.0, 1.0], [0.0, 0.0]]), "symmetric.*directed=True"),
    (csr_array([[0.0, 1.0], [2.0, 0.0]]), "symmetric"),
    (csr_array([[0.0, -1.0], [-1.0, 0.0]]), "non-negative.*got -1.0 instead"),
    (csr_array([[1.0, 1.0], [1.0, 0.0]]), "self-loops, got 1 instead"),
    (csr_array(np.array([[0.0, 1j], [-1j, 0.0]])), "real numbers.*complex128"),
]


@pytest.mark.parametrize("use", [_solve, laplacian, hodge_potential])
@pytest.mark.parametrize(("matrix", "message"), BAD)
def test_bad_adjacency_is_one_clear_sentence(use: Use, matrix: csr_array, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        use(matrix)
    assert "instead; " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_dense_adjacency_is_refused() -> None:
    with pytest.raises(DataError, match="csr_array, got ndarray instead"):
        as_graph(np.zeros((2, 2)))


def test_duplicates_are_summed_and_stored_zeros_dropped_on_a_copy() -> None:
    entries = (np.array([1, 2, 0], dtype=np.int32), (np.array([0, 0, 1]), np.array([1, 1, 1])))
    given = csr_array(coo_array(entries, shape=(2, 2)))
    graph = as_graph(given)
    assert graph.toarray().tolist() == [[0.0, 3.0], [0.0, 0.0]]
    assert graph.nnz == 1
    graph.data[:] = 7.0
    assert given.toarray().tolist() == [[0, 3], [0, 0]]


@pytest.mark.parametrize("rhs", [np.zeros(2), np.zeros((3, 1)), [0.0, np.nan, 0.0], np.zeros(3, dtype=complex)])
def test_bad_right_side_is_refused(rhs: list[float]) -> None:
    with pytest.raises(DataError, match=r"the right-hand side has to be .* got .* instead; "):
        solve_laplacian(from_pairs(3, [(0, 1)]), rhs)


def test_integers_become_floats() -> None:
    assert as_vector([1, 2], 2, "x").dtype == np.float64


@pytest.mark.parametrize("weights", [[1.0, 0.0], [1.0, -2.0], [1.0], [1.0, np.inf]])
def test_bad_node_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(DataError, match=r"node_weights ha(s|ve) to be"):
        as_node_weights(weights, 2)
