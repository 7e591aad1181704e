"""The certified solve of the singular Laplacian system."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, csr_matrix, diags_array

from evergraph.errors import ConfigError, ConvergenceError
from evergraph.hodge.cg import Apply, Iterate, Precondition, jacobi, refine
from evergraph.hodge.checks import Vector, as_node_weights, as_undirected, as_vector
from evergraph.hodge.components import Components, components_of

NOISE = 1e-13
"""A right side whose projection is smaller than this fraction of it counts as zero."""


class Preconditioner(Enum):
    """How the conjugate gradients are preconditioned."""

    JACOBI = "jacobi"
    MULTIGRID = "multigrid"


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution (n,) with its certificate: the true relative residual, iterations, and whether it was met."""

    value: Vector
    residual: float
    iterations: int
    converged: bool


def solve_laplacian(
    adjacency: csr_array,
    rhs: ArrayLike,
    *,
    node_weights: ArrayLike | None = None,
    start: ArrayLike | None = None,
    preconditioner: Preconditioner = Preconditioner.JACOBI,
    tolerance: float = 1e-10,
    max_iterations: int = 10_000,
    must_converge: bool = True,
) -> Solution:
    """Return the minimum-norm least-squares solution x = Δ₀† b, Δ₀ = diag(w)⁻¹ (D - A); b and x are (n,).

    On every connected component the w-weighted mean of b is removed, which projects it onto the range of Δ₀, and
    x has w-weighted mean zero; least squares and norm are those of <s, t> = sum_i w_i s_i t_i. The residual is
    the largest over the components of |b - Δ₀ x| / |b| with b projected. Where it stays above the tolerance, a
    ConvergenceError is raised, or with must_converge=False the unconverged solution is returned. start: (n,), where
    to begin, such as the solution before the graph grew; it changes the iterations, not what is certified.
    """
    return solve_checked(
        as_undirected(adjacency),
        rhs,
        node_weights=node_weights,
        start=start,
        preconditioner=preconditioner,
        tolerance=tolerance,
        max_iterations=max_iterations,
        must_converge=must_converge,
    )


def solve_checked(
    graph: csr_array,
    rhs: ArrayLike,
    *,
    node_weights: ArrayLike | None = None,
    start: ArrayLike | None = None,
    preconditioner: Preconditioner,
    tolerance: float,
    max_iterations: int,
    must_converge: bool,
) -> Solution:
    """`solve_laplacian` of an adjacency that has been checked already."""
    check_limits(tolerance, max_iterations)
    right = as_vector(rhs, graph.shape[0], "the right-hand side")
    root = np.sqrt(as_node_weights(node_weights, graph.shape[0]))
    # Rows by falling degree: the inner loop of the product then has the length of the row before, which the
    # processor predicts; a product with ogbn-arxiv takes about 0.6 of its time in the original order.
    order = np.argsort(-np.diff(graph.indptr), kind="stable")
    system = _System.of(graph, root, order)
    components = Components(components_of(graph, root).label[order], root[order])
    first = np.zeros_like(right) if start is None else as_vector(start, graph.shape[0], "the start")
    scaled, residual, iterations = _solve(
        system, components, (root * right)[order], (root * first)[order], preconditioner, tolerance, max_iterations
    )
    value = np.empty_like(right)
    value[order] = scaled / components.null
    return certify(Solution(value, residual, iterations, residual <= tolerance), tolerance, must_converge)


def check_limits(tolerance: float, max_iterations: int) -> None:
    """Raise a ConfigError unless 0 < tolerance < 1 and max_iterations >= 1."""
    if not 0.0 < tolerance < 1.0:
        raise ConfigError(f"tolerance has to lie between 0 and 1, got {tolerance} instead; 1e-10 is the default")
    if max_iterations < 1:
        raise ConfigError(f"max_iterations has to be at least 1, got {max_iterations} instead; raise it")


def certify(solution: Solution, tolerance: float, must_converge: bool) -> Solution:
    """Return the solution, or raise a ConvergenceError if it had to converge and did not."""
    if must_converge and not solution.converged:
        raise ConvergenceError(
            f"the solver has to reach a relative residual of {tolerance:g}, got {solution.residual:.3g} instead "
            f"after {solution.iterations} iterations; raise max_iterations or the tolerance, "
            "and use preconditioner=Preconditioner.MULTIGRID on a mesh-like graph"
        )
    return solution


@dataclass(frozen=True, eq=False)
class _System:
    """R⁻¹ (D - A) R⁻¹ with R = diag(root), Δ₀ in the variables R x, where its inner product is Euclidean.

    diagonal: (n,); others: the entries off the diagonal (n, n), with unsorted columns, which a product permits.
    Both in one matrix would have to be merged entry by entry, which takes as long as six products.
    """

    diagonal: Vector
    others: csr_array

    @classmethod
    def of(cls, graph: csr_array, root: Vector, order: NDArray[np.intp]) -> "_System":
        """The system of an adjacency without self-loops, rows and columns in the given order."""
        inverse = diags_array(1.0 / root)
        scaled = graph if np.all(root == 1.0) else csr_array(inverse @ graph @ inverse)
        rank = np.empty(len(order), dtype=graph.indices.dtype)
        rank[order] = np.arange(len(order))
        rows = scaled[order]
        np.negative(rows.data, out=rows.data)
        others = csr_array((rows.data, np.take(rank, rows.indices), rows.indptr), shape=graph.shape)
        return cls((graph.sum(axis=1) / root**2)[order], others)

    def __matmul__(self, vector: Vector) -> Vector:
        image: Vector = self.others @ vector
        image += self.diagonal * vector
        return image

    def matrix(self) -> csr_array:
        return csr_array(diags_array(self.diagonal) + self.others)


def _solve(
    system: _System,
    components: Components,
    rhs: Vector,
    start: Vector,
    method: Preconditioner,
    tolerance: float,
    limit: int,
) -> tuple[Vector, float, int]:
    """Return the solution, its residual and the iterations of a symmetric system in memory."""

    def find(unit: Vector, first: Vector) -> Iterate:
        with_multigrid = method is Preconditioner.MULTIGRID
        precondition = _multigrid(system.matrix(), components) if with_multigrid else jacobi(system.diagonal)
        return refine(system.__matmul__, precondition, unit, goal=tolerance, limit=limit, start=first)

    return solve_components(system.__matmul__, components, rhs, start, find)


def solve_components(
    apply: Apply, components: Components, rhs: Vector, start: Vector, find: Callable[[Vector, Vector], Iterate]
) -> tuple[Vector, float, int]:
    """Return the solution, its residual and the iterations of a symmetric system, all components in one run.

    The system is block diagonal, so each component's right side is scaled to norm 1 and its solution scaled back:
    every component's residual counts, whatever the size of its right side. find: from the scaled right side and the
    scaled start to the solution.
    """
    peak = float(np.abs(rhs).max(initial=0.0)) or 1.0
    projected = components.project(rhs / peak)
    size = components.norms(projected)
    size[size <= NOISE * components.norms(rhs / peak)] = 0.0
    factor = size[components.label]
    unit = np.divide(projected, factor, out=np.zeros_like(rhs), where=factor > 0.0)
    first = np.divide(components.project(start), factor * peak, out=np.zeros_like(rhs), where=factor > 0.0)
    if not unit.any():
        return unit, 0.0, 0
    found = find(unit, first)
    value = components.project(found.value)
    residual = components.norms(unit - apply(value)).max()
    return value * factor * peak, float(residual), found.iterations


def _multigrid(matrix: csr_array, components: Components) -> Precondition:
    """Return one V-cycle of smoothed aggregation for a singular matrix (n, n), grounded at a node per component.

    For mesh-like graphs, on which the Jacobi preconditioner converges slowly.
    """
    try:
        import pyamg
    except ImportError as error:
        raise ConfigError(
            "Preconditioner.MULTIGRID needs the package pyamg, got an environment without it instead; "
            "install it with: pip install 'evergraph[multigrid]'"
        ) from error
    regular = csr_matrix(matrix + diags_array(grounding(matrix.diagonal(), components)))
    hierarchy = pyamg.smoothed_aggregation_solver(regular, B=components.null[:, None])
    cycle = hierarchy.aspreconditioner(cycle="V")

    def run(residual: Vector, out: Vector) -> None:
        out[:] = cycle @ residual

    return run


def grounding(diagonal: Vector, components: Components) -> Vector:
    """Return what makes a singular matrix of this diagonal (n,) regular: a positive number at a node per component.

    It changes no solution: for a consistent right side the solution, and so the added term, is zero at that node.
    """
    _, grounded = np.unique(components.label, return_index=True)
    added = np.zeros_like(diagonal)
    added[grounded] = np.maximum(diagonal[grounded], 1.0)
    return added
