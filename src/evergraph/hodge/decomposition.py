"""The Hodge decomposition of an edge flow into its gradient, curl and harmonic parts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from evergraph.hodge.cg import jacobi, refine
from evergraph.hodge.checks import Vector, as_undirected, as_vector
from evergraph.hodge.edges import edges_of
from evergraph.hodge.operators import curl_of, gradient_of
from evergraph.hodge.solve import Preconditioner, Solution, certify, check_limits, solve_laplacian


@dataclass(frozen=True, eq=False)
class Decomposition:
    """flow = gradient + curl + harmonic (m,), orthogonal in <X, Y> = sum_{i<j} w_ij X_ij Y_ij."""

    gradient: Vector
    """grad(potential)."""
    curl: Vector
    """curl*(circulation)."""
    harmonic: Vector
    """The rest, with neither divergence nor curl."""
    potential: Solution
    """(n,), of mean zero on each component."""
    circulation: Solution
    """(t,), on the triangles."""


def hodge_decomposition(
    adjacency: csr_array,
    edge_flow: ArrayLike,
    *,
    preconditioner: Preconditioner = Preconditioner.JACOBI,
    tolerance: float = 1e-10,
    max_iterations: int = 10_000,
) -> Decomposition:
    """Split an edge flow X (m,), in the order of `edge_list`, by two least-squares problems.

    The potential minimises |X - grad s|, so Δ₀ s = -div X; the circulation minimises |X - curl* c|, so
    curl curl* c = curl X with curl* = diag(w)⁻¹ curlᵀ. What is left is harmonic.
    """
    graph = as_undirected(adjacency)
    edges = edges_of(graph)
    flow = as_vector(edge_flow, len(edges), "the edge flow")
    grad = gradient_of(edges)
    potential = solve_laplacian(
        graph,
        grad.T @ (edges.weight * flow),
        preconditioner=preconditioner,
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    rotation = curl_of(graph)
    circulation = _circulation(rotation, edges.weight, flow, tolerance, max_iterations)
    gradient_part = grad @ potential.value
    curl_part = (rotation.T @ circulation.value) / edges.weight
    return Decomposition(gradient_part, curl_part, flow - gradient_part - curl_part, potential, circulation)


def _circulation(rotation: csr_array, weight: Vector, flow: Vector, tolerance: float, limit: int) -> Solution:
    """Solve curl curl* c = curl X for c (t,), with the residual relative to ||curl| |X||.

    That is the size of the terms of curl X. For a flow that is nearly a gradient, curl X itself is a rounding
    error outside the range of the matrix, and no solver could reach a residual relative to it.
    """
    check_limits(tolerance, limit)
    transposed = csr_array(rotation.T)

    def apply(circulation: Vector) -> Vector:
        return np.asarray(rotation @ ((transposed @ circulation) / weight))

    size = float(np.linalg.norm(abs(rotation) @ np.abs(flow))) or 1.0
    rhs = (rotation @ flow) / size
    diagonal = abs(rotation) @ (1.0 / weight)
    found = refine(apply, jacobi(diagonal), rhs, goal=tolerance, limit=limit)
    residual = float(np.linalg.norm(rhs - apply(found.value)))
    solution = Solution(found.value * size, residual, found.iterations, residual <= tolerance)
    return certify(solution, tolerance, must_converge=True)
