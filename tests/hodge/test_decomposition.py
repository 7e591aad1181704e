import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from evergraph.errors import ConfigError, ConvergenceError, DataError
from evergraph.hodge import Preconditioner, curl, divergence, edge_list, gradient, hodge_decomposition
from evergraph.hodge.checks import Vector

from .graphs import from_pairs, quick, undirected_graphs, vectors


@st.composite
def _flows(draw: st.DrawFn) -> tuple[csr_array, Vector]:
    graph = draw(undirected_graphs(weighted=True))
    return graph, draw(vectors(graph.nnz // 2))


@quick
@given(_flows())
def test_the_parts_sum_to_the_flow_and_are_orthogonal(drawn: tuple[csr_array, Vector]) -> None:
    graph, flow = drawn
    parts = hodge_decomposition(graph, flow)
    weight = edge_list(graph).weight
    assert np.allclose(parts.gradient + parts.curl + parts.harmonic, flow, atol=1e-12)
    bound = 1e-8 * max(1.0, float(np.sum(weight * flow**2)))
    assert abs(np.sum(weight * parts.gradient * parts.curl)) <= bound
    assert abs(np.sum(weight * parts.gradient * parts.harmonic)) <= bound
    assert abs(np.sum(weight * parts.curl * parts.harmonic)) <= bound


@quick
@given(_flows())
def test_each_part_is_of_its_kind(drawn: tuple[csr_array, Vector]) -> None:
    graph, flow = drawn
    parts = hodge_decomposition(graph, flow)
    assert np.allclose(curl(graph) @ parts.gradient, 0.0, atol=1e-9)
    assert np.allclose(divergence(graph) @ parts.curl, 0.0, atol=1e-7)
    assert np.allclose(divergence(graph) @ parts.harmonic, 0.0, atol=1e-7)
    assert np.allclose(curl(graph) @ parts.harmonic, 0.0, atol=1e-7)
    assert np.allclose(gradient(graph) @ parts.potential.value, parts.gradient, atol=1e-12)


@quick
@given(_flows())
def test_the_parts_are_the_least_squares_projections(drawn: tuple[csr_array, Vector]) -> None:
    graph, flow = drawn
    parts = hodge_decomposition(graph, flow)
    root = np.sqrt(edge_list(graph).weight)
    grad = root[:, None] * gradient(graph).toarray()
    rotation = curl(graph).toarray().T / root[:, None]
    for part, basis in ((parts.gradient, grad), (parts.curl, rotation)):
        projected = basis @ np.linalg.pinv(basis, rcond=1e-10) @ (root * flow)
        assert np.allclose(root * part, projected, atol=1e-7)


@quick
@given(st.data())
def test_a_gradient_is_all_gradient(data: st.DataObject) -> None:
    graph = data.draw(undirected_graphs(weighted=True))
    flow = gradient(graph) @ data.draw(vectors(graph.shape[0]))
    parts = hodge_decomposition(graph, flow)
    assert np.allclose(parts.gradient, flow, atol=1e-7)
    assert np.allclose(parts.curl, 0.0, atol=1e-7)


def test_a_flow_round_a_triangle_is_all_curl() -> None:
    parts = hodge_decomposition(from_pairs(3, [(0, 1), (0, 2), (1, 2)]), [1.0, -1.0, 1.0])
    assert parts.curl == pytest.approx([1.0, -1.0, 1.0])
    assert parts.gradient == pytest.approx([0.0, 0.0, 0.0])
    assert parts.circulation.value == pytest.approx([1.0])


def test_a_flow_round_a_triangle_of_unequal_weights_is_its_circulation_by_the_weights() -> None:
    """curl* c = c / w, with the sign of the edge: one heavy way round and one light way back."""
    triangle = csr_array([[0.0, 4.0, 0.25], [4.0, 0.0, 4.0], [0.25, 4.0, 0.0]])
    flow = 2.0 * np.array([1 / 4.0, -1 / 0.25, 1 / 4.0])
    parts = hodge_decomposition(triangle, flow)
    assert parts.circulation.value == pytest.approx([2.0])
    assert parts.curl == pytest.approx(flow)


def test_a_flow_round_a_square_is_all_harmonic() -> None:
    square = from_pairs(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    parts = hodge_decomposition(square, [1.0, -1.0, 1.0, 1.0])
    assert parts.harmonic == pytest.approx([1.0, -1.0, 1.0, 1.0])
    assert parts.circulation.value.shape == (0,)


def test_a_graph_without_edges_has_empty_parts() -> None:
    parts = hodge_decomposition(csr_array((3, 3)), [])
    assert parts.gradient.shape == parts.curl.shape == parts.harmonic.shape == (0,)


def test_flow_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(DataError, match="the edge flow has to be 1 real numbers"):
        hodge_decomposition(from_pairs(2, [(0, 1)]), [1.0, 2.0])


def _strip(n_nodes: int) -> csr_array:
    """Triangles side by side: the edges i, i + 1 and i, i + 2."""
    steps = [(i, i + 1) for i in range(n_nodes - 1)]
    return from_pairs(n_nodes, steps + [(i, i + 2) for i in range(n_nodes - 2)])


def test_the_tolerance_holds_for_both_parts_and_is_not_exceeded_by_far() -> None:
    flow = np.random.default_rng(0).standard_normal(_strip(60).nnz // 2)
    exact, rough = (hodge_decomposition(_strip(60), flow, tolerance=t) for t in (1e-12, 1e-2))
    for fine, coarse in ((exact.potential, rough.potential), (exact.circulation, rough.circulation)):
        assert fine.residual <= 1e-12
        assert 1e-4 < coarse.residual <= 1e-2
        assert coarse.iterations < fine.iterations


def test_a_potential_that_does_not_converge_raises() -> None:
    grid_of_squares = from_pairs(
        8, [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7), (0, 4), (1, 5), (2, 6), (3, 7)]
    )
    with pytest.raises(ConvergenceError, match="after 1 iterations"):
        hodge_decomposition(grid_of_squares, np.arange(10.0) ** 2, max_iterations=1)


def test_the_preconditioner_is_the_one_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyamg", None)
    with pytest.raises(ConfigError, match="pyamg"):
        hodge_decomposition(_strip(5), np.arange(7.0), preconditioner=Preconditioner.MULTIGRID)


def test_a_circulation_that_does_not_converge_raises() -> None:
    strip = _strip(12)
    without_divergence = curl(strip).T @ np.arange(10.0)
    with pytest.raises(ConvergenceError, match="after 2 iterations"):
        hodge_decomposition(strip, without_divergence, max_iterations=2)
    parts = hodge_decomposition(strip, without_divergence)
    assert parts.potential.iterations == 0
    assert parts.circulation.iterations > 2
