from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from evergraph.errors import ConvergenceError, DataError
from evergraph.hodge import Orientation, grown_start, hodge_potential, ranking_potential

from .graphs import directed_graphs, quick, undirected_graphs


def _pseudo_inverse(dense: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.linalg.pinv(np.diag(dense.sum(axis=1)) - dense, rcond=1e-10).astype(np.float64)


@quick
@given(undirected_graphs())
def test_undirected_score_is_the_formula_of_the_paper(graph: csr_array) -> None:
    dense = graph.toarray()
    expected = -_pseudo_inverse(dense) @ dense.sum(axis=1)
    assert np.allclose(hodge_potential(graph).value, expected, rtol=0.0, atol=1e-8)


@quick
@given(directed_graphs())
def test_directed_score_is_the_formula_of_the_paper(graph: csr_array) -> None:
    edge = graph.toarray()
    expected = -_pseudo_inverse(np.maximum(edge, edge.T)) @ (edge - edge.T).sum(axis=1)
    assert np.allclose(hodge_potential(graph, directed=True).value, expected, rtol=0.0, atol=1e-8)


@quick
@given(directed_graphs(weighted=True))
def test_weights_of_a_directed_graph_weigh_its_one_way_edges(graph: csr_array) -> None:
    edge = graph.toarray()
    one_way = np.where(edge.T > 0.0, 0.0, edge)
    expected = -_pseudo_inverse(np.maximum(edge, edge.T)) @ (one_way - one_way.T).sum(axis=1)
    found = hodge_potential(graph, directed=True, tolerance=1e-12).value
    assert np.allclose(found, expected, rtol=0.0, atol=1e-8)


@quick
@given(undirected_graphs(), st.booleans())
def test_the_opposite_orientation_is_the_negative(graph: csr_array, directed: bool) -> None:
    graph = csr_array(np.triu(graph.toarray())) if directed else graph
    paper = hodge_potential(graph, directed=directed, orientation=Orientation.PAPER)
    opposite = hodge_potential(graph, directed=directed, orientation=Orientation.OPPOSITE)
    assert np.allclose(opposite.value, -paper.value, atol=1e-12)


def test_a_directed_path_is_climbed_one_step_per_edge() -> None:
    path = csr_array(np.diag(np.ones(3), 1))
    assert hodge_potential(path, directed=True).value == pytest.approx([-1.5, -0.5, 0.5, 1.5])


def test_the_centre_of_a_star_scores_lowest_by_the_final_formula() -> None:
    star = np.zeros((5, 5))
    star[0, 1:] = star[1:, 0] = 1.0
    score = hodge_potential(csr_array(star)).value
    assert score == pytest.approx([-0.48, 0.12, 0.12, 0.12, 0.12])


def test_edges_that_go_both_ways_cancel() -> None:
    both = csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    solution = hodge_potential(both, directed=True)
    assert solution.value.tolist() == [0.0, 0.0, 0.0]
    assert hodge_potential(both).value.any()


def test_a_directed_graph_passed_as_undirected_is_refused() -> None:
    with pytest.raises(DataError, match="directed=True"):
        hodge_potential(csr_array([[0.0, 1.0], [0.0, 0.0]]))


@quick
@given(undirected_graphs(), st.randoms(use_true_random=False))
def test_renaming_the_nodes_renames_the_scores(graph: csr_array, random: Random) -> None:
    order = list(range(graph.shape[0]))
    random.shuffle(order)
    renamed = csr_array(graph.toarray()[np.ix_(order, order)])
    assert np.allclose(hodge_potential(renamed).value, hodge_potential(graph).value[order], atol=1e-8)


def dense_end_of_a_path(length: int) -> csr_array:
    """Sixty nodes that are all joined, at the end of a path: all their flow goes through it."""
    n = 60 + length
    dense = np.zeros((n, n))
    dense[:60, :60] = 1 - np.eye(60)
    along = np.arange(59, n - 1)
    dense[along, along + 1] = dense[along + 1, along] = 1
    return csr_array(dense)


def test_a_ranking_is_made_where_rounding_does_not_allow_more() -> None:
    adjacency = dense_end_of_a_path(600)
    with pytest.raises(ConvergenceError, match="1e-10"):
        hodge_potential(adjacency)
    found = ranking_potential(adjacency)
    assert not found.converged
    assert 1e-10 < found.residual <= 1e-8
    laplacian = np.diag(adjacency.sum(axis=1)) - adjacency.toarray()
    exact = -np.linalg.pinv(laplacian) @ adjacency.sum(axis=1)
    assert np.array_equal(np.argsort(found.value[60:]), np.argsort(exact[60:]))


def test_a_ranking_that_is_too_far_off_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evergraph.hodge.potential.ENOUGH_TO_RANK", 1e-12)
    with pytest.raises(ConvergenceError, match="1e-12"):
        ranking_potential(dense_end_of_a_path(600))


def test_a_ranking_is_otherwise_the_potential_to_the_last_bit() -> None:
    adjacency = dense_end_of_a_path(20)
    assert np.array_equal(ranking_potential(adjacency).value, hodge_potential(adjacency).value)


@quick
@given(undirected_graphs(weighted=True), st.integers(0, 99), st.sampled_from([0.0, 1e-3, 1.0, 1e12]))
def test_a_start_changes_no_solution(graph: csr_array, seed: int, size: float) -> None:
    start = size * np.random.default_rng(seed).normal(size=graph.shape[0])
    found, cold = hodge_potential(graph, start=start), hodge_potential(graph)
    assert found.converged
    np.testing.assert_allclose(
        found.value, cold.value, rtol=0, atol=1e-8 * max(1, np.abs(cold.value).max(initial=0))
    )


def test_a_solution_is_the_best_start() -> None:
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((80, 80)) < 0.1, 1)
    graph = csr_array((upper | upper.T).astype(float))
    cold = hodge_potential(graph)
    assert hodge_potential(graph, start=cold.value).iterations == 1 < cold.iterations
    assert hodge_potential(graph, start=cold.value + 5).iterations == 1  # a constant makes no difference
    assert hodge_potential(graph, start=1e9 * rng.normal(size=80)).iterations == cold.iterations + 1


def test_nodes_that_are_new_begin_at_the_mean_of_their_old_neighbours() -> None:
    dense = np.zeros((5, 5))
    for i, j in [(0, 1), (1, 2), (0, 3), (2, 3), (3, 4)]:
        dense[i, j] = dense[j, i] = 1.0
    start = grown_start(csr_array(dense), [1.0, 2.0, 5.0], [0, 1, 2])
    np.testing.assert_array_equal(start, [1.0, 2.0, 5.0, 3.0, 0.0])
    with pytest.raises(DataError, match="the score before has to be 3 real numbers"):
        grown_start(csr_array(dense), [1.0, 2.0], [0, 1, 2])
