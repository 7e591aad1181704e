"""Hodge theory on graphs: sparse operators, a certified Laplacian solve, potentials and decompositions."""

from evergraph.hodge.decomposition import Decomposition, hodge_decomposition
from evergraph.hodge.edges import EdgeList, edge_list, flow_from_matrix, flow_to_matrix
from evergraph.hodge.operators import curl, divergence, gradient, laplacian, signed_adjacency, underlying_graph
from evergraph.hodge.potential import Orientation, grown_start, hodge_potential, ranking_potential
from evergraph.hodge.solve import Preconditioner, Solution, solve_laplacian
from evergraph.hodge.triangles import triangles

__all__ = [
    "Decomposition",
    "EdgeList",
    "Orientation",
    "Preconditioner",
    "Solution",
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
    "ranking_potential",
    "signed_adjacency",
    "solve_laplacian",
    "triangles",
    "underlying_graph",
]
