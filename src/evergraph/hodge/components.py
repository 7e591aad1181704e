"""Connected components, the blocks of a singular system: sums, norms and projections on each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from evergraph.hodge.checks import Vector


@dataclass(frozen=True, eq=False)
class Components:
    """The component of each node (n,) and the null vector (n,) of the system, one block per component."""

    label: NDArray[np.int32]
    null: Vector

    def sums(self, values: Vector) -> Vector:
        """Return the sum of the values (n,) over each component (c,)."""
        return np.bincount(self.label, weights=values).astype(np.float64)

    def norms(self, values: Vector) -> Vector:
        """Return the Euclidean norm of the values (n,) on each component (c,)."""
        return np.sqrt(self.sums(values * values))

    def project(self, values: Vector) -> Vector:
        """Return values - null <null, values> / <null, null>, on each component; (n,).

        With null = 1 this removes the component means. It is done twice: one pass leaves a rounding error of the
        size of the removed mean times the machine precision.
        """
        square = self.sums(self.null * self.null)
        for _ in range(2):
            values = values - self.null * (self.sums(self.null * values) / square)[self.label]
        return values


def components_of(graph: csr_array, null: Vector) -> Components:
    """Return the components of a symmetric adjacency (n, n), whose strong and weak components coincide.

    Most graphs have one, and walking through it from the first node takes a fifth of the time of finding all.
    """
    n_nodes = graph.shape[0]
    if n_nodes and len(breadth_first_order(graph, 0, directed=True, return_predecessors=False)) == n_nodes:
        return Components(np.zeros(n_nodes, dtype=np.int32), null)
    _, label = connected_components(graph, directed=True, connection="strong")
    return Components(label, null)
