from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evergraph.data.datasets.ogb import read_ogb
from evergraph.errors import DataError

from .layouts import N, features, gzipped, ogb, ring


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    ogb(tmp_path)
    return tmp_path / "ogbn_arxiv" / "raw"


def test_edges_and_features_are_read_as_written(raw: Path) -> None:
    graph = read_ogb(raw, "g")
    assert (graph.adjacency != ring()).nnz == 0
    assert np.asarray(graph.features) == pytest.approx(features().toarray(), abs=1e-6)
    assert graph.remarks == ()


def test_absent_features_are_stated(raw: Path) -> None:
    (raw / "node-feat.csv.gz").unlink()
    graph = read_ogb(raw, "g")
    assert graph.features is None
    assert graph.remarks == ("g holds no node features",)


@pytest.mark.parametrize(
    ("file", "table", "words"),
    [
        (
            "num-node-list.csv.gz",
            np.array([[N + 1]]),
            "node-label.csv.gz must hold 13 rows of 1 numbers, got 12 of 1",
        ),
        ("edge.csv.gz", np.array([[0, 1]]), "edge.csv.gz must hold 12 rows of 2 numbers"),
        ("edge.csv.gz", np.full((N, 2), N), "edge.csv.gz: every edge source must be a node index from 0 to 11"),
        ("edge.csv.gz", np.zeros((N, 2)), "edge.csv.gz: every edge must be listed once"),
        ("node-feat.csv.gz", np.ones((N - 1, 2)), "node-feat.csv.gz must hold 12 rows"),
        ("node-label.csv.gz", np.full((N, 1), -1), "labels must not be negative"),
    ],
)
def test_contradictions_are_one_sentence(raw: Path, file: str, table: NDArray[Any], words: str) -> None:
    gzipped(raw / file, table)
    with pytest.raises(DataError, match=words):
        read_ogb(raw, "g")


def test_broken_files_are_one_sentence(raw: Path) -> None:
    path = raw / "edge.csv.gz"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    with pytest.raises(DataError, match="complete gzip file"):
        read_ogb(raw, "g")
    path.write_bytes(b"0,1\n")
    with pytest.raises(DataError, match="complete gzip file"):
        read_ogb(raw, "g")
    gzipped(path, np.array([["a", "b"]]), "%s")
    with pytest.raises(DataError, match="must hold numbers only"):
        read_ogb(raw, "g")
    path.unlink()
    with pytest.raises(DataError, match=r"must hold edge.csv.gz, got no such file"):
        read_ogb(raw, "g")
