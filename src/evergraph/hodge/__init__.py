"""Hodge theory on graphs: sparse operators, a certified Laplacian solve, potentials and decompositions."""

from evergraph.hodge.block_components import mapped_components
from evergraph.hodge.decomposition import Decomposition, hodge_decomposition
from evergraph.hodge.edges import EdgeList, edge_list, flow_from_matrix, flow_to_matrix
from evergraph.hodge.method import DEFAULT_MEMORY, Method, Solving, named_method
from evergraph.hodge.operators import curl, divergence, gradient, laplacian, signed_adjacency, underlying_graph
from evergraph.hodge.potential import Orientation, grown_start, hodge_potential, ranking_potential
from evergraph.hodge.solve import Preconditioner, Solution, solve_laplacian
from evergraph.hodge.triangles import triangles

__all__ = [
    "DEFAULT_MEMORY",
    "Decomposition",
    "EdgeList",
    "Method",
    "Orientation",
    "Preconditioner",
    "Solution",
    "Solving",
    "curl",
    "divergence",
    "edge_list",
    "flow_from_matrix",
    "flow_to_matrix",
    "gradient",
    "grown_start",
    "hodge_decomposition",
    "hodge_potential",
    "laplacian",
    "mapped_components",
    "named_method",
    "ranking_potential",
    "signed_adjacency",
    "solve_laplacian",
    "triangles",
    "underlying_graph",
]
