"""Stored neighbours: from the right hop, within budget, by degree or uniformly."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from evergraph.data.graph import GlobalIds, LocalIds, make_graph
from evergraph.data.stream import TaskView
from evergraph.replay.neighbours import NeighbourStorage, neighbour_budget, sample_neighbours
from helpers import tiny_graph


def test_neighbours_are_new_within_budget_and_from_the_next_hop() -> None:
    graph = tiny_graph((10, 10, 10, 10), share=0.1)
    dense = graph.adjacency.toarray() > 0
    centres = np.array([3, 7, 20])
    for how in (NeighbourStorage.RANDOM, NeighbourStorage.DEGREE):
        extra = sample_neighbours(graph, centres, how, 2, 2, np.random.default_rng(0))
        first, second = extra[:2], extra[2:]
        assert len(extra) <= 4
        assert len(set(extra) | set(centres)) == len(extra) + len(centres)
        assert dense[centres][:, first].any(axis=0).all()
        assert dense[first][:, second].any(axis=0).all()


def test_none_stores_none_and_a_large_budget_stores_all() -> None:
    graph = tiny_graph()
    centres = np.array([3])
    rng = np.random.default_rng(0)
    assert len(sample_neighbours(graph, centres, NeighbourStorage.NONE, 9, 1, rng)) == 0
    every = sample_neighbours(graph, centres, NeighbourStorage.RANDOM, 99, 1, rng)
    assert every.tolist() == np.flatnonzero(graph.adjacency.toarray()[3]).tolist()


def test_a_neighbour_without_edges_of_its_own_can_be_drawn() -> None:
    """Edges 0 -> 1, 0 -> 2, 0 -> 3 and 3 -> 4: all neighbours of 0 count one edge, those without any, too."""
    edges = sparse.csr_array((np.ones(4), ([0, 0, 0, 3], [1, 2, 3, 4])), shape=(5, 5))
    graph = make_graph(edges, np.ones((5, 1)), np.zeros(5, dtype=np.int64), directed=True)
    rng = np.random.default_rng(0)
    with np.errstate(all="raise"):
        drawn = [
            sample_neighbours(graph, np.array([0]), NeighbourStorage.DEGREE, 1, 1, rng)[0] for _ in range(3000)
        ]
    np.testing.assert_allclose(np.bincount(drawn) / 3000, [0, 1 / 3, 1 / 3, 1 / 3], atol=0.03)


def test_degree_prefers_hubs_in_proportion() -> None:
    """Centre 0 has the neighbours 1 (degree 1) and 2 (degree 9): the hub is drawn nine times out of ten."""
    edges = np.zeros((12, 12), dtype=np.float32)
    edges[0, 1] = edges[0, 2] = 1
    edges[2, 3:11] = 1
    edges = np.maximum(edges, edges.T)
    graph = make_graph(sparse.csr_array(edges), np.ones((12, 1)), np.zeros(12, dtype=np.int64))
    rng = np.random.default_rng(0)
    drawn = [sample_neighbours(graph, np.array([0]), NeighbourStorage.DEGREE, 1, 1, rng)[0] for _ in range(4000)]
    assert abs(np.mean(np.array(drawn) == 2) - 0.9) < 0.02


@pytest.mark.parametrize(("centres", "wanted"), [(0, 0), (1, 3), (5, 15), (4, 12)])
def test_where_classes_come_back_neighbours_are_in_proportion_to_the_centres(centres: int, wanted: int) -> None:
    """Of 60 for each class of 20 centres; else they are those of all classes of the task."""
    graph = tiny_graph()
    nodes = np.arange(graph.n_nodes)
    view = TaskView(0, (0, 1, 2, 3), graph, GlobalIds(nodes), LocalIds(nodes), classes_return=True)
    assert neighbour_budget(view, centres, 60, 20) == wanted
    assert neighbour_budget(replace(view, classes_return=False), centres, 60, 20) == 240
