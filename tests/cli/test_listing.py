"""evergraph list and evergraph data."""

from pathlib import Path

import pytest

from evergraph.backbones import BACKBONES
from evergraph.data.datasets import DATASETS
from evergraph.methods import METHODS

from .conftest import Call, write_tiny

TABLES = {"methods": list(METHODS), "backbones": list(BACKBONES), "datasets": list(DATASETS)}


@pytest.mark.parametrize("kind", list(TABLES))
def test_every_entry_of_a_table_is_listed(call: Call, kind: str) -> None:
    rows = call("list", kind, "--json").json()[kind]
    assert [row["name"] for row in rows] == TABLES[kind]
    assert all(row["summary"] and row["paper"] for row in rows)
    assert all(isinstance(row["settings"], dict) for row in rows)
    plain = call("list", kind)
    assert plain.code == 0
    assert all(name in plain.out for name in TABLES[kind])


def test_scores_are_listed(call: Call) -> None:
    rows = call("list", "scores", "--json").json()["scores"]
    assert {"name", "summary", "paper"} <= set(rows[0])


def test_default_settings_are_listed(call: Call) -> None:
    rows = {row["name"]: row["settings"] for row in call("list", "backbones", "--json").json()["backbones"]}
    assert rows["gcn"] == {"hidden": 256, "norm": "symmetric", "bias": True}


def test_data_list_says_what_is_on_this_disk(call: Call) -> None:
    rows = {row["name"]: row for row in call("data", "list", "--json").json()["datasets"]}
    assert list(rows) == list(DATASETS)
    assert rows["digits"]["here"] is True
    assert rows["reddit"]["here"] is False
    assert "digits" in call("data", "list").out


def test_data_info_counts_after_standardisation(call: Call) -> None:
    found = call("data", "info", "digits", "--json").json()
    assert {key: found[key] for key in ("nodes", "features", "classes", "tasks", "directed")} == {
        "nodes": 1797,
        "features": 64,
        "classes": 10,
        "tasks": 5,
        "directed": False,
    }
    assert found["edges"] % 2 == 0
    assert found["citation"]
    assert "1,797" in call("data", "info", "digits").out


def test_data_info_of_an_own_file(call: Call, tmp_path: Path) -> None:
    file = write_tiny(tmp_path / "tiny.npz")
    found = call("data", "info", file, "--features", "degree", "--json").json()
    assert found["tasks"] == 3
    assert found["remarks"] == [
        "1 of 54 nodes are outside of the largest connected component and left out "
        "(--set dataset.standardise.largest_component=false keeps them)",
        "features derived from the graph (degree), not the data set's own",
    ]


def test_data_info_takes_settings_of_the_data_set_only(call: Call) -> None:
    assert call("data", "info", "sbm", "--set", "dataset.options.nodes=300", "--json").json()["nodes"] <= 300
    assert (
        "--set takes dataset.* here, got train.* instead"
        in call("data", "info", "sbm", "--set", "train.epochs=3").err
    )


def test_data_info_of_a_graph_that_is_too_small_to_learn_from(call: Call, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "nodes.csv").write_text("id,label,x\na,0,1\nb,1,2\nc,1,3\n")
    found = call(
        "data", "info", tmp_path / "edges.csv", "--set", f"dataset.options.nodes={tmp_path / 'nodes.csv'}", "--json"
    )
    assert found.json()["nodes"] == 3
    assert found.json()["tasks"] == 0
    assert "at least one task is wanted" in found.json()["remarks"][-1]


def test_data_fetch_of_what_needs_no_file(call: Call) -> None:
    answer = call("data", "fetch", "digits", "--json")
    assert answer.json() == {"name": "digits", "files": []}
    assert "needs no file" in answer.err


def test_data_check(call: Call) -> None:
    found = call("data", "check", "digits", "--json").json()
    assert found["ok"] is True
    assert found["nodes"] == 1797
