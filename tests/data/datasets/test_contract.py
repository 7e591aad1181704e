"""What holds for every registered data set."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from evergraph.config import Settings
from evergraph.data.datasets import DATASETS, load_dataset
from evergraph.data.graph import Graph
from evergraph.errors import ConfigError, DataError

from .layouts import CLASSES, SPARSE, WIDTH, WRITERS, N

NAMES = sorted(DATASETS)


@pytest.fixture(params=NAMES)
def loaded(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, Graph, Graph]:
    """A data set loaded twice from small files, with pickle out of order and no download."""
    name: str = request.param
    WRITERS[name](tmp_path)

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("loading a data set must not need pickle")

    monkeypatch.setattr(pickle, "load", refuse)
    monkeypatch.setattr(pickle, "loads", refuse)
    first, second = (load_dataset(name, data_dir=tmp_path, download=False) for _ in range(2))
    return name, first, second


def test_every_data_set_has_small_files() -> None:
    assert set(WRITERS) == set(DATASETS)


@pytest.mark.parametrize("name", NAMES)
def test_the_entry_is_complete(name: str) -> None:
    entry = DATASETS[name]
    assert entry.name == name
    assert entry.summary
    assert entry.citation.rstrip().endswith(".")
    assert issubclass(entry.options, Settings)
    assert entry.options.model_config.get("extra") == "forbid"
    assert entry.options.model_config.get("frozen")
    assert entry.budget in (10, 60, 100, 400)
    assert entry.stand_in is not None or all(file.url for file in entry.files)
    assert all(file.sha256 is None or len(file.sha256) == 64 for file in entry.files)


def test_no_two_addresses_share_a_place_in_the_cache() -> None:
    urls = {file.url for entry in DATASETS.values() for file in entry.files if file.url}
    assert len({url.rsplit("/", 1)[1] for url in urls}) == len(urls)


def test_labels_features_and_adjacency_are_consistent(loaded: tuple[str, Graph, Graph]) -> None:
    name, graph, _ = loaded
    adjacency = graph.adjacency
    assert graph.name == name
    assert adjacency.shape == (len(graph.labels), len(graph.labels))
    assert (adjacency != adjacency.T).nnz == 0
    assert not adjacency.diagonal().any()
    assert np.all(adjacency.data == 1)
    assert graph.features is not None
    assert graph.features.shape[0] == graph.n_nodes
    assert graph.features.dtype == np.float32
    assert sparse.issparse(graph.features) == (name in SPARSE)
    assert not graph.directed


def test_small_files_are_read_as_written(loaded: tuple[str, Graph, Graph]) -> None:
    name, graph, _ = loaded
    if DATASETS[name].files:
        assert (graph.n_nodes, graph.n_edges, graph.n_features) == (N, 2 * N, WIDTH)
        assert graph.classes.tolist() == list(range(CLASSES))
    else:
        assert graph.n_nodes > 1000
        assert len(graph.classes) == 10


def test_loading_twice_gives_the_same(loaded: tuple[str, Graph, Graph]) -> None:
    _, first, second = loaded
    assert (first.adjacency != second.adjacency).nnz == 0
    assert first.features is not None
    assert second.features is not None
    assert abs(first.features - second.features).sum() == 0
    assert np.array_equal(first.labels, second.labels)


def test_a_stand_in_says_so(loaded: tuple[str, Graph, Graph]) -> None:
    name, graph, _ = loaded
    stand_in = DATASETS[name].stand_in
    assert any("stand-in for" in remark for remark in graph.remarks) == (stand_in is not None)


@pytest.mark.parametrize("name", [name for name in NAMES if DATASETS[name].files])
def test_a_missing_file_is_named_with_its_place(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is needed, got no such file instead") as caught:
        load_dataset(name, data_dir=tmp_path, download=False)
    assert str(tmp_path / DATASETS[name].files[0].name) in str(caught.value)
    assert (DATASETS[name].files[0].url or "no address") in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_option_is_one_sentence(name: str) -> None:
    with pytest.raises(ConfigError, match="colour is not a setting") as caught:
        load_dataset(name, options={"colour": "red"}, download=False)
    assert "\n" not in str(caught.value)
