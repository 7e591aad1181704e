"""The paper's standardisation of a graph: four steps, each of which can be switched off."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from evergraph.config import Settings
from evergraph.data.graph import Graph
from evergraph.hodge import mapped_components
from evergraph.matrices import all_ones, plain_adjacency


class Standardisation(Settings):
    """Which steps are done; all of them in the paper."""

    undirected: bool = True
    unweighted: bool = True
    no_self_loops: bool = True
    largest_component: bool = True


def standardise(graph: Graph, steps: Standardisation | None = None) -> Graph:
    """The graph after the chosen steps, all of them by default."""
    steps = steps or Standardisation()
    adjacency = plain_adjacency(
        graph.adjacency,
        directed=not (steps.undirected and graph.directed),
        weighted=not steps.unweighted,
        self_loops=not steps.no_self_loops,
    )
    result = replace(graph, adjacency=adjacency, directed=graph.directed and not steps.undirected)
    if steps.largest_component:
        sizes = np.bincount(component := _components(adjacency))
        if len(sizes) > 1:
            result = result.subgraph(np.flatnonzero(component == sizes.argmax()))
    return result


def _components(adjacency: sparse.csr_array) -> NDArray[np.int32]:
    """The component of each node, numbered by their first nodes."""
    if isinstance(adjacency.indices, np.memmap):
        return mapped_components(adjacency)
    labels: NDArray[np.int32] = csgraph.connected_components(adjacency, directed=False)[1]
    return labels


def changes(before: Graph, after: Graph) -> tuple[str, ...]:
    """What standardisation took away that a person may have wanted, each with the switch that keeps it."""
    found = []
    if not all_ones(before.adjacency.data) and all_ones(after.adjacency.data):
        found.append("edge weights are not used (--set dataset.standardise.unweighted=false keeps them)")
    loops, left = (int(np.count_nonzero(graph.adjacency.diagonal())) for graph in (before, after))
    if loops and not left:
        found.append(f"{loops:,} self-loops left out (--set dataset.standardise.no_self_loops=false keeps them)")
    lost = before.n_nodes - after.n_nodes
    if lost:
        found.append(
            f"{lost:,} of {before.n_nodes:,} nodes are outside of the largest connected component and left out "
            "(--set dataset.standardise.largest_component=false keeps them)"
        )
    return tuple(found)
