import numpy as np
import pytest
from hypothesis import given

from evergraph.hodge import laplacian
from evergraph.hodge.cg import conjugate_gradients, jacobi, refine
from evergraph.hodge.checks import Vector

from .graphs import from_pairs, quick, vectors


@quick
@given(vectors(6))
def test_a_regular_system_is_solved(rhs: Vector) -> None:
    matrix = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) + 0.1
    found = refine(lambda x: matrix @ x, jacobi(np.diag(matrix).copy()), rhs, goal=1e-11, limit=100)
    assert np.allclose(found.value, np.linalg.solve(matrix, rhs), atol=1e-10)


@pytest.mark.parametrize("limit", [1, 7])
def test_the_limit_is_used_up_and_kept(limit: int) -> None:
    path = laplacian(from_pairs(50, [(i, i + 1) for i in range(49)]))
    calls: list[int] = []

    def counted(x: Vector) -> Vector:
        calls.append(1)
        return np.asarray(path @ x)

    rhs = np.linspace(-1.0, 1.0, 50)
    found = conjugate_gradients(counted, jacobi(path.diagonal()), rhs, goal=1e-12, limit=limit)
    assert found.iterations == len(calls) == limit
    assert found.value.any()


def test_each_iteration_makes_one_product() -> None:
    path = laplacian(from_pairs(30, [(i, i + 1) for i in range(29)]))
    calls: list[int] = []

    def counted(x: Vector) -> Vector:
        calls.append(1)
        return np.asarray(path @ x)

    rhs = np.linspace(-1.0, 1.0, 30)
    found = conjugate_gradients(counted, jacobi(path.diagonal()), rhs, goal=1e-10, limit=100)
    assert len(calls) == found.iterations > 1
    assert np.linalg.norm(path @ found.value - rhs) < 1e-9


@pytest.mark.parametrize("drift", [1e-3, 1e-6])
def test_restarts_mend_a_product_that_drifts(drift: float) -> None:
    matrix = np.diag(np.linspace(1.0, 50.0, 40))
    wrong = iter([True] * 10)

    def drifting(x: Vector) -> Vector:
        return np.asarray(matrix @ x) * (1.0 + (drift if next(wrong, False) else 0.0))

    rhs = np.ones(40)
    found = refine(drifting, jacobi(np.ones(40)), rhs, goal=1e-9, limit=1000)
    assert np.linalg.norm(rhs - matrix @ found.value) <= 1e-9


def test_a_right_side_as_small_as_the_goal_is_solved_by_zero() -> None:
    found = refine(lambda x: x, jacobi(np.ones(2)), np.array([3.0, 4.0]), goal=5.0, limit=10)
    assert found.iterations == 0
    assert found.value.tolist() == [0.0, 0.0]


def test_a_hopeless_system_stops_long_before_the_limit() -> None:
    matrix = np.diag([1.0, 0.0])
    found = refine(lambda x: matrix @ x, jacobi(np.diag(matrix).copy()), np.ones(2), goal=1e-9, limit=10**6)
    assert found.iterations < 20
    assert found.value == pytest.approx([1.0, 0.0])


def test_jacobi_leaves_zero_where_the_diagonal_is_zero() -> None:
    out = np.empty(2)
    jacobi(np.array([4.0, 0.0]))(np.array([2.0, 2.0]), out)
    assert out.tolist() == [0.5, 0.0]
