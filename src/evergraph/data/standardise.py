"""The paper's standardisation of a graph: four steps, each of which can be switched off."""

from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from evergraph.config import Settings
from evergraph.data.graph import Graph
from evergraph.data.on_disk import DiskAdjacency, count_loops, has_weights, in_csr, is_on_disk
from evergraph.errors import DataError
from evergraph.hodge import mapped_components
from evergraph.matrices import plain_adjacency


class Standardisation(Settings):
    """Which steps are done; all of them in the paper."""

    undirected: bool = True
    """An edge counts in both directions."""
    unweighted: bool = True
    """Every edge has weight 1."""
    no_self_loops: bool = True
    """Edges from a node to itself are left out."""
    largest_component: bool = True
    """Only the largest connected component is kept."""


def standardise(graph: Graph, steps: Standardisation | None = None) -> Graph:
    """The graph after the chosen steps, all of them by default."""
    steps = steps or Standardisation()
    if is_on_disk(graph):
        return _on_disk(graph, steps)
    adjacency = plain_adjacency(
        graph.adjacency,
        directed=not (steps.undirected and graph.directed),
        weighted=not steps.unweighted,
        self_loops=not steps.no_self_loops,
    )
    result = replace(graph, adjacency=adjacency, directed=graph.directed and not steps.undirected)
    if steps.largest_component:
        result = _largest(result, _components(adjacency))
    return result


def _on_disk(graph: Graph, steps: Standardisation) -> Graph:
    """The same steps on a graph that is read in blocks: what is left out is left out whenever it is read."""
    if steps.undirected and graph.directed:
        raise DataError(
            f"a graph on disk is made undirected when it is converted, got {graph.name} with directions instead; "
            "convert its tables with --set dataset.options.directed=false"
        )
    before: object = graph.adjacency
    assert isinstance(before, DiskAdjacency)
    weighted = not steps.unweighted and has_weights(graph.adjacency)
    loops = not steps.no_self_loops or not count_loops(graph)
    adjacency = before.counting(before.nodes, weighted=weighted, loops=loops)
    result = replace(graph, adjacency=cast("sparse.csr_array", adjacency))
    return _largest(result, mapped_components(in_csr(graph.adjacency))) if steps.largest_component else result


def _largest(graph: Graph, component: NDArray[np.int32]) -> Graph:
    """A graph without what is outside of its largest component."""
    sizes = np.bincount(component)
    if len(sizes) == 1:
        return graph
    nodes = np.flatnonzero(component == sizes.argmax())
    names = None if graph.node_names is None else graph.node_names[nodes]  # also those of a graph on disk
    return replace(graph.subgraph(nodes), node_names=names)


def _components(adjacency: sparse.csr_array) -> NDArray[np.int32]:
    """The component of each node, numbered by their first nodes."""
    if isinstance(adjacency.indices, np.memmap):
        return mapped_components(adjacency)
    labels: NDArray[np.int32] = csgraph.connected_components(adjacency, directed=False)[1]
    return labels


def changes(before: Graph, after: Graph) -> tuple[str, ...]:
    """What standardisation took away that a person may have wanted, each with the switch that keeps it."""
    found = []
    if has_weights(before.adjacency) and not has_weights(after.adjacency):
        found.append("edge weights are not used (--set dataset.standardise.unweighted=false keeps them)")
    loops, left = (count_loops(graph) for graph in (before, after))
    if loops and not left:
        found.append(f"{loops:,} self-loops left out (--set dataset.standardise.no_self_loops=false keeps them)")
    lost = before.n_nodes - after.n_nodes
    if lost:
        found.append(
            f"{lost:,} of {before.n_nodes:,} nodes are outside of the largest connected component and left out "
            "(--set dataset.standardise.largest_component=false keeps them)"
        )
    return tuple(found)
