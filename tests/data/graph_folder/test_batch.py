"""A graph folder instead of two tables: learned, predicted and forgotten alike, in memory and on disk."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.budget import memory_budget
from evergraph.data.convert import Plan, convert_tables
from evergraph.data.datasets.files import FileOptions
from evergraph.data.graph_folder import folder_batch, reading
from evergraph.data.graph_folder.batch import DIRECTED
from evergraph.data.on_disk import DiskAdjacency
from evergraph.errors import DataError
from evergraph.estimator import answer as module
from evergraph.estimator.classifier import ContinualClassifier
from evergraph.tables import read_batch


@pytest.fixture(params=["text", "numbers"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 120)
    centres = 2 * rng.standard_normal((3, 4))
    prefix = "n" if request.param == "text" else ""
    names = ["cat", "dog", "fox"] if request.param == "text" else [3, 5, 8]
    rows = [
        f"{prefix}{row + 7},{names[labels[row]]},"
        + ",".join(f"{x:.4f}" for x in centres[labels[row]] + rng.random(4))
        for row in range(120)
    ]
    (tmp_path / "nodes.csv").write_text("id,label,a,b,c,d\n" + "\n".join(rows) + "\n")
    ends = sorted({tuple(sorted(rng.integers(0, 118, 2).tolist())) for _ in range(300)})
    listed = [f"{prefix}{a + 7},{prefix}{b + 7}" for a, b in ends]
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(listed) + "\n")
    options = FileOptions.model_validate({"directed": False, "scale": False})
    convert_tables(tmp_path / "edges.csv", tmp_path / "nodes.csv", tmp_path / "graph", options, Plan.of(10**8))
    return tmp_path / "graph"


def test_ids_labels_and_edges_are_those_of_the_tables(folder: Path) -> None:
    batch = folder_batch(folder)
    text = batch.ids.dtype.kind == "U"
    assert batch.ids[:2].tolist() == (["n7", "n8"] if text else [7, 8])
    assert set(batch.labels) == ({"cat", "dog", "fox"} if text else {3, 5, 8})
    assert batch.n_nodes == 120
    assert batch.labelled.all()
    assert not batch.adjacency.diagonal().any()
    assert any("self-loops left out" in remark for remark in batch.remarks)


def test_directions_of_a_folder_are_told(folder: Path, tmp_path: Path) -> None:
    assert DIRECTED not in folder_batch(folder).remarks
    tables = folder.parent / "edges.csv", folder.parent / "nodes.csv"
    convert_tables(*tables, tmp_path / "directed", FileOptions(), Plan.of(10**8))
    batch = folder_batch(tmp_path / "directed")
    assert batch.directed
    assert DIRECTED in batch.remarks


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("analytic", {"method": {"width": 64}}),
        ("random-replay", {"method": {"budget": 10}, "train": {"epochs": 60}}),
    ],
)
def test_on_disk_it_is_learned_predicted_and_forgotten_as_in_memory(
    folder: Path, method: str, given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for size in (0, 10**18):
        monkeypatch.setattr(reading, "bytes_in_memory", lambda _, size=size: size)
        monkeypatch.setattr(module, "MOST_ROWS", 50)
        with memory_budget(10**8, tmp_path):
            batch = folder_batch(folder)
            assert isinstance(batch.adjacency, DiskAdjacency) == bool(size)
            model = ContinualClassifier(method=method, settings=given)
            with pytest.warns() if any(batch.remarks) else pytest.MonkeyPatch.context():
                model.partial_fit(batch)
            answers = model.answers(batch)
            statement = model.forget(batch, batch.ids[:3].tolist()).statement
            found.append((answers, statement, model.answers(batch), model.history_[0].classes))
    (first, said, after, tested), (second, said_too, after_too, tested_too) = found
    np.testing.assert_array_equal(first.labels, second.labels)
    for one, other in ((first.top, second.top), (first.margin, second.margin), (after.top, after_too.top)):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-8)  # products of other sizes are rounded otherwise
    assert (said, tested) == (said_too, tested_too)
    assert np.mean(first.labels == folder_batch(folder).labels) > 0.7


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ("b,a,c,d", "are wanted in this order as in the first batch"),
        ("a,b,c,e", "columns of the first batch are wanted, got others without 'd'"),
        ("a,b,c,d,e", "4 features a node are wanted as before, got 5|got others with 'e'"),
    ],
)
def test_columns_of_other_names_or_in_another_order_are_refused(
    folder: Path, tmp_path: Path, columns: str, complaint: str
) -> None:
    lines = (folder.parent / "nodes.csv").read_text().splitlines()
    more = columns.count(",") - 3
    other = [f"id,label,{columns}", *(line + ",0.5" * more for line in lines[1:])]
    (tmp_path / "other.csv").write_text("\n".join(other).replace(",0.5", ",0.25", 40) + "\n")
    options = FileOptions.model_validate({"directed": False, "scale": False})
    convert_tables(folder.parent / "edges.csv", tmp_path / "other.csv", tmp_path / "other", options, Plan.of(10**8))
    model = ContinualClassifier(method="ncm")
    with pytest.warns():
        model.partial_fit(folder_batch(folder))
    assert model.schema_.feature_names == ("a", "b", "c", "d")
    with pytest.raises(DataError, match=complaint):
        model.predict(folder_batch(tmp_path / "other"))


def test_a_model_of_folders_takes_no_tables(folder: Path) -> None:
    tables = read_batch(folder.parent / "nodes.csv", folder.parent / "edges.csv")
    for first, second in ((folder_batch(folder), tables), (tables, folder_batch(folder))):
        model = ContinualClassifier(method="ncm")
        with pytest.warns():
            model.partial_fit(first)
        with pytest.raises(DataError, match="model of tables goes on with tables, one of graph folders"):
            model.predict(second)


def test_the_commands_take_a_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from evergraph.cli import run_main

    model, out = str(tmp_path / "model"), tmp_path / "out.csv"
    assert run_main(["learn", "--model", model, "--nodes", str(folder), "--set", "method.width=64"]) == 0
    capsys.readouterr()
    assert run_main(["predict", "--model", model, "--nodes", str(folder), "--out", str(out), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["nodes"] == summary["labelled"] == 120
    assert summary["right"] > 80
    assert len(out.read_text().splitlines()) == 121
    ids = tmp_path / "ids.txt"
    ids.write_text("\n".join(str(node) for node in folder_batch(folder).ids[:4].tolist()))
    assert run_main(["forget", "--model", model, "--nodes", str(folder), "--ids", str(ids)]) == 0
    assert "4 nodes forgotten" in capsys.readouterr().out
    assert run_main(["predict", "--model", model, "--nodes", str(folder), "--edges", str(out)]) == 2
    assert "a graph folder has its edges and columns, got --edges" in " ".join(capsys.readouterr().err.split())
    monkeypatch.setattr(reading, "bytes_in_memory", lambda _: 10**18)
    assert (
        run_main(["predict", "--model", model, "--nodes", str(folder), "--out", str(out), "--memory", "50MB"]) == 0
    )
    assert "read from disk in blocks (memory 0.05 GB)" in " ".join(capsys.readouterr().err.split())
    assert run_main(["learn", "--model", f"{model}2", "--nodes", str(folder), "--category", "a"]) == 2
    assert "got --category" in " ".join(capsys.readouterr().err.split())
