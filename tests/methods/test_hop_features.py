"""Random features against the dense formula."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse

from evergraph.budget import Budget
from evergraph.data.graph import Graph, make_graph
from evergraph.methods import hop_features
from evergraph.methods.hop_features import STEP, TOP, HopFeatures, HopSet, beside, fingerprints, propagation
from evergraph.seeding import Purpose, numpy_generator
from helpers import tiny_graph

SETS: list[HopSet] = [(0,), (2,), (0, 1), (0, 1, 2), ((0,), (1,)), ((0, 2), (1,), (2,))]


def dense_codes(graph: Graph, hops: HopSet, width: int, seed: int) -> np.ndarray:
    adjacency = graph.adjacency.toarray().astype(np.float64)
    loops = (adjacency.T if graph.directed else adjacency) + np.eye(graph.n_nodes)
    step = loops / np.sqrt(np.outer(loops.sum(axis=1), loops.sum(axis=0)))
    features = sparse.csr_array(graph.features).toarray().astype(np.float64)
    omega = numpy_generator(seed, Purpose.PARAMETERS, 0).standard_normal((graph.n_features, 256), dtype=np.float32)
    total = np.zeros((graph.n_nodes, width))
    sums = beside(hops)
    for place, one in enumerate(sums):
        own = np.roll(omega[:, :width], -(place * width // len(sums)), axis=1)
        for hop in one:
            value = np.linalg.matrix_power(step, hop) @ features @ own
            total += value / np.linalg.norm(value, axis=1, keepdims=True)
    total *= STEP * np.sqrt(width) / np.linalg.norm(total, axis=1, keepdims=True)
    return np.clip(total, 0, TOP)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse_features", [False, True])
@pytest.mark.parametrize("late", [False, True])
def test_they_are_the_dense_formula(
    monkeypatch: pytest.MonkeyPatch, directed: bool, sparse_features: bool, late: bool
) -> None:
    monkeypatch.setattr(HopFeatures, "_cheaper_late", lambda *_: late)
    graph = tiny_graph(directed=directed, sparse_features=sparse_features)
    rows = np.array([3, 1, 8])
    codes = HopFeatures(SETS, 50, 7)(graph, rows)
    for code, hops in zip(codes, SETS, strict=True):
        assert np.abs(code - dense_codes(graph, hops, 50, 7)[rows]).max() < 0.501


def test_blocks_of_columns_change_nothing_and_another_seed_does(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = tiny_graph()
    rows = np.arange(graph.n_nodes)
    wide = HopFeatures([(1,)], 600, 0)
    assert np.array_equal(wide(graph, rows), wide(graph, rows))
    assert not np.array_equal(wide(graph, rows), HopFeatures([(1,)], 600, 1)(graph, rows))
    first, second = wide.omega(5, 0), wide.omega(5, 1)
    assert not np.allclose(first, second)


def test_a_product_in_parts_is_the_product(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = tiny_graph()
    rows = np.arange(graph.n_nodes)
    whole = HopFeatures(SETS, 16, 0)(graph, rows)
    monkeypatch.setattr(hop_features, "SMALL", 1)
    assert len(hop_features._row_parts(propagation(graph))) == hop_features.PARTS
    assert np.array_equal(HopFeatures(SETS, 16, 0)(graph, rows), whole)


def test_a_row_of_zeros_stays_zero() -> None:
    graph = make_graph(sparse.csr_array((3, 3)), np.array([[0.0, 0], [1, 0], [0, 1]]), [0, 1, 0])
    codes = HopFeatures(SETS, 16, 0)(graph, np.arange(3))
    assert not codes[:, 0].any()
    assert codes[:, 1].any()


def test_a_hop_keeps_constant_vectors_of_a_regular_graph() -> None:
    ring = sparse.csr_array(np.roll(np.eye(5), 1, axis=1) + np.roll(np.eye(5), -1, axis=1))
    step = propagation(make_graph(ring, np.ones((5, 1)), [0] * 5))
    np.testing.assert_allclose(step @ np.ones(5), 1, rtol=1e-6)


@pytest.mark.parametrize("sparse_features", [False, True])
def test_a_fingerprint_depends_on_the_own_features_alone(sparse_features: bool) -> None:
    graph = tiny_graph((30, 30), width=40, sparse_features=sparse_features)
    every = fingerprints(graph)
    nodes = np.array([5, 50, 2])
    assert np.array_equal(fingerprints(graph.subgraph(nodes)), every[nodes])
    assert len(np.unique(every)) == len(np.unique(sparse.csr_array(graph.features).toarray(), axis=0))


def test_dense_products_are_taken_where_features_are_dense() -> None:
    assert isinstance(hop_features._denser(sparse.csr_array(np.ones((4, 4)))), np.ndarray)
    assert not isinstance(hop_features._denser(sparse.csr_array(np.eye(40))), np.ndarray)


@pytest.mark.parametrize("sparse_features", [False, True])
def test_codes_of_a_row_do_not_depend_on_the_rows_beside_it(sparse_features: bool) -> None:
    """Else a node could not be subtracted from sums in another batch than the one in which it was added."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2600, 100)).astype(np.float32)
    few = sparse.csr_array(np.where(rng.random(values.shape) < 0.05, values, 0))
    near = sparse.random_array((2600, 2600), density=0.002, rng=rng, format="csr") > 0
    adjacency = sparse.csr_array((near + near.T).astype(np.float32))
    graph = make_graph(adjacency, few if sparse_features else values, np.zeros(2600, dtype=np.int64))
    map_ = HopFeatures([(0,), (0, 1, 2), ((0,), (1,), (2,))], 512, 0)
    every = map_(graph, np.arange(2600))
    for size in (1, 3, 700, 1024, 1025, 2599):
        rows = rng.permutation(2600)[:size]
        assert np.array_equal(map_(graph, rows), every[:, rows]), size
    for index in (1, 2):
        assert np.array_equal(map_.only(index)(graph, rows)[0], every[index, rows])


@pytest.mark.parametrize("width", [1, 5, 300, 700])
def test_sums_side_by_side_see_other_columns_of_the_same_map(width: int) -> None:
    map_ = HopFeatures([((0,), (1,), (2,))], width, 0)
    whole = np.concatenate([omega for _, omega in map_.blocks(4)], axis=1)
    stacked = np.concatenate([omega for _, omega in map_.stacked(4, 3)], axis=1)
    parts = np.split(stacked, 3)
    assert np.array_equal(parts[0], whole)
    for place in (1, 2):
        assert np.array_equal(parts[place], np.roll(whole, -(place * width // 3), axis=1))


@pytest.mark.parametrize("sparse_features", [False, True])
def test_fingerprints_in_blocks_are_those_at_once(sparse_features: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = tiny_graph((30, 30), width=40, sparse_features=sparse_features)
    every = fingerprints(graph)
    monkeypatch.setattr("evergraph.data.on_disk.features.block_rows", lambda *_: 7)
    monkeypatch.setattr(hop_features, "SMALL", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert np.array_equal(fingerprints(graph), every)
    assert np.array_equal(every, hop_features._row_hashes(sparse.csr_array(graph.features)))


def test_a_small_budget_makes_blocks_smaller_and_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = tiny_graph((1500, 1600))
    features = HopFeatures([(0,), (0, 1)], 256, 0)
    on = hop_features.on_hops(features, features.on(graph).hops)  # type: ignore[attr-defined]
    rows = np.arange(graph.n_nodes)
    monkeypatch.setattr(hop_features, "current_budget", lambda: Budget(8 * 2 * 256 * 2500, Path()))
    blocks = list(on.in_blocks(rows))
    assert [len(rows[here]) for here, _ in blocks] == [2048, 1052]
    np.testing.assert_array_equal(np.concatenate([codes for _, codes in blocks], axis=1), on(rows))
