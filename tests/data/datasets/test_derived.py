from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from evergraph.data.datasets import derived
from evergraph.data.datasets.derived import DerivedFeatures, spectral
from evergraph.data.datasets.sbm import SbmOptions, generate
from evergraph.data.graph import Graph, make_graph
from evergraph.errors import ConfigError

from .layouts import N, labels, ring


def cycle() -> Graph:
    return make_graph(ring(), None, labels())


@pytest.mark.parametrize(
    "text", ["spectral", "random:0", "spectral:", "spectral:0", "spectral:-1", "spectral:x", "degree:3", ""]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="features must be spectral:D"):
        DerivedFeatures.parse(text)


@pytest.mark.parametrize("text", ["spectral:64", "random:64", "degree"])
def test_text_survives_the_round_trip(text: str) -> None:
    assert str(DerivedFeatures.parse(text)) == text


def test_a_directed_cycle_is_taken_as_undirected() -> None:
    graph = DerivedFeatures.parse("spectral:3").derive(cycle())
    assert isinstance(graph.features, np.ndarray)
    assert graph.features[:, 0] == pytest.approx(np.ones(N))  # the top eigenvector of a regular graph
    both = ring() + ring().T
    second = graph.features[:, 1]
    assert both @ second == pytest.approx(2 * np.cos(2 * np.pi / N) * second, abs=1e-5)
    assert graph.directed


@pytest.mark.parametrize("nodes", [120, 700])
def test_columns_are_the_top_eigenvectors(nodes: int) -> None:
    adjacency = generate(SbmOptions(nodes=nodes, classes=5, mean_degree=12)).adjacency
    features = spectral(adjacency, 8).astype(np.float64)
    scale = sparse.diags_array(1 / np.sqrt(np.maximum(np.diff(adjacency.indptr), 1)))
    dense = (scale @ adjacency @ scale).toarray().astype(np.float64)
    values = np.sort(np.linalg.eigvalsh(dense))[::-1][:8]
    assert np.einsum("ij,ij->j", features, dense @ features) / nodes == pytest.approx(values, abs=1e-3)
    assert features.T @ features / nodes == pytest.approx(np.eye(8), abs=1e-3)
    assert np.all(features[np.abs(features).argmax(axis=0), np.arange(8)] > 0)
    assert np.array_equal(spectral(adjacency, 8), spectral(adjacency, 8))


def test_too_many_eigenvectors_are_one_sentence() -> None:
    with pytest.raises(ConfigError, match="needs D below the number of nodes, 12, got 12 instead"):
        DerivedFeatures.parse("spectral:12").derive(cycle())


def test_degree_bins_are_one_hot_in_the_logarithm() -> None:
    star = sparse.csr_array((np.ones(7), (np.zeros(7, dtype=int), np.arange(1, 8))), shape=(9, 9))
    graph = DerivedFeatures.parse("degree").derive(make_graph(star, None, np.zeros(9, dtype=int)))
    assert isinstance(graph.features, np.ndarray)
    assert graph.features.argmax(axis=1).tolist() == [3, 1, 1, 1, 1, 1, 1, 1, 0]
    assert np.all(graph.features.sum(axis=1) == 1)
    assert graph.remarks == ("features derived from the graph (degree), not the data set's own",)


def test_random_features_know_no_edge_and_stay_as_the_graph_grows() -> None:
    graph = DerivedFeatures.parse("random:64").derive(cycle())
    more = np.zeros((N + 3, N + 3))
    more[:N, :N] = ring().toarray().T
    grown = DerivedFeatures.parse("random:64").derive(
        make_graph(sparse.csr_array(more), None, np.zeros(N + 3, dtype=int))
    )
    assert isinstance(graph.features, np.ndarray)
    assert isinstance(grown.features, np.ndarray)
    assert np.array_equal(graph.features, grown.features[:N])
    assert np.linalg.matrix_rank(graph.features) == N
    assert graph.remarks == ("features drawn at random (random:64), not the data set's own",)


def test_what_takes_long_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERGRAPH_CACHE", str(tmp_path))
    monkeypatch.setattr(derived, "WORTH_KEEPING", 0)
    first = DerivedFeatures.parse("spectral:3").derive(cycle()).features
    (kept,) = (tmp_path / "derived").iterdir()
    monkeypatch.setattr(derived, "spectral", lambda *_: pytest.fail("made again"))
    again = DerivedFeatures.parse("spectral:3").derive(cycle()).features
    assert isinstance(first, np.ndarray)
    assert isinstance(again, np.ndarray)
    assert np.array_equal(first, again)
    monkeypatch.undo()
    monkeypatch.setenv("EVERGRAPH_CACHE", str(tmp_path))
    monkeypatch.setattr(derived, "WORTH_KEEPING", 0)
    kept.write_bytes(b"half a file")
    mended = DerivedFeatures.parse("spectral:3").derive(cycle()).features
    assert isinstance(mended, np.ndarray)
    assert np.array_equal(first, mended)
    DerivedFeatures.parse("spectral:2").derive(cycle())
    assert len(list((tmp_path / "derived").iterdir())) == 2, "another recipe is kept apart"


def test_eigenvalues_that_reach_far_down_are_found_too() -> None:
    """Three groups joined by one edge each: three eigenvalues near 1, and the others far below."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(3), 250)
    dense = np.triu((rng.random((750, 750)) < 0.2) & (groups[:, None] == groups[None, :]), 1)
    dense[0, 250] = dense[250, 500] = True
    adjacency = sparse.csr_array((dense | dense.T).astype(np.float32))
    features = spectral(adjacency, 16).astype(np.float64)
    scale = sparse.diags_array(1 / np.sqrt(np.diff(adjacency.indptr)))
    normal = (scale @ adjacency @ scale).toarray().astype(np.float64)
    values = np.sort(np.linalg.eigvalsh(normal))[::-1][:16]
    assert values[2] > 0.99
    assert values[3] < 0.4
    assert np.einsum("ij,ij->j", features, normal @ features) / 750 == pytest.approx(values, abs=1e-3)
    assert features.T @ features / 750 == pytest.approx(np.eye(16), abs=1e-3)
    assert np.array_equal(spectral(adjacency, 16), spectral(adjacency, 16))
