"""Preconditioned conjugate gradients for a symmetric positive semidefinite system with a consistent right side."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from evergraph.hodge.checks import Vector

Apply: TypeAlias = Callable[[Vector], Vector]
"""x -> A x, as a new array."""
Precondition: TypeAlias = Callable[[Vector, Vector], object]
"""(r, out): write M r into out."""

PIECE = 8192
"""Numbers of an inner product at a time; for more than 10,000 OpenBLAS starts threads."""


class Iterate(NamedTuple):
    """The last vector (n,) of an iteration, and its number of products with the matrix."""

    value: Vector
    iterations: int


def jacobi(diagonal: Vector) -> Precondition:
    """Return the preconditioner r -> r / diagonal, and zero where the diagonal is zero."""
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0.0)
    return partial(np.multiply, inverse)


def refine(
    apply: Apply, precondition: Precondition, rhs: Vector, *, goal: float, limit: int, start: Vector | None = None
) -> Iterate:
    """Solve A x = rhs until the true residual |rhs - A x| is at most the goal, or no longer halves.

    The recurred residual of conjugate gradients drifts from the true one, which is recomputed at every stop; the
    iteration restarts from there as long as each restart at least halves it. A start that is no better than zero is
    not used.
    """
    value, residual, iterations = np.zeros_like(rhs), rhs, 0
    norm = _dot(rhs, rhs) ** 0.5
    if start is not None and start.any():
        nearer, iterations = rhs - apply(start), 1
        if _dot(nearer, nearer) < _dot(rhs, rhs):
            value, residual, norm = start, nearer, _dot(nearer, nearer) ** 0.5
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

    One product with A and ten passes over vectors per iteration, without allocation. No pass starts threads, as
    BLAS would for long vectors, which costs more than it saves where cores are shared. On a singular A the null
    part of the search direction p is harmless, since it vanishes in A p.
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
    """Return the inner product of two vectors (n,), by BLAS in pieces for which it starts no threads."""
    if len(left) <= PIECE:
        return float(np.dot(left, right))
    pieces = (slice(start, start + PIECE) for start in range(0, len(left), PIECE))
    return float(sum(np.dot(left[piece], right[piece]) for piece in pieces))
