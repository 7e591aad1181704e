from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.datasets.sbm import SbmOptions, class_sizes, generate
from evergraph.data.graph import Graph
from evergraph.errors import ConfigError


def inside(graph: Graph) -> float:
    coo = graph.adjacency.tocoo()
    return float((graph.labels[coo.row] == graph.labels[coo.col]).mean())


@st.composite
def feasible(draw: st.DrawFn) -> SbmOptions:
    return SbmOptions(
        nodes=draw(st.integers(60, 400)),
        mean_degree=draw(st.floats(0.5, 9)),
        classes=draw(st.integers(2, 5)),
        features=draw(st.integers(1, 8)),
        homophily=draw(st.floats(0.2, 0.9)),
        imbalance=draw(st.floats(1, 3)),
        directed=draw(st.booleans()),
        seed=draw(st.integers(0, 2**32)),
    )


@settings(max_examples=40, deadline=None)
@given(feasible())
def test_degree_homophily_and_simplicity_hold_for_any_options(options: SbmOptions) -> None:
    graph = generate(options)
    edges = options.nodes * options.mean_degree
    assert abs(graph.n_edges - edges) <= 1 + 1e-9
    assert abs(inside(graph) - options.homophily) <= 1 / max(graph.n_edges - 2, 1)
    assert not graph.adjacency.diagonal().any()
    assert graph.adjacency.has_canonical_format
    assert graph.directed == options.directed
    assert len(graph.classes) == options.classes


@settings(max_examples=10, deadline=None)
@given(feasible(), st.integers(1, 300))
def test_the_result_does_not_depend_on_the_chunk(options: SbmOptions, chunk: int) -> None:
    one, other = generate(options), generate(options, chunk=chunk)
    assert (one.adjacency != other.adjacency).nnz == 0
    assert np.array_equal(one.features, other.features)  # type: ignore[arg-type]
    assert np.array_equal(one.labels, other.labels)


def test_another_seed_gives_another_graph() -> None:
    assert (generate(SbmOptions(seed=1)).adjacency != generate(SbmOptions(seed=2)).adjacency).nnz > 1000


def test_class_sizes_follow_the_imbalance() -> None:
    sizes = class_sizes(100_000, 10, 8)
    assert sizes.sum() == 100_000
    assert np.all(np.diff(sizes) < 0)
    assert sizes[0] / sizes[-1] == pytest.approx(8, rel=0.01)
    assert np.ptp(class_sizes(1000, 10, 1)) == 0


def test_edges_inside_and_between_classes_follow_the_weights() -> None:
    graph = generate(SbmOptions(nodes=6000, mean_degree=12, classes=3, homophily=0.4, imbalance=4))
    coo = graph.adjacency.tocoo()
    counts = np.zeros((3, 3))
    np.add.at(counts, (graph.labels[coo.row], graph.labels[coo.col]), 1)
    share = np.bincount(graph.labels) / graph.n_nodes
    assert np.diag(counts) / np.trace(counts) == pytest.approx(share, rel=0.1)
    across = np.outer(share, share) * (1 - np.eye(3))
    observed = counts * (1 - np.eye(3))
    assert observed / observed.sum() == pytest.approx(across / across.sum(), rel=0.12, abs=1e-12)


def test_a_smaller_exponent_gives_a_heavier_tail() -> None:
    heavy, light = (
        np.diff(generate(SbmOptions(nodes=5000, degree_exponent=exponent)).adjacency.indptr)
        for exponent in (2.2, 6.0)
    )
    assert heavy.max() > 1.5 * light.max()
    assert heavy.std() > 1.2 * light.std()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("homophily", [0.0, 1.0])
def test_a_nearly_complete_graph_can_be_drawn(directed: bool, homophily: float) -> None:
    degree = 9 if homophily else 30
    graph = generate(SbmOptions(nodes=40, classes=4, mean_degree=degree, homophily=homophily, directed=directed))
    assert graph.n_edges == 40 * degree
    assert inside(graph) == homophily


def test_degrees_follow_the_weights_in_both_ways_of_drawing() -> None:
    """Heavier nodes get more edges whether pairs are drawn repeatedly or from the list of all pairs."""
    for degree in (6.0, 40.0):
        graph = generate(SbmOptions(nodes=100, classes=2, mean_degree=degree, homophily=0.5, degree_exponent=2.1))
        spread = np.diff(graph.adjacency.indptr).var()
        assert spread > 1.3 * degree * (1 - degree / 99)


def test_features_depend_on_the_class() -> None:
    graph = generate(SbmOptions(nodes=3000, classes=4, features=16, signal=2.0, noise=0.5))
    assert isinstance(graph.features, np.ndarray)
    means = np.stack([graph.features[graph.labels == label].mean(axis=0) for label in range(4)])
    assert np.linalg.norm(means, axis=1) == pytest.approx(np.full(4, 2.0), rel=0.05)
    assert (graph.features - means[graph.labels]).std() == pytest.approx(0.5, rel=0.02)


def bags(graph: Graph) -> sparse.csr_array:
    assert isinstance(graph.features, sparse.csr_array)
    return graph.features


def popularity(graph: Graph, label: int) -> NDArray[np.float64]:
    """The share of a class's nodes that have each word."""
    members = graph.labels == label
    share: NDArray[np.float64] = bags(graph)[members].sum(axis=0) / members.sum()
    return share


@settings(max_examples=15, deadline=None)
@given(feasible(), st.integers(1, 40), st.integers(1, 300), st.data())
def test_every_node_has_as_many_different_words_as_asked(
    options: SbmOptions, width: int, chunk: int, data: st.DataObject
) -> None:
    words = data.draw(st.integers(1, width))
    options = options.model_copy(update={"features": width, "words": words})
    features, other = bags(generate(options)), bags(generate(options, chunk=chunk))
    assert features.shape == (options.nodes, width)
    assert features.dtype == np.float32
    assert features.indices.dtype == features.indptr.dtype == np.int32
    assert features.has_canonical_format
    assert np.all(np.diff(features.indptr) == words)
    assert np.all(features.data == 1)
    assert np.array_equal(features.indices, other.indices)


def test_words_change_nothing_but_the_features() -> None:
    dense, with_words = generate(SbmOptions()), generate(SbmOptions(words=5))
    assert (dense.adjacency != with_words.adjacency).nnz == 0
    assert np.array_equal(dense.labels, with_words.labels)
    assert isinstance(dense.features, np.ndarray)


def test_the_dense_features_of_a_seed_are_those_of_earlier_versions() -> None:
    features = generate(SbmOptions(nodes=300, seed=3)).features
    assert isinstance(features, np.ndarray)
    assert features[[0, 150, 299], [0, 16, 31]] == pytest.approx([-0.826942, -0.248596, -1.231843], abs=1e-5)


def test_words_are_popular_as_zipf_has_it_and_depend_on_the_class() -> None:
    options = {"nodes": 4000, "classes": 2, "features": 200, "words": 5}
    alike = generate(SbmOptions(**options, signal=0.0))
    mean = popularity(alike, 0)
    ranked = np.sort(mean)[::-1]
    assert ranked[0] > 4 * ranked[9] > 8 * ranked[99]
    assert np.abs(mean - popularity(alike, 1)).max() < 0.06
    mixed, apart = (generate(SbmOptions(**options, signal=1.0, noise=noise)) for noise in (1.0, 0.0))
    distances = [np.abs(popularity(graph, 0) - popularity(graph, 1)).sum() for graph in (alike, mixed, apart)]
    assert distances[2] > 1.3 * distances[1] > 3 * distances[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": 32, "words": 33}, "words must be at most 32, got 33 instead"),
        ({"nodes": 10, "classes": 11}, "at least one node per class"),
        ({"nodes": 20, "classes": 4, "mean_degree": 8, "homophily": 1.0}, "room for 40 edges inside"),
        ({"nodes": 20, "classes": 1, "mean_degree": 4}, "room for 0 edges between"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        generate(SbmOptions(**options))
