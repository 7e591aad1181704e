"""Graph: induced subgraphs, standardisation step by step, and validation at the border; dense arrays judge."""

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import (
    Graph,
    adjacency_from_edges,
    csr,
    induced_adjacency,
    make_graph,
    row_entries,
)
from evergraph.data.standardise import Standardisation, standardise
from evergraph.errors import DataError
from helpers import one_sentence


@st.composite
def dense_adjacencies(draw: st.DrawFn, max_nodes: int = 9) -> NDArray[np.float32]:
    """Weighted and directed, with self-loops; many entries are zero."""
    n = draw(st.integers(1, max_nodes))
    weights = npst.arrays(np.float32, (n, n), elements=st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.5]))
    return draw(weights)


def graph_of(dense: NDArray[np.float32], *, sparse_features: bool = False, directed: bool = True) -> Graph:
    """A graph whose features and labels tell the node."""
    n = len(dense)
    features = np.arange(n, dtype=np.float32)[:, None] + np.array([[1, 0.5]], dtype=np.float32)
    return make_graph(
        sparse.csr_array(dense),
        sparse.csr_array(features) if sparse_features else features,
        np.arange(n),
        directed=directed,
    )


# induced subgraphs


@settings(max_examples=60)
@given(dense=dense_adjacencies(), data=st.data(), sparse_features=st.booleans())
def test_a_subgraph_is_the_dense_selection(
    dense: NDArray[np.float32], data: st.DataObject, sparse_features: bool
) -> None:
    order = data.draw(st.permutations(range(len(dense))))
    nodes = np.array(order[: data.draw(st.integers(0, len(dense)))], dtype=np.int64)
    part = graph_of(dense, sparse_features=sparse_features).subgraph(nodes)
    assert np.array_equal(part.adjacency.toarray(), dense[np.ix_(nodes, nodes)])
    assert part.adjacency.has_sorted_indices
    assert part.adjacency.indices.dtype == part.adjacency.indptr.dtype == np.int32
    assert np.array_equal(part.labels, nodes)
    assert np.array_equal(part.original_ids, nodes)
    assert sparse.issparse(part.features) == sparse_features
    assert part.features is not None
    column = part.features[:, [0]]
    assert np.array_equal(column if isinstance(column, np.ndarray) else column.toarray(), nodes[:, None] + 1)


def test_subgraphs_of_subgraphs_remember_the_source() -> None:
    graph = graph_of(np.ones((6, 6), dtype=np.float32))
    inner = graph.subgraph(np.array([5, 3, 1])).subgraph(np.array([2, 0]))
    assert inner.original_ids.tolist() == [1, 5]


def test_a_repeated_node_is_refused() -> None:
    with pytest.raises(DataError, match="must be distinct") as caught:
        graph_of(np.eye(3, dtype=np.float32)).subgraph(np.array([1, 1]))
    one_sentence(caught.value)


def test_selecting_a_few_nodes_does_not_touch_the_whole_graph() -> None:
    n = 3_000_000
    ring = np.arange(1000)
    indptr = np.minimum(np.arange(n + 1), 1000).astype(np.int32)
    adjacency = csr(np.ones(1000, dtype=np.float32), ((ring + 1) % 1000).astype(np.int32), indptr, (n, n))
    graph = Graph(adjacency, None, np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64))
    tracemalloc.start()
    part = graph.subgraph(np.arange(10))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert part.n_edges == 9
    assert peak < 1_000_000


@given(dense=dense_adjacencies(), data=st.data())
@settings(max_examples=30)
def test_row_entries_are_the_positions_of_the_rows(dense: NDArray[np.float32], data: st.DataObject) -> None:
    matrix = sparse.csr_array(dense)
    rows = np.array(data.draw(st.lists(st.integers(0, len(dense) - 1), max_size=6)), dtype=np.int64)
    entries, counts = row_entries(matrix, rows)
    expected = [k for row in rows for k in range(matrix.indptr[row], matrix.indptr[row + 1])]
    assert entries.tolist() == expected
    assert counts.tolist() == [int((dense[row] != 0).sum()) for row in rows]


def test_large_indices_get_the_large_type() -> None:
    small = csr(np.ones(1), np.array([0]), np.array([0, 1]), (1, 10))
    large = csr(np.ones(1), np.array([0]), np.array([0, 1]), (1, 2**31))
    assert small.indices.dtype == np.int32
    assert large.indices.dtype == np.int64


# standardisation

STEPS = ("undirected", "unweighted", "no_self_loops", "largest_component")


def largest(dense: NDArray[Any]) -> NDArray[np.int64]:
    """The nodes of the largest connected component, the one with the first node among equals."""
    near = (dense != 0) | (dense.T != 0) | np.eye(len(dense), dtype=bool)
    reach = np.linalg.matrix_power(near.astype(np.float64), max(len(dense), 1)) > 0
    sizes = reach.sum(axis=1)
    return np.flatnonzero(reach[int(np.argmax(sizes))])


def brute_force(dense: NDArray[np.float32], steps: dict[str, bool]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    result = dense.copy()
    if steps["undirected"]:
        result = np.maximum(result, result.T)
    if steps["no_self_loops"]:
        np.fill_diagonal(result, 0)
    if steps["unweighted"]:
        result = (result != 0).astype(np.float32)
    nodes = largest(result) if steps["largest_component"] else np.arange(len(result))
    return result[np.ix_(nodes, nodes)], nodes


@settings(max_examples=60)
@given(dense=dense_adjacencies(), chosen=st.sets(st.sampled_from(STEPS)))
def test_each_step_of_the_standardisation_is_the_dense_one(dense: NDArray[np.float32], chosen: set[str]) -> None:
    steps = {step: step in chosen for step in STEPS}
    result = standardise(graph_of(dense), Standardisation(**steps))
    expected, nodes = brute_force(dense, steps)
    assert np.array_equal(result.adjacency.toarray(), expected)
    assert np.array_equal(result.original_ids, nodes)
    assert result.directed == (not steps["undirected"])
    assert np.all(result.adjacency.data != 0)


@settings(max_examples=30)
@given(dense=dense_adjacencies())
def test_all_steps_together_give_a_simple_connected_graph(dense: NDArray[np.float32]) -> None:
    result = standardise(graph_of(dense))
    adjacency = result.adjacency.toarray()
    assert np.array_equal(adjacency, brute_force(dense, dict.fromkeys(STEPS, True))[0])
    assert np.array_equal(adjacency, adjacency.T)
    assert not adjacency.diagonal().any()
    assert set(np.unique(adjacency)) <= {0, 1}
    assert len(largest(adjacency)) == len(adjacency)
    again = standardise(result)
    assert np.array_equal(again.adjacency.toarray(), adjacency)


def test_standardising_leaves_the_graph_it_was_given() -> None:
    dense = np.array([[1, 2, 0], [0, 0, 0], [0, 0, 3]], dtype=np.float32)
    graph = graph_of(dense)
    standardise(graph)
    assert np.array_equal(graph.adjacency.toarray(), dense)
    assert graph.directed


def test_standardising_keeps_sparse_features_sparse() -> None:
    result = standardise(graph_of(np.ones((3, 3), dtype=np.float32), sparse_features=True))
    assert sparse.issparse(result.features)


# validation

RING = sparse.csr_array(np.roll(np.eye(4, dtype=np.float32), 1, axis=1))
FEATURES = np.ones((4, 2), dtype=np.float32)
LABELS = np.array([0, 1, 0, 1])


def with_entry(value: float) -> NDArray[np.float32]:
    features = FEATURES.copy()
    features[2, 1] = value
    return features


def out_of_range(column: int) -> sparse.csr_array:
    matrix = RING.copy()
    matrix.indices[1] = column
    return matrix


def doubled() -> sparse.csr_array:
    return sparse.csr_array((np.ones(2), np.array([1, 1]), np.array([0, 2, 2, 2, 2])), shape=(4, 4))


def weighted(value: float) -> sparse.csr_array:
    matrix = RING.copy()
    matrix.data[0] = value
    return matrix


@pytest.mark.parametrize(
    ("adjacency", "features", "labels", "says"),
    [
        (RING.toarray(), FEATURES, LABELS, "scipy.sparse matrix, got ndarray"),
        (sparse.csr_array((4, 5)), FEATURES, LABELS, r"square, got shape \(4, 5\)"),
        (sparse.csr_array((0, 0)), FEATURES[:0], LABELS[:0], "at least one node"),
        (out_of_range(4), FEATURES, LABELS, "from 0 to 3, got 4"),
        (out_of_range(-2), FEATURES, LABELS, "from 0 to 3, got -2"),
        (doubled(), FEATURES, LABELS, "got 1 duplicate edge"),
        (weighted(np.nan), FEATURES, LABELS, "weight must be finite"),
        (weighted(np.inf), FEATURES, LABELS, "weight must be finite"),
        (weighted(-1), FEATURES, LABELS, "not negative"),
        (RING, FEATURES[:3], LABELS, "one row for each of the 4 nodes"),
        (RING, FEATURES[0], LABELS, "one row for each"),
        (RING, sparse.csr_array(FEATURES[:3]), LABELS, "one row for each"),
        (RING, np.ones((4, 0)), LABELS, "at least one column"),
        (RING, with_entry(np.nan), LABELS, "got 1 NaN"),
        (RING, with_entry(-np.inf), LABELS, "got 1 NaN or infinite"),
        (RING, sparse.csr_array(with_entry(np.nan)), LABELS, "got 1 NaN"),
        (RING, [["a", "b"]] * 4, LABELS, "must be numbers"),
        (RING, FEATURES, LABELS[:3], r"one label for each of the 4 nodes, got shape \(3,\)"),
        (RING, FEATURES, LABELS[:, None], "one label for each"),
        (RING, FEATURES, [0, 1, -1, 0], "must not be negative, got -1"),
        (RING, FEATURES, [0, 1, np.nan, 0], "got 1 nodes without one"),
        (RING, FEATURES, [0, 1, np.inf, 0], "whole numbers"),
        (RING, FEATURES, [0, 1, 0.5, 0], "whole numbers, got fractions"),
        (RING, FEATURES, ["a", "b", "c", "d"], "whole numbers, got values of type"),
    ],
)
def test_what_is_wrong_with_a_graph_is_one_sentence(adjacency: Any, features: Any, labels: Any, says: str) -> None:
    with pytest.raises(DataError, match=says) as caught:
        make_graph(adjacency, features, labels)
    one_sentence(caught.value)


def test_an_asymmetric_graph_is_not_undirected() -> None:
    with pytest.raises(DataError, match="symmetric adjacency, got an edge without its reverse") as caught:
        make_graph(RING, FEATURES, LABELS, directed=False)
    one_sentence(caught.value)


def test_whether_a_graph_is_directed_is_found_out() -> None:
    assert make_graph(RING, FEATURES, LABELS).directed
    assert not make_graph(RING + RING.T, FEATURES, LABELS).directed
    assert make_graph(RING + RING.T, FEATURES, LABELS, directed=True).directed


def test_a_graph_has_the_types_it_promises() -> None:
    graph = make_graph(sparse.coo_matrix(RING.astype(np.int64)), FEATURES.astype(np.float64), LABELS.astype(float))
    assert graph.adjacency.dtype == np.float32
    assert graph.adjacency.indices.dtype == graph.adjacency.indptr.dtype == np.int32
    assert isinstance(graph.features, np.ndarray)
    assert graph.features.dtype == np.float32
    assert graph.labels.dtype == np.int64
    assert (graph.n_nodes, graph.n_edges, graph.n_features) == (4, 4, 2)
    assert graph.classes.tolist() == [0, 1]


def test_sparse_features_stay_sparse() -> None:
    graph = make_graph(RING, sparse.coo_array(FEATURES), LABELS)
    assert isinstance(graph.features, sparse.csr_array)
    assert graph.features.dtype == np.float32
    assert np.array_equal(graph.features.toarray(), FEATURES)


def test_a_graph_without_features_has_none() -> None:
    assert make_graph(RING, None, LABELS).n_features == 0


def test_stored_zeros_are_no_edges_and_the_input_stays_as_it_was() -> None:
    matrix = RING.copy()
    matrix.data[0] = 0
    unsorted = sparse.csr_array((np.ones(2, dtype=np.float32), np.array([3, 1]), np.array([0, 2, 2, 2, 2])), (4, 4))
    before = [(m.indptr.copy(), m.indices.copy(), m.data.copy()) for m in (matrix, unsorted)]
    assert make_graph(matrix, FEATURES, LABELS).n_edges == 3
    assert make_graph(unsorted, FEATURES, LABELS).n_edges == 2
    for m, parts in zip((matrix, unsorted), before, strict=True):
        assert all(
            np.array_equal(now, then) for now, then in zip((m.indptr, m.indices, m.data), parts, strict=True)
        )


@settings(max_examples=30)
@given(edges=st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_edges_become_an_adjacency(edges: set[tuple[int, int]]) -> None:
    source, target = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2).T
    expected = np.zeros((6, 6))
    expected[source, target] = 1
    assert np.array_equal(adjacency_from_edges(source, target, 6).toarray(), expected)


@pytest.mark.parametrize("bad", [-1, 6])
@pytest.mark.parametrize("end", ["source", "target"])
def test_an_edge_to_no_node_is_refused(bad: int, end: str) -> None:
    good = np.array([0, 1])
    ends = {"source": good, "target": good, end: np.array([0, bad])}
    with pytest.raises(DataError, match=f"every edge {end} must be a node index from 0 to 5, got {bad}") as caught:
        adjacency_from_edges(ends["source"], ends["target"], 6)
    one_sentence(caught.value)


def test_repeated_edges_are_refused_or_merged() -> None:
    source, target = np.array([0, 0, 1]), np.array([1, 1, 0])
    with pytest.raises(DataError, match="got 1 repeated edges") as caught:
        adjacency_from_edges(source, target, 2)
    one_sentence(caught.value)
    assert adjacency_from_edges(source, target, 2, merge_duplicates=True).toarray().tolist() == [[0, 1], [1, 0]]


def test_a_graph_cannot_be_changed() -> None:
    graph = make_graph(RING, FEATURES, LABELS)
    with pytest.raises(AttributeError):
        graph.name = "other"  # type: ignore[misc]
    assert replace(graph, name="other").name == "other"


def test_induced_adjacency_keeps_weights() -> None:
    matrix = sparse.csr_array(np.array([[0, 2, 3], [4, 0, 5], [6, 7, 0]], dtype=np.float32))
    assert induced_adjacency(matrix, np.array([2, 0])).toarray().tolist() == [[0, 6], [3, 0]]


@pytest.mark.parametrize("first", [1_700_000_000_000_000_000, -1_700_000_000_000_000_000])
def test_nanoseconds_are_kept_exactly(first: int) -> None:
    """As float64, neighbouring nanoseconds would be one and the same time."""
    times = np.array([first + 1, first, first + 2])
    graph = make_graph(sparse.csr_array((3, 3)), None, [0, 0, 0], times=times)
    assert graph.times is not None
    assert graph.times.dtype == np.int64
    assert np.array_equal(graph.times, times)
    assert np.array_equal(np.array(graph.subgraph(np.array([2, 0])).times), times[[2, 0]])


def test_other_times_are_float64_as_before() -> None:
    for times in ([3, 1, 2], [0.5, 1.5, 2.5], [2**53 - 1, 0, 1]):
        graph = make_graph(sparse.csr_array((3, 3)), None, [0, 0, 0], times=times)
        assert graph.times is not None
        assert graph.times.dtype == np.float64


def test_times_beyond_64_bits_are_refused() -> None:
    with pytest.raises(DataError, match="must fit 64 bits with a sign"):
        make_graph(sparse.csr_array((1, 1)), None, [0], times=np.array([2**64 - 1], dtype=np.uint64))


def test_names_of_nodes_go_with_them() -> None:
    graph = make_graph(sparse.csr_array((3, 3)), None, [0, 0, 0], node_names=np.array(["a", "b", "c"]))
    assert graph.subgraph(np.array([2, 0])).node_names.tolist() == ["c", "a"]  # type: ignore[union-attr]
