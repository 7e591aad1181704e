"""The contract tests of data sets."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from evergraph.config import Settings
from evergraph.data.datasets import DATASETS, load_dataset
from evergraph.data.graph import Graph
from evergraph.errors import ConfigError


class DatasetContract:
    """Parametrize a subclass with the `name` of one data set or of several.

    For a data set that reads files, override the fixture `data_dir`: write small files of the same layout to
    tmp_path and return it.
    """

    @pytest.fixture
    def data_dir(self, name: str, tmp_path: Path) -> Path:
        return tmp_path

    @pytest.fixture
    def loaded(self, name: str, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Graph, Graph]:
        """The data set loaded twice, without pickle and download."""

        def refuse(*_args: object, **_kwargs: object) -> None:
            raise AssertionError("loading a data set must not need pickle")

        monkeypatch.setattr(pickle, "load", refuse)
        monkeypatch.setattr(pickle, "loads", refuse)
        first, second = (load_dataset(name, data_dir=data_dir, download=False) for _ in range(2))
        return first, second

    def test_the_entry_is_complete(self, name: str) -> None:
        entry = DATASETS[name]
        assert entry.name == name
        assert entry.summary
        assert entry.citation.rstrip().endswith(".")
        assert issubclass(entry.options, Settings)
        assert entry.options.model_config.get("extra") == "forbid"
        assert entry.options.model_config.get("frozen")
        assert entry.budget >= 1
        assert entry.stand_in is not None or entry.local == any(file.url is None for file in entry.files)
        assert all(file.sha256 is None or len(file.sha256) == 64 for file in entry.files)

    def test_labels_features_and_adjacency_are_consistent(self, name: str, loaded: tuple[Graph, Graph]) -> None:
        graph, _ = loaded
        adjacency = graph.adjacency
        assert graph.name == name
        assert adjacency.shape == (len(graph.labels), len(graph.labels))
        assert (adjacency != adjacency.T).nnz == 0
        assert not adjacency.diagonal().any()
        assert np.all(adjacency.data == 1)
        assert not graph.directed
        if graph.times is not None:
            assert graph.times.shape == (graph.n_nodes,)
            assert np.isfinite(graph.times).all()
        assert graph.features is not None or DATASETS[name].derived is None
        if graph.features is not None:
            assert graph.features.shape[0] == graph.n_nodes
            assert graph.features.dtype == np.float32

    def test_loading_twice_gives_the_same(self, loaded: tuple[Graph, Graph]) -> None:
        first, second = loaded
        assert (first.adjacency != second.adjacency).nnz == 0
        assert np.array_equal(first.labels, second.labels)
        if first.times is not None:
            assert second.times is not None
            assert np.array_equal(first.times, second.times)
        if first.features is not None:
            assert second.features is not None
            assert abs(first.features - second.features).sum() == 0

    def test_a_stand_in_says_so(self, name: str, loaded: tuple[Graph, Graph]) -> None:
        stand_in = DATASETS[name].stand_in
        assert any("stand-in for" in remark for remark in loaded[0].remarks) == (stand_in is not None)

    def test_an_unknown_option_is_one_sentence(self, name: str) -> None:
        with pytest.raises(ConfigError, match="colour is not a setting") as caught:
            load_dataset(name, options={"colour": "red"}, download=False)
        assert "\n" not in str(caught.value)
