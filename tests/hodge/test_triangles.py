import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array

from evergraph.hodge import triangles

from .graphs import from_pairs, quick, undirected_graphs


def _by_hand(graph: csr_array) -> list[list[int]]:
    linked = graph.toarray() > 0.0
    return [
        [i, j, k]
        for i, j, k in combinations(range(graph.shape[0]), 3)
        if linked[i, j] and linked[j, k] and linked[i, k]
    ]


@quick
@given(undirected_graphs())
def test_triangles_are_all_mutually_linked_triples_in_order(graph: csr_array) -> None:
    assert triangles(graph).tolist() == _by_hand(graph)


@pytest.mark.parametrize("at_once", [1, 7, 100])
def test_blocks_of_paths_lose_nothing(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(sys.modules["evergraph.hodge.triangles"], "PATHS_AT_ONCE", at_once)
    complete = from_pairs(9, list(combinations(range(9), 2)))
    assert triangles(complete).tolist() == _by_hand(complete)


def test_count_on_a_larger_graph_is_a_sixth_of_the_trace_of_the_cube() -> None:
    upper = np.triu(np.random.default_rng(3).random((150, 150)) < 0.1, 1)
    dense = (upper | upper.T).astype(np.int64)
    assert len(triangles(csr_array(dense))) == np.trace(dense @ dense @ dense) // 6


def test_a_tree_has_none() -> None:
    assert triangles(from_pairs(4, [(0, 1), (0, 2), (2, 3)])).shape == (0, 3)
