import sys
from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import block_diag, csr_array

from evergraph.errors import ConfigError, ConvergenceError
from evergraph.hodge import (
    Preconditioner,
    hodge_decomposition,
    hodge_potential,
    laplacian,
    solve_laplacian,
)

from .graphs import from_pairs, grid, positive, quick, undirected_graphs, vectors


def _path(n_nodes: int) -> csr_array:
    return from_pairs(n_nodes, [(i, i + 1) for i in range(n_nodes - 1)])


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_agrees_with_the_dense_pseudo_inverse(data: st.DataObject) -> None:
    graph = data.draw(undirected_graphs())
    rhs = data.draw(vectors(graph.shape[0]))
    solution = solve_laplacian(graph, rhs)
    exact = np.linalg.pinv(laplacian(graph).toarray()) @ rhs
    assert np.allclose(solution.value, exact, rtol=0.0, atol=1e-8)
    assert solution.converged


@quick
@given(st.data())
def test_agrees_with_the_weighted_pseudo_inverse(data: st.DataObject) -> None:
    graph = data.draw(undirected_graphs(weighted=True))
    rhs, weights = data.draw(vectors(graph.shape[0])), data.draw(positive(graph.shape[0]))
    solution = solve_laplacian(graph, rhs, node_weights=weights, tolerance=1e-12)
    root = np.sqrt(weights)
    symmetric = laplacian(graph).toarray() / np.outer(root, root)
    exact = np.linalg.pinv(symmetric, rcond=1e-10) @ (root * rhs) / root
    assert np.allclose(solution.value, exact, rtol=0.0, atol=1e-8)


def test_node_weights_count_where_some_of_them_are_one() -> None:
    """Two nodes of weights 1 and 3: Δ₀ = [[1, -1], [-1/3, 1/3]] and x of weighted mean zero."""
    value = solve_laplacian(_path(2), [3.0, -1.0], node_weights=[1.0, 3.0]).value
    assert value == pytest.approx([2.25, -0.75])


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_multigrid_agrees_with_the_dense_pseudo_inverse(data: st.DataObject) -> None:
    pytest.importorskip("pyamg")
    graph = data.draw(undirected_graphs())
    rhs = data.draw(vectors(graph.shape[0]))
    solution = solve_laplacian(graph, rhs, preconditioner=Preconditioner.MULTIGRID)
    exact = np.linalg.pinv(laplacian(graph).toarray()) @ rhs
    assert np.allclose(solution.value, exact, rtol=0.0, atol=1e-8)


@quick
@given(st.data())
def test_the_residual_is_the_true_one_of_the_worst_component(data: st.DataObject) -> None:
    sides = data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=4))
    graph = csr_array(block_diag([grid(side) for side in sides]))
    label = np.repeat(np.arange(len(sides)), np.square(sides))
    seed = data.draw(st.integers(0, 2**32 - 1))
    rhs = np.random.default_rng(seed).standard_normal(len(label)) * 10.0 ** (3 * label)
    solution = solve_laplacian(graph, rhs, tolerance=1e-6)
    worst = 0.0
    for component in range(len(sides)):
        inside = label == component
        right = rhs[inside] - rhs[inside].mean()
        gap = right - (laplacian(graph) @ solution.value)[inside]
        worst = max(worst, float(np.linalg.norm(gap) / np.linalg.norm(right)))
        assert abs(solution.value[inside].mean()) <= 1e-12 * np.abs(solution.value[inside]).max()
    assert worst <= 1e-6
    assert solution.residual == pytest.approx(worst, rel=1e-3, abs=1e-13)


def test_a_faint_component_is_solved_as_well_as_a_loud_one() -> None:
    graph = csr_array(block_diag([grid(6), grid(6)]))
    rhs = np.random.default_rng(0).standard_normal(72)
    rhs[36:] *= 1e-12
    value = solve_laplacian(graph, rhs).value[36:]
    exact = np.linalg.pinv(laplacian(grid(6)).toarray()) @ rhs[36:]
    assert np.allclose(value, exact, rtol=0.0, atol=1e-8 * np.abs(exact).max())


@pytest.mark.parametrize("preconditioner", list(Preconditioner))
@pytest.mark.parametrize("n_nodes", [0, 1, 5])
def test_graphs_without_edges_have_the_solution_zero(n_nodes: int, preconditioner: Preconditioner) -> None:
    solution = solve_laplacian(csr_array((n_nodes, n_nodes)), np.arange(n_nodes), preconditioner=preconditioner)
    assert solution.value.tolist() == [0.0] * n_nodes
    assert (solution.residual, solution.iterations, solution.converged) == (0.0, 0, True)


@pytest.mark.parametrize("factor", [0.1, 1e-200, 1e200])
def test_a_constant_right_side_has_the_solution_zero_and_takes_no_iteration(factor: float) -> None:
    solution = solve_laplacian(grid(7), np.full(49, factor))
    assert not solution.value.any()
    assert solution.iterations == 0


@pytest.mark.parametrize("low", [-1.0, 0.0, -2.0])
@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_the_solution_scales_with_the_right_side(factor: float, low: float) -> None:
    rhs = np.linspace(low, low + 2.0, 25)
    scaled = solve_laplacian(grid(5), rhs * factor).value / factor
    assert np.allclose(scaled, solve_laplacian(grid(5), rhs).value, rtol=1e-9)


def test_a_right_side_of_zeros_has_the_solution_zero_and_divides_by_nothing() -> None:
    with np.errstate(all="raise"):
        solution = solve_laplacian(grid(3), np.zeros(9))
    assert not solution.value.any()


def test_a_residual_equal_to_the_tolerance_has_converged() -> None:
    rhs = np.random.default_rng(0).standard_normal(200)
    stopped = solve_laplacian(_path(200), rhs, max_iterations=50, must_converge=False)
    assert not stopped.converged
    again = solve_laplacian(_path(200), rhs, max_iterations=50, tolerance=stopped.residual)
    assert again.residual == stopped.residual
    assert again.converged


def test_all_solvers_have_the_same_defaults() -> None:
    defaults = [
        {name: parameter.default for name, parameter in signature(solver).parameters.items()}
        for solver in (solve_laplacian, hodge_potential, hodge_decomposition)
    ]
    for name in ("preconditioner", "tolerance", "max_iterations"):
        assert len({solver[name] for solver in defaults}) == 1
    assert defaults[0]["must_converge"] is defaults[1]["must_converge"] is True


def test_thousands_of_components_with_isolated_nodes() -> None:
    graph = csr_array(block_diag([_path(3), csr_array((1, 1)), _path(2)] * 1000))
    rhs = np.random.default_rng(1).standard_normal(6000)
    solution = solve_laplacian(graph, rhs)
    value, right = solution.value.reshape(1000, 6), rhs.reshape(1000, 6)
    assert np.allclose(value[:, 3], 0.0)
    assert np.allclose(value[:, 5], (right[:, 5] - right[:, 4]) / 4, atol=1e-9)
    assert np.allclose(value[:, :3].sum(axis=1), 0.0, atol=1e-12)


def test_multigrid_needs_few_iterations_on_a_mesh() -> None:
    pytest.importorskip("pyamg")
    graph = csr_array(block_diag([grid(60), csr_array((2, 2)), grid(3)]))
    rhs = np.random.default_rng(2).standard_normal(3611)
    plain, amg = (
        solve_laplacian(graph, rhs, preconditioner=preconditioner)
        for preconditioner in (Preconditioner.JACOBI, Preconditioner.MULTIGRID)
    )
    assert amg.iterations < 30 < plain.iterations
    assert np.allclose(amg.value, plain.value, atol=1e-6)


def test_missing_pyamg_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyamg", None)
    with pytest.raises(ConfigError, match=r"evergraph\[multigrid\]"):
        solve_laplacian(_path(3), [1.0, 0.0, 0.0], preconditioner=Preconditioner.MULTIGRID)


def test_no_convergence_raises_with_advice() -> None:
    with pytest.raises(ConvergenceError, match=r"got .* instead after 5 iterations; raise .*MULTIGRID"):
        solve_laplacian(_path(200), np.arange(200), max_iterations=5)


def test_no_convergence_can_be_looked_at() -> None:
    solution = solve_laplacian(_path(200), np.arange(200), max_iterations=5, must_converge=False)
    assert not solution.converged
    assert solution.iterations == 5
    assert solution.residual > 1e-10


@pytest.mark.parametrize("tolerance", [0.0, -1.0, 1.0, float("nan")])
def test_impossible_tolerance_is_refused(tolerance: float) -> None:
    with pytest.raises(ConfigError, match="tolerance has to lie between 0 and 1"):
        solve_laplacian(_path(2), [1.0, 0.0], tolerance=tolerance)


def test_impossible_iteration_limit_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_iterations has to be at least 1, got 0 instead"):
        solve_laplacian(_path(2), [1.0, 0.0], max_iterations=0)
    assert solve_laplacian(_path(2), [1.0, 0.0], max_iterations=1).value == pytest.approx([0.25, -0.25])
