"""The Hodge potential of a graph whose entries stay in memory maps."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from evergraph.errors import DataError
from evergraph.hodge.block_components import block_components
from evergraph.hodge.block_underlying import Underlying, underlying_blocks
from evergraph.hodge.blocks import BlockedGraph, blocked, is_symmetric
from evergraph.hodge.cg import Iterate, jacobi, refine
from evergraph.hodge.checks import Vector, as_vector
from evergraph.hodge.components import Components
from evergraph.hodge.solve import Solution, solve_components

Find: TypeAlias = Callable[[BlockedGraph, Components, Vector, Vector], Iterate]
"""From a graph, its components, a right side b and a start to x with (D - A) x = b."""


def block_potential(
    adjacency: csr_array,
    find: Find,
    *,
    directed: bool,
    sign: float,
    start: ArrayLike | None,
    memory: int,
    tolerance: float,
) -> Solution:
    """Return sign Δ₀† div Ā (n,), as `hodge_potential` does, without an array of the size of the entries."""
    with _problem(adjacency, directed, memory) as (graph, divergence):
        first = np.zeros(graph.n_nodes) if start is None else as_vector(start, graph.n_nodes, "the start")
        components = Components(block_components(graph), np.ones(graph.n_nodes))
        value, residual, iterations = solve_components(
            graph.laplacian,
            components,
            sign * divergence,
            first,
            lambda right, begin: find(graph, components, right, begin),
        )
    return Solution(value, residual, iterations, residual <= tolerance)


def find_in_blocks(tolerance: float, limit: int) -> Find:
    """Conjugate gradients with the Jacobi preconditioner, products in blocks."""

    def find(graph: BlockedGraph, components: Components, unit: Vector, first: Vector) -> Iterate:
        return refine(graph.laplacian, jacobi(graph.degrees), unit, goal=tolerance, limit=limit, start=first)

    return find


@contextmanager
def _problem(adjacency: csr_array, directed: bool, memory: int) -> Iterator[tuple[BlockedGraph, Vector]]:
    """The undirected graph and the divergence; a directed graph's is in temporary files."""
    graph = blocked(adjacency, memory)
    if not directed:
        if not is_symmetric(graph):
            raise DataError(
                "the adjacency of an undirected graph has to be symmetric, got an asymmetric one instead; "
                "pass directed=True where the function takes it, or make it undirected with underlying_graph"
            )
        yield graph, graph.degrees
        return
    with TemporaryDirectory(prefix="evergraph-") as folder:
        made: Underlying = underlying_blocks(graph, Path(folder))
        yield made.graph, made.divergence
