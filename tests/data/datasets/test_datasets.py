"""load_dataset: names, paths, steps, derived features; the real graphs have the paper's counts."""

import os
from pathlib import Path

import pytest

from evergraph.data.datasets import DATASETS, is_path, load_dataset
from evergraph.data.standardise import Standardisation
from evergraph.errors import ConfigError, DataError

from .layouts import WRITERS, N, shchur

REAL = ("amazon-computers", "corafull", "ogbn-arxiv")


def test_an_unknown_name_lists_the_choices() -> None:
    with pytest.raises(ConfigError, match=r"digits, sbm, .*got 'digit' instead \(did you mean 'digits'\?\)"):
        load_dataset("digit")


@pytest.mark.parametrize(
    ("text", "path"),
    [("digits", False), ("ogbn-arxiv", False), ("graph.npz", True), ("a/b", True), ("./digits", True)],
)
def test_a_path_has_a_separator_or_a_suffix(text: str, path: bool) -> None:
    assert is_path(text) == path


def test_a_path_is_read_as_a_file(tmp_path: Path) -> None:
    shchur("mine.npz")(tmp_path)
    assert load_dataset(str(tmp_path / "mine.npz")).name == "mine"


def test_steps_can_be_switched_off(tmp_path: Path) -> None:
    WRITERS["corafull"](tmp_path)
    graph = load_dataset("corafull", data_dir=tmp_path, standardisation=Standardisation(undirected=False))
    assert graph.directed
    assert graph.n_edges == N


def test_derived_features_replace_the_own_ones(tmp_path: Path) -> None:
    WRITERS["corafull"](tmp_path)
    graph = load_dataset("corafull", data_dir=tmp_path, features="spectral:3")
    assert graph.n_features == 3
    assert graph.remarks == ("features derived from the graph (spectral:3), not the data set's own",)


def test_bad_features_are_refused_before_anything_is_read() -> None:
    with pytest.raises(ConfigError, match="features must be spectral:D"):
        load_dataset("corafull", features="pagerank", download=False)


def test_a_data_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the data folder must exist"):
        load_dataset("digits", data_dir=tmp_path / "nowhere")


@pytest.mark.real_data
@pytest.mark.parametrize("name", REAL)
def test_counts_are_the_papers(name: str) -> None:
    folder = os.environ.get("EVERGRAPH_DATA")
    if not folder or not (Path(folder) / DATASETS[name].files[0].name).exists():
        pytest.skip(f"EVERGRAPH_DATA names no folder with {DATASETS[name].files[0].name}")
    graph = load_dataset(name, download=False)
    assert (graph.n_nodes, graph.n_edges) == DATASETS[name].counts
