"""What holds for every registered data set."""

from dataclasses import replace
from pathlib import Path

import pytest
from scipy import sparse

from evergraph.data.datasets import DATASETS, load_dataset
from evergraph.data.graph import Graph
from evergraph.errors import DataError
from evergraph.testing import DatasetContract

from .layouts import CLASSES, SPARSE, WIDTH, WRITERS, N

NAMES = sorted(DATASETS)


@pytest.mark.parametrize("name", NAMES)
class TestEveryDataSet(DatasetContract):
    @pytest.fixture
    def data_dir(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        WRITERS[name](tmp_path)
        if DATASETS[name].derived is not None:  # twelve nodes have fewer eigenvectors than the data set asks for
            small = replace(DATASETS[name], derived=f"spectral:{WIDTH}")
            monkeypatch.setitem(DATASETS._own, name, small)
        return tmp_path

    def test_features_are_kept_sparse(self, name: str, loaded: tuple[Graph, Graph]) -> None:
        assert sparse.issparse(loaded[0].features) == (name in SPARSE)

    def test_small_files_are_read_as_written(self, name: str, loaded: tuple[Graph, Graph]) -> None:
        graph, _ = loaded
        if DATASETS[name].files:
            assert (graph.n_nodes, graph.n_edges, graph.n_features) == (N, 2 * N, WIDTH)
            assert graph.classes.tolist() == list(range(CLASSES))
        else:
            assert graph.n_nodes > 1000
            assert len(graph.classes) == 10

    def test_the_budget_is_one_of_the_papers(self, name: str) -> None:
        assert DATASETS[name].budget in (10, 60, 100, 400)


def test_every_data_set_has_small_files() -> None:
    assert set(WRITERS) == set(DATASETS)


def test_no_two_addresses_share_a_place_in_the_cache() -> None:
    urls = {file.url for entry in DATASETS.values() for file in entry.files if file.url}
    assert len({url.rsplit("/", 1)[1] for url in urls}) == len(urls)


@pytest.mark.parametrize("name", [name for name in NAMES if DATASETS[name].files])
def test_a_missing_file_is_named_with_its_place(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is needed, got no such file instead") as caught:
        load_dataset(name, data_dir=tmp_path, download=False)
    assert str(tmp_path / DATASETS[name].files[0].name) in str(caught.value)
    assert (DATASETS[name].files[0].url or "no address") in str(caught.value)
