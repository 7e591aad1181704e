"""The Hodge potential score of the paper."""

from enum import Enum

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from evergraph.errors import ConfigError
from evergraph.hodge.block_potential import Find, block_potential, find_in_blocks
from evergraph.hodge.checks import Vector, as_graph, as_undirected, as_vector
from evergraph.hodge.method import DEFAULT_MEMORY, Method, chosen_method
from evergraph.hodge.operators import signed_adjacency, underlying_graph
from evergraph.hodge.solve import Preconditioner, Solution, certify, check_limits, solve_checked


class Orientation(Enum):
    """The sign of the score Δ₀† Ā 1.

    The paper defines δ as the negative divergence and then uses it as the divergence, so both signs have support
    in it. PAPER is its final formula. On a directed graph it is also the least-squares potential with
    s_j - s_i = 1 for each edge i -> j: heads rank above tails.
    """

    PAPER = "paper"
    OPPOSITE = "opposite"

    @property
    def sign(self) -> float:
        """-1 for PAPER, 1 for OPPOSITE."""
        return -1.0 if self is Orientation.PAPER else 1.0


def hodge_potential(
    adjacency: csr_array,
    *,
    directed: bool = False,
    orientation: Orientation = Orientation.PAPER,
    start: ArrayLike | None = None,
    preconditioner: Preconditioner = Preconditioner.JACOBI,
    method: Method | str | None = None,
    memory: int = DEFAULT_MEMORY,
    ranks: int | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 10_000,
    must_converge: bool = True,
) -> Solution:
    """Return the score S = -Δ₀† div Ā of every node, Δ₀ = D - A and (div Ā)(i) = sum_j w_ij Ā_ij; (n,).

    Undirected, A is symmetric and div Ā = A 1, the (weighted) degrees. Directed, D - A belongs to the underlying
    undirected graph, and div Ā counts the one-way edges out of a node minus those into it; edges that go both
    ways cancel, so a symmetric adjacency passed as directed has score zero. start: where the solve begins; for a
    graph that has grown, the score before (`grown_start`).

    method: without one, BLOCKS for a memory-mapped adjacency of which MEMORY would need more than `memory` bytes,
    else MEMORY. memory: what BLOCKS may use besides vectors of the size of the nodes. ranks: processes of PETSC,
    two unless others are given.
    """
    chosen = chosen_method(adjacency, method, memory, directed=directed)
    if ranks is not None and chosen is not Method.PETSC:
        raise ConfigError(f"ranks goes with method=petsc, got it with method={chosen.value} instead; leave it out")
    if chosen is not Method.MEMORY:
        check_limits(tolerance, max_iterations)
        solution = block_potential(
            adjacency,
            _finder(chosen, preconditioner, ranks, tolerance, max_iterations),
            directed=directed,
            sign=orientation.sign,
            start=start,
            memory=memory,
            tolerance=tolerance,
        )
        return certify(solution, tolerance, must_converge)
    if directed:
        graph = as_undirected(underlying_graph(adjacency))
        flow = csr_array(graph.multiply(signed_adjacency(adjacency, directed=True)))
    else:
        graph = flow = as_undirected(adjacency)
    return solve_checked(
        graph,
        orientation.sign * flow.sum(axis=1).astype(np.float64),
        start=start,
        preconditioner=preconditioner,
        tolerance=tolerance,
        max_iterations=max_iterations,
        must_converge=must_converge,
    )


def _finder(
    method: Method, preconditioner: Preconditioner, ranks: int | None, tolerance: float, limit: int
) -> Find:
    if method is Method.PETSC:
        from evergraph.hodge.petsc import DEFAULT_RANKS, find_with_petsc

        return find_with_petsc(DEFAULT_RANKS if ranks is None else ranks, preconditioner, tolerance, limit)
    if preconditioner is not Preconditioner.JACOBI:
        raise ConfigError(
            f"method={method.value} takes the preconditioner jacobi, got {preconditioner.value} instead; "
            "use method=memory or method=petsc"
        )
    return find_in_blocks(tolerance, limit)


def grown_start(adjacency: csr_array, before: ArrayLike, rows: ArrayLike) -> Vector:
    """A start for a graph that has grown: (n,), the score that the nodes at `rows` had before.

    A new node gets the mean of its old neighbours (those in its row), 0 where it has none.
    """
    graph, old = as_graph(adjacency), np.asarray(rows, dtype=np.int64)
    known, start = np.zeros(graph.shape[0]), np.zeros(graph.shape[0])
    known[old], start[old] = 1.0, as_vector(before, len(old), "the score before")
    new = np.flatnonzero(known == 0.0)
    links = graph[new]
    total, count = links @ start, links @ known
    start[new] = np.divide(total, count, out=np.zeros_like(total), where=count > 0.0)
    return start


ENOUGH_TO_RANK = 1e-8
"""The relative residual up to which a potential may be used to rank nodes."""


def ranking_potential(
    adjacency: csr_array,
    *,
    directed: bool = False,
    orientation: Orientation = Orientation.PAPER,
    method: Method | str | None = None,
    memory: int = DEFAULT_MEMORY,
    ranks: int | None = None,
) -> Solution:
    """The potential as exactly as it can be had: where float64 cannot reach 1e-10, at least ENOUGH_TO_RANK.

    Potentials that are large beside the degrees (long trees behind single edges) have rounding errors above 1e-10.
    """
    solution = hodge_potential(
        adjacency,
        directed=directed,
        orientation=orientation,
        method=method,
        memory=memory,
        ranks=ranks,
        must_converge=False,
    )
    return solution if solution.residual <= ENOUGH_TO_RANK else certify(solution, ENOUGH_TO_RANK, True)
