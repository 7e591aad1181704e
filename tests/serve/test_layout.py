"""Places of nodes: seeded, inside the frame, neighbours near each other; large graphs are drawn in part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from evergraph.serve.layout import MOST_EDGES, MOST_NODES, Drawing, _attraction, _repulsion, drawing, places


def adjacency(n_nodes: int, edges: list[tuple[int, int]]) -> sparse.csr_array:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    matrix = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes))
    return sparse.csr_array(matrix.tocsr())


graphs = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30))
)


@settings(max_examples=60)
@given(graphs)
def test_any_graph_is_drawn_inside_the_frame(graph: tuple[int, list[tuple[int, int]]]) -> None:
    n_nodes, edges = graph
    drawn = drawing(adjacency(n_nodes, edges))
    assert drawn.nodes.tolist() == list(range(n_nodes))
    assert drawn.places.shape == (n_nodes, 2)
    assert np.isfinite(drawn.places).all()
    assert drawn.places.min() >= -1e-9
    assert drawn.places.max() <= 1 + 1e-9
    wanted = {(min(pair), max(pair)) for pair in edges if pair[0] != pair[1]}
    assert set(map(tuple, drawn.edges.tolist())) == wanted
    assert drawn.remarks == ()
    again: Drawing = drawing(adjacency(n_nodes, edges))
    assert np.array_equal(again.places, drawn.places)


def test_forces_are_their_sums() -> None:
    x = np.random.default_rng(0).random((7, 2))
    edges = np.array([[0, 1], [1, 2], [5, 1]])
    apart = x[:, None] - x
    squares = np.square(apart).sum(axis=2) + np.eye(7)
    np.testing.assert_allclose(_repulsion(x), (apart / squares[..., None]).sum(axis=1), rtol=1e-4)
    pull = np.zeros_like(x)
    for one, other in [*edges, *edges[:, ::-1]]:
        pull[one] += np.linalg.norm(x[one] - x[other]) * (x[one] - x[other])
    np.testing.assert_allclose(_attraction(x, edges), pull)


def test_neighbours_are_near_each_other() -> None:
    cliques = [(first + one, first + other) for first in (0, 10, 20) for one in range(10) for other in range(one)]
    ends = np.array([*cliques, (9, 10), (19, 20)])
    x = places(30, ends)
    group = np.arange(30) // 10
    apart = np.linalg.norm(x[:, None] - x, axis=2)
    inside = apart[(group[:, None] == group) & ~np.eye(30, dtype=bool)].mean()
    assert inside < 0.5 * apart[group[:, None] != group].mean()


@pytest.mark.parametrize("n_nodes", [MOST_NODES + 1, 2 * MOST_NODES])
def test_of_a_large_graph_the_nodes_with_the_most_edges_are_drawn(n_nodes: int) -> None:
    hubs = [(hub, leaf) for hub in range(12) for leaf in range(12, n_nodes - 1)]
    drawn = drawing(adjacency(n_nodes, hubs))
    assert len(drawn.nodes) == MOST_NODES
    assert drawn.nodes[:12].tolist() == list(range(12))
    assert n_nodes - 1 not in drawn.nodes
    assert len(drawn.edges) == MOST_EDGES
    assert drawn.edges.max() < MOST_NODES
    assert drawn.remarks == (
        f"2,000 of {n_nodes:,} nodes are drawn, those with the most edges",
        f"8,000 of the {12 * (MOST_NODES - 12):,} edges between them are drawn",
    )
