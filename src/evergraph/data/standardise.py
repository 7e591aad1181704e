"""The paper's standardisation of a graph: four steps, each of which can be switched off."""

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from evergraph.config import Settings
from evergraph.data.graph import Graph, csr


class Standardisation(Settings):
    """Which steps are done; all of them in the paper."""

    undirected: bool = True
    unweighted: bool = True
    no_self_loops: bool = True
    largest_component: bool = True


def standardise(graph: Graph, steps: Standardisation | None = None) -> Graph:
    """The graph after the chosen steps, all of them by default."""
    steps = steps or Standardisation()
    adjacency = graph.adjacency
    if steps.undirected and graph.directed:
        adjacency = sparse.csr_array(adjacency.maximum(adjacency.T))
    if steps.no_self_loops and adjacency.diagonal().any():
        adjacency = sparse.csr_array(adjacency - sparse.diags_array(adjacency.diagonal()))
    if steps.unweighted and np.any(adjacency.data != 1):
        adjacency = csr(np.ones_like(adjacency.data), adjacency.indices, adjacency.indptr, adjacency.shape)
    result = replace(graph, adjacency=adjacency, directed=graph.directed and not steps.undirected)
    if steps.largest_component:
        count, component = csgraph.connected_components(adjacency, directed=False)
        if count > 1:
            result = result.subgraph(np.flatnonzero(component == np.bincount(component).argmax()))
    return result
