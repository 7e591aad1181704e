"""Propagated features are those of the dense formula, for any rows."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evergraph.data.graph import Graph
from evergraph.replay.propagation import propagated
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
