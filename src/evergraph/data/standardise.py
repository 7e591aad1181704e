"""The paper's standardisation of a graph: four steps, each of which can be switched off."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csgraph

from evergraph.config import Settings
from evergraph.data.graph import Graph
from evergraph.matrices import plain_adjacency


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
        count, component = csgraph.connected_components(adjacency, directed=False)
        if count > 1:
            result = result.subgraph(np.flatnonzero(component == np.bincount(component).argmax()))
    return result


def changes(before: Graph, after: Graph) -> tuple[str, ...]:
    """What standardisation took away that a person may have wanted, each with the switch that keeps it."""
    found = []
    weights = before.adjacency.data
    if np.any(weights != 1) and not np.any(after.adjacency.data != 1):
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
