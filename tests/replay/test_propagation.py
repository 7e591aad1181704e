"""Propagated features are those of the dense formula, for any rows; neighbourhoods those of a search."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import Graph
from evergraph.replay import propagation
from evergraph.replay.propagation import Aggregation, aggregated, neighbourhood_sizes, propagated
from helpers import tiny_graph


def dense_features(graph: Graph) -> NDArray[np.float64]:
    assert graph.features is not None
    values = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    return np.asarray(values, dtype=np.float64)


def dense_operator(graph: Graph) -> NDArray[np.float64]:
    """D^-1/2 (A + I) D^-1/2, a node receiving along its incoming edges."""
    looped = graph.adjacency.toarray().T.astype(np.float64) + np.eye(graph.n_nodes)
    return np.asarray(looped / np.sqrt(np.outer(looped.sum(axis=1), looped.sum(axis=0))))


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 99),
    hops=st.integers(0, 3),
    directed=st.booleans(),
    sparse_features=st.booleans(),
    share=st.sampled_from([0.0, 0.1, 0.4]),
)
def test_rows_are_those_of_the_dense_product(
    seed: int, hops: int, directed: bool, sparse_features: bool, share: float
) -> None:
    graph = tiny_graph(seed=seed, share=share, directed=directed, sparse_features=sparse_features)
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(graph.n_nodes, rng.integers(1, graph.n_nodes + 1), replace=False))
    expected = np.linalg.matrix_power(dense_operator(graph), hops) @ dense_features(graph)
    found = propagated(graph, rows, hops)
    assert isinstance(found, np.ndarray) is not sparse_features
    plain = found if isinstance(found, np.ndarray) else found.toarray()
    np.testing.assert_allclose(plain, expected[rows], atol=1e-5)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 99),
    how=st.sampled_from(list(Aggregation)),
    hops=st.integers(1, 3),
    alpha=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    directed=st.booleans(),
    sparse_features=st.booleans(),
)
def test_an_aggregation_is_the_dense_formula(
    seed: int, how: Aggregation, hops: int, alpha: float, directed: bool, sparse_features: bool
) -> None:
    graph = tiny_graph(seed=seed, directed=directed, sparse_features=sparse_features)
    rows = np.sort(np.random.default_rng(seed).choice(graph.n_nodes, 7, replace=False))
    operator, features = dense_operator(graph), dense_features(graph)
    powers = [np.linalg.matrix_power(operator, hop) @ features for hop in range(hops + 1)]
    if how is Aggregation.SGC:
        expected = powers[hops]
    elif how is Aggregation.SSGC:
        expected = (1 - alpha) / hops * np.sum(powers[1:], axis=0) + alpha * features
    else:
        expected = features
        for _ in range(hops):
            expected = (1 - alpha) * operator @ expected + alpha * features
    found = aggregated(graph, rows, how, hops, alpha)
    assert found.dtype == np.float32
    plain = found if isinstance(found, np.ndarray) else found.toarray()
    np.testing.assert_allclose(plain, expected[rows], atol=1e-5)


@given(how=st.sampled_from(list(Aggregation)), hops=st.integers(1, 3), alpha=st.floats(0, 1))
def test_a_node_without_neighbours_gets_its_own_features(how: Aggregation, hops: int, alpha: float) -> None:
    graph = tiny_graph(share=0)
    rows = np.array([0, 4, 5])
    np.testing.assert_allclose(
        aggregated(graph, rows, how, hops, alpha), dense_features(graph)[rows], rtol=1e-5, atol=1e-6
    )


def reached(adjacency: NDArray[np.float32], node: int, hops: int) -> int:
    """Breadth-first search against the edges."""
    seen, frontier = {node}, {node}
    for _ in range(hops):
        frontier = {int(s) for target in frontier for s in np.flatnonzero(adjacency[:, target])} - seen
        seen |= frontier
    return len(seen)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 99), hops=st.integers(1, 4), directed=st.booleans(), share=st.sampled_from([0, 0.05, 0.2])
)
def test_neighbourhoods_are_those_of_a_breadth_first_search(
    seed: int, hops: int, directed: bool, share: float
) -> None:
    graph = tiny_graph(seed=seed, share=share, directed=directed)
    rows = np.random.default_rng(seed).permutation(graph.n_nodes)[:9]
    expected = [reached(graph.adjacency.toarray(), node, hops) for node in rows.tolist()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(propagation, "BLOCK", 4)
        assert neighbourhood_sizes(graph, rows, hops).tolist() == expected


def test_a_loop_counts_no_node_twice() -> None:
    graph = replace(tiny_graph((3, 3)), adjacency=sparse.csr_array(np.eye(6, dtype=np.float32)))
    assert neighbourhood_sizes(graph, np.arange(6), 2).tolist() == [1] * 6
