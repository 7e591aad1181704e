"""Preconditioned conjugate gradients for a symmetric positive semidefinite system with a consistent right side."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from evergraph.hodge.checks import Vector

Apply: TypeAlias = Callable[[Vector], Vector]
"""x -> A x, as a new array."""
Precondition: TypeAlias = Callable[[Vector, Vector], object]
"""(r, out): write M r into out."""


class Iterate(NamedTuple):
    """Where an iteration stopped: the vector (n,) and the number of products with the matrix it took."""

    value: Vector
    iterations: int


def jacobi(diagonal: Vector) -> Precondition:
    """Return the preconditioner r -> r / diagonal, and zero where the diagonal is zero."""
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0.0)

    def divide(residual: Vector, out: Vector) -> None:
        np.multiply(residual, inverse, out=out)

    return divide


def refine(apply: Apply, precondition: Precondition, rhs: Vector, *, goal: float, limit: int) -> Iterate:
    """Solve A x = rhs until the true residual satisfies |rhs - A x| <= goal, or as far as it goes.

    The recurrence of conjugate gradients drifts away from the true residual, so it is recomputed where they say
    to stop, and the iteration starts again from there for as long as that at least halves it.
    """
    value, residual, iterations = np.zeros_like(rhs), rhs, 0
    norm = _dot(rhs, rhs) ** 0.5
    while norm > goal and iterations < limit:
        step = conjugate_gradients(apply, precondition, residual, goal=goal / 2, limit=limit - iterations)
        candidate = value + step.value
        iterations += step.iterations
        residual = rhs - apply(candidate)
        previous, norm = norm, _dot(residual, residual) ** 0.5
        if norm < previous:
            value = candidate
        if not norm <= previous / 2:
            break
    return Iterate(value, iterations)


def conjugate_gradients(
    apply: Apply, precondition: Precondition, rhs: Vector, *, goal: float, limit: int
) -> Iterate:
    """Iterate on A x = rhs from x = 0 until the recurred residual is at most the goal.

    One product with A and ten passes over vectors per iteration, on buffers made once. The passes are numpy's own
    loops: BLAS would start threads for vectors this long, which costs more than it saves where cores are shared.
    On a singular A the null part of the search direction does no harm: A p does not see it.
    """
    value, residual = np.zeros_like(rhs), rhs.copy()
    direction, spare = np.empty_like(rhs), np.empty_like(rhs)
    precondition(residual, direction)
    rho = _dot(residual, direction)
    for iteration in range(1, limit + 1):
        image = apply(direction)
        curvature = _dot(direction, image)
        if not curvature > 0.0:
            return Iterate(value, iteration)
        alpha = rho / curvature
        value += np.multiply(direction, alpha, out=spare)
        residual -= np.multiply(image, alpha, out=image)
        if _dot(residual, residual) <= goal * goal:
            return Iterate(value, iteration)
        precondition(residual, spare)
        rho, previous = _dot(residual, spare), rho
        direction *= rho / previous
        direction += spare
    return Iterate(value, limit)


def _dot(left: Vector, right: Vector) -> float:
    """Return the inner product of two vectors (n,) without BLAS."""
    return float(np.einsum("i,i->", left, right))
