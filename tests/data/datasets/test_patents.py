"""The patents: two gzipped tables with times; features derived unless others are asked for."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from evergraph.data.datasets import load_dataset
from evergraph.errors import DataError

from .layouts import CLASSES, N, patents


def test_times_and_names_are_read_and_features_derived(tmp_path: Path) -> None:
    patents(tmp_path)
    graph = load_dataset("patents", data_dir=tmp_path, features="degree")
    assert graph.times is not None
    assert graph.times.tolist() == [node / N for node in range(N)]
    assert graph.class_names == tuple(f"category-{label}" for label in range(CLASSES))
    assert any("features derived from the graph (degree)" in remark for remark in graph.remarks)


def test_a_broken_file_is_one_sentence(tmp_path: Path) -> None:
    patents(tmp_path)
    path = tmp_path / "patent_citations" / "nodes.csv.gz"
    whole = path.read_bytes()
    for broken in (whole[: len(whole) // 2], b"id,label,time\n", whole[:20] + b"\xff" * 8 + whole[28:]):
        path.write_bytes(broken)
        with pytest.raises(DataError, match=r"nodes.csv.gz must be") as caught:
            load_dataset("patents", data_dir=tmp_path)
        assert "\n" not in str(caught.value)


def test_a_time_that_is_none_is_named_with_its_line(tmp_path: Path) -> None:
    patents(tmp_path)
    path = tmp_path / "patent_citations" / "nodes.csv.gz"
    with gzip.open(path, "rt") as stream:
        text = stream.read()
    with gzip.open(path, "wt") as stream:
        stream.write(text.replace("p1,category-1,", "p1,category-1,soon"))
    with pytest.raises(DataError, match=r"nodes.csv.gz line 3, column 'time', must be a finite number .*'soon"):
        load_dataset("patents", data_dir=tmp_path)


@pytest.mark.real_data
def test_the_real_files_have_their_counts() -> None:
    if "EVERGRAPH_DATA" not in os.environ:
        pytest.skip("EVERGRAPH_DATA is not set")
    graph = load_dataset("patents", features="degree", download=False)
    assert (graph.n_nodes, graph.n_edges) == (9482, 68414)
    assert graph.times is not None
    assert (graph.times.min(), graph.times.max()) == (0, 1)
    assert np.bincount(graph.labels).tolist() == [3219, 645, 3795, 593, 533, 697]
