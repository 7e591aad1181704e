"""evergraph score: one row for each node, and how exact it is."""

import csv
from pathlib import Path

import numpy as np
import pytest

from evergraph.data.datasets import load_dataset
from evergraph.errors import ConfigError
from evergraph.hodge import hodge_potential
from evergraph.hodge.petsc import petsc_python
from evergraph.scores import SCORES

from .conftest import Call, write_tiny


@pytest.mark.parametrize("score", list(SCORES))
def test_every_score_of_a_file(call: Call, tmp_path: Path, score: str) -> None:
    data, out = write_tiny(tmp_path / "tiny.npz"), tmp_path / "scores.csv"
    quick = ("--epochs", 2) if SCORES[score].needs_model else ()
    answer = call("score", "--dataset", data, "--score", score, *quick, "--out", out, "--json")
    assert answer.code == 0
    graph = load_dataset(str(data))
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["node", "original_id", "class", "score"]
    assert [int(row["node"]) for row in rows] == list(range(graph.n_nodes))
    assert [int(row["original_id"]) for row in rows] == graph.original_ids.tolist()
    assert [int(row["class"]) for row in rows] == graph.labels.tolist()
    assert np.isfinite([float(row["score"]) for row in rows]).all()
    assert answer.json()["nodes"] == graph.n_nodes


def test_the_potential_has_a_certificate_and_two_orientations(call: Call, tmp_path: Path) -> None:
    data, out = write_tiny(tmp_path / "tiny.npz"), tmp_path / "scores.csv"
    exact = hodge_potential(load_dataset(str(data)).adjacency).value
    for orientation, sign in (("paper", 1), ("opposite", -1)):
        facts = call("score", "--dataset", data, "--orientation", orientation, "--out", out, "--json").json()
        assert facts["converged"] is True
        assert facts["residual"] <= 1e-8
        with out.open() as file:
            found = [float(row["score"]) for row in csv.DictReader(file)]
        np.testing.assert_allclose(found, sign * exact, atol=1e-9)


@pytest.mark.parametrize(("method", "directed"), [("blocks", False), ("blocks", True), ("petsc", False)])
def test_the_potential_of_a_graph_folder(call: Call, tmp_path: Path, method: str, directed: bool) -> None:
    if method == "petsc":
        try:
            petsc_python()
        except ConfigError as error:
            pytest.skip(str(error))
    nodes, edges, folder = tmp_path / "nodes.csv", tmp_path / "edges.csv", tmp_path / "graph"
    nodes.write_text("id,label\n" + "".join(f"{row},{row % 2}\n" for row in range(30)))
    rows = [(row, (row * step + 1) % 30) for row in range(28) for step in (1, 7)]
    pairs = sorted({(i, j) if directed else (min(i, j), max(i, j)) for i, j in rows if i != j})
    edges.write_text("source,target\n" + "".join(f"{i},{j}\n" for i, j in pairs))
    kept = ["--set", f"dataset.options.directed={str(directed).lower()}"]
    answer = call("data", "convert", "--edges", edges, "--nodes", nodes, "--out", folder, "--memory", "50MB", *kept)
    assert answer.code == 0
    every = ["--set", "dataset.standardise.largest_component=false"]
    every += ["--set", "dataset.standardise.undirected=false"]
    found = {}
    for way in ("memory", method):
        out = tmp_path / f"{way}.csv"
        ranks = ("--ranks", 1) if way == "petsc" else ()
        options = ("--method", way, *ranks, "--memory", "50MB", "--out", out, "--json", *every)
        facts = call("score", "--dataset", f"{folder}/", *options).json()
        assert facts["converged"] is True
        with out.open() as file:
            found[way] = [float(row["score"]) for row in csv.DictReader(file)]
    assert any(found[method])
    np.testing.assert_allclose(found[method], found["memory"], rtol=0, atol=1e-9)


def test_parquet_holds_the_same_as_csv(call: Call, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    data = write_tiny(tmp_path / "tiny.npz")
    for suffix in ("csv", "parquet"):
        assert call("score", "--dataset", data, "--score", "degree", "--out", tmp_path / f"s.{suffix}").code == 0
    table = parquet.read_table(tmp_path / "s.parquet").to_pydict()
    with (tmp_path / "s.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert table["score"] == [float(row["score"]) for row in rows]
    assert table["class"] == [int(row["class"]) for row in rows]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--score", "hsp"), "did you mean 'hps'"),
        (("--out", "scores.txt"), ".csv or .parquet"),
        (("--out", "no/such/folder/scores.csv"), "cannot be written: No such file or directory"),
        (("--set", "stream.class_order=random"), "got stream.class_order instead; it has no effect on this score"),
        (("--set", "method.budget=3"), "got method.budget instead"),
        (("--set", "seeds.split=3"), "got seeds.split instead"),
        (("--score", "grand", "--epochs", "0"), "train.epochs"),
        (("--score", "grand", "--backbone", "gnc"), "got 'gnc' instead"),
        (("--epochs", "9"), "--epochs goes with a score that trains a model, got --score hps instead"),
        (("--backbone", "gat"), "--backbone goes with a score that trains a model, got --score hps instead"),
        (("--set", "train.epochs=9"), "got train.epochs instead; it has no effect on this score"),
        (("--orientation", "up"), "orientation"),
        (("--orientation", "opposite", "--score", "degree"), "goes with --score hps, got --score degree"),
        (("--method", "blocks", "--score", "degree"), "--method goes with --score hps, got --score degree"),
        (("--method", "disk"), "method has to be one of memory, blocks, petsc, got 'disk'"),
        (("--ranks", "2"), "ranks goes with method=petsc, got it with method=memory"),
        (("--ranks", "2", "--score", "degree"), "--ranks goes with --score hps, got --score degree"),
        (("--memory", "much"), "--memory must be a size such as 2GB or 500MB, got 'much'"),
        (("--method", "blocks", "--memory", "1kB"), "--memory must be at least 50 MB, got 1,000 bytes instead"),
    ],
)
def test_bad_input_is_answered_in_one_sentence(
    call: Call, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    answer = call("score", "--dataset", write_tiny(tmp_path / "t.npz"), "--out", tmp_path / "s.csv", *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_settings_reach_the_graph_and_the_model(call: Call, tmp_path: Path) -> None:
    data, out = write_tiny(tmp_path / "tiny.npz"), tmp_path / "scores.csv"
    every = ("score", "--dataset", data, "--score", "degree", "--out", out, "--json")
    assert call(*every).json()["nodes"] == call(*every, "--set", "dataset.features=degree").json()["nodes"]
    assert "dataset.featurse is not a setting" in call(*every, "--set", "dataset.featurse=degree").err


@pytest.mark.parametrize("score", [name for name, entry in SCORES.items() if entry.on_disk])
def test_a_score_of_a_graph_on_disk_is_that_in_memory(
    call: Call, graph_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, score: str
) -> None:
    out = tmp_path / "scores.csv"
    every = ("score", "--dataset", graph_folder, "--score", score, "--memory", "50MB", "--out", out)
    in_memory = call(*every)
    assert "read from disk" not in in_memory.err
    wanted = out.read_text()
    monkeypatch.setattr("evergraph.data.graph_folder.reading.bytes_in_memory", lambda graph: 10**18)
    monkeypatch.setattr("evergraph.data.on_disk.blocks.MOST_ENTRIES", 7)
    on_disk = call(*every)
    assert on_disk.code == 0
    assert f"note: read from disk (memory 0.05 GB): {score} takes {SCORES[score].on_disk}\n" in on_disk.err
    assert out.read_text() == wanted


@pytest.mark.parametrize("score", [name for name, entry in SCORES.items() if not entry.on_disk])
def test_other_scores_refuse_a_graph_on_disk_before_anything_is_done(call: Call, on_disk: str, score: str) -> None:
    answer = call("score", "--dataset", on_disk, "--score", score, "--memory", "50MB", "--out", "scores.csv")
    assert answer.code == 2
    assert answer.err == (
        f"error: the score {score} needs the whole graph in memory, got graph, which does not fit; raise --memory, "
        "or take --score hps, random, mf, cm or degree\n"
    )
