"""Anchors: a choice of nodes that depends on no order, known again by their features."""

import numpy as np

from evergraph.methods.anchors import Anchors
from evergraph.methods.hop_features import fingerprints
from helpers import assert_same_bits, tiny_graph

GRAPH = tiny_graph((20, 20), width=60)
HASHES = fingerprints(GRAPH)


def anchors_of(*batches: np.ndarray, limit: int = 5) -> Anchors:
    anchors = Anchors(limit)
    for nodes in batches:
        anchors.add(HASHES[nodes], GRAPH.labels[nodes])
    return anchors


def test_they_depend_on_no_order() -> None:
    order = np.random.default_rng(0).permutation(40)
    whole = anchors_of(np.arange(40))
    assert np.bincount(whole.labels).tolist() == [5, 5]
    assert_same_bits(anchors_of(*np.array_split(order, 7)).state(), whole.state())
    one, other = anchors_of(order[:15]), anchors_of(order[15:])
    one.merge(other)
    assert_same_bits(one.state(), whole.state())


def test_they_are_found_in_another_graph_with_their_labels() -> None:
    anchors = anchors_of(np.arange(40))
    nodes = np.arange(39, 9, -1)
    rows, labels = anchors.find(fingerprints(GRAPH.subgraph(nodes)))
    assert 0 < len(rows) < 10
    assert np.array_equal(labels, GRAPH.labels[nodes[rows]])
    assert set(HASHES[nodes[rows]]) == set(anchors.hashes) & set(HASHES[nodes])


def test_nodes_with_equal_features_are_not_told_apart_and_left_out() -> None:
    anchors = anchors_of(np.arange(40), limit=40)
    doubled = GRAPH.subgraph(np.arange(40))
    assert doubled.features is not None
    doubled.features[3] = doubled.features[4]
    rows, _ = anchors.find(fingerprints(doubled))
    assert len(rows) == 38
    assert not {3, 4} & set(rows.tolist())


def test_a_graph_is_known_again_where_more_anchors_are_found_than_missing() -> None:
    anchors = anchors_of(np.arange(40), limit=40)
    assert anchors.again(HASHES)
    assert anchors.again(HASHES[:21])
    assert not anchors.again(HASHES[:20])
    assert not anchors.again(np.arange(40, dtype=np.uint64))
    assert not Anchors(5).again(HASHES)


def test_features_that_nodes_share_do_not_count_against_a_graph() -> None:
    anchors = anchors_of(np.arange(40), limit=40)
    shared = np.concatenate([HASHES, HASHES[2:]])
    assert len(anchors.find(shared)[0]) == 2
    assert anchors.again(shared)
    assert not anchors.again(shared[2:])


def test_dropped_nodes_are_gone_and_bytes_are_counted() -> None:
    anchors = anchors_of(np.arange(40))
    anchors.remove(anchors.hashes[:3])
    assert len(anchors.hashes) == len(anchors.labels) == 7
    assert anchors.memory().bytes == sum(value.numpy().nbytes for value in anchors.state().values()) == 7 * 12
    assert len(Anchors(5).find(fingerprints(GRAPH))[0]) == 0
