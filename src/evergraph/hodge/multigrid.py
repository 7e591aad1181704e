"""Algebraic multigrid as a preconditioner, for mesh-like graphs on which Jacobi converges slowly."""

import numpy as np
from scipy.sparse import csr_array, csr_matrix, diags_array

from evergraph.errors import ConfigError
from evergraph.hodge.cg import Precondition
from evergraph.hodge.checks import Vector
from evergraph.hodge.components import Components


def multigrid(matrix: csr_array, components: Components) -> Precondition:
    """Return one V-cycle of smoothed aggregation for a singular matrix (n, n), grounded at a node per component.

    Grounding adds a positive number to one diagonal entry per component, which makes the matrix regular. It
    changes no solution: for a consistent right side the solution, and so the added term, is zero at that node.
    """
    try:
        import pyamg
    except ImportError as error:
        raise ConfigError(
            "Preconditioner.MULTIGRID needs the package pyamg, got an environment without it instead; "
            "install it with: pip install 'evergraph[multigrid]'"
        ) from error
    _, grounded = np.unique(components.label, return_index=True)
    added = np.zeros(matrix.shape[0])
    added[grounded] = np.maximum(matrix.diagonal()[grounded], 1.0)
    regular = csr_matrix(matrix + diags_array(added))
    hierarchy = pyamg.smoothed_aggregation_solver(regular, B=components.null[:, None])
    cycle = hierarchy.aspreconditioner(cycle="V")

    def run(residual: Vector, out: Vector) -> None:
        out[:] = cycle @ residual

    return run
