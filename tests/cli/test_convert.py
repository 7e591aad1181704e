"""evergraph data convert, and graph folders in every command that takes a data set."""

import re
import shlex
from pathlib import Path

import pytest

from .conftest import Call


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A graph of six classes as two tables."""
    nodes = [f"n{row},c{row % 6},{row % 6 + row % 5 / 9:.3f},{row % 4}" for row in range(60)]
    (tmp_path / "nodes.csv").write_text("id,topic,size,born\n" + "\n".join(nodes) + "\n")
    edges = [f"n{row},n{(row + step) % 60}" for row in range(60) for step in (6, 12, 1)]
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    return tmp_path


CONVERT = ("data", "convert", "--edges", "edges.csv", "--nodes", "nodes.csv", "--out", "graph/")


def test_the_example_in_the_help_works(call: Call, tables: Path) -> None:
    text = " ".join(call("data", "convert", "--help").out.split())
    (found,) = re.findall(r"Example: evergraph (.*)$", text)
    (tables / "nodes.csv").write_text((tables / "nodes.csv").read_text().replace("topic", "label", 1))
    answer = call(*shlex.split(found))
    assert answer.code == 0, answer.err
    assert (
        "memory of 2 GB besides the program's own: 50,000 nodes and 50,000 edges are read at a time" in answer.err
    )


def test_a_folder_is_a_data_set(call: Call, tables: Path) -> None:
    made = call(*CONVERT, "--label-column", "topic", "--time-column", "born", "--memory", "60MB", "--json").json()
    assert (made["nodes"], made["edges"], made["features"], made["times"]) == (60, 180, 1, True)
    option = ("--set", "dataset.options.label_column=topic", "--set", "dataset.options.time_column=born")
    from_tables = call("data", "info", "./edges.csv", *option, "--json").json()
    info = call("data", "info", "graph/", "--json").json()
    assert {**info, "name": ""} == {**from_tables, "name": ""}
    checked = call("data", "check", "graph/", "--json").json()
    assert checked["ok"]
    assert checked["edges"] == 180
    common = ("--method", "finetune", "--epochs", "2", "--json")
    by_folder = call("run", "--dataset", "graph/", *common, "--out", "one").json()
    by_tables = call("run", "--dataset", "./edges.csv", *option, *common, "--out", "two").json()
    assert by_folder["aa"] == by_tables["aa"]
    assert by_folder["classes"] == by_tables["classes"]
    answer = call("score", "--dataset", "graph/", "--score", "degree", "--out", "scores.csv")
    assert answer.code == 0, answer.err
    assert (tables / "scores.csv").read_text().splitlines()[1].startswith("n")


def test_damage_is_one_sentence(call: Call, tables: Path) -> None:
    assert call(*CONVERT, "--label-column", "topic").code == 0
    content = bytearray((tables / "graph" / "features.npy").read_bytes())
    content[-1] ^= 1
    (tables / "graph" / "features.npy").write_bytes(bytes(content))
    assert call("data", "info", "graph/").code == 0
    answer = call("data", "check", "graph/")
    assert answer.code != 0
    assert "features.npy must be as it was written, got other bytes instead; take another copy" in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "must have a column 'label'"),
        (("--label-column", "topic", "--memory", "much"), "--memory must be a size such as 2GB"),
        (("--label-column", "topic", "--memory", "1MB"), "--memory must be at least 50 MB"),
        (("--label-column", "topic", "--set", "dataset.name=digits"), "--set takes dataset.options.* here"),
        (("--label-column", "topic", "--set", "dataset.options=5"), "--set takes dataset.options.* here"),
        (("--label-column", "topic", "--set", "train.lr=5"), "--set takes dataset.options.* here"),
        (("--label-column", "topic", "--set", "dataset.options.colour=red"), "colour"),
        (("--label-column", "topic", "--edges", "none.csv"), "got no such file instead"),
        (("--label-column", "topic", "--nodes", "nodes.xlsx"), "a table must end in"),
        (("--label-column", "topic", "--out", "nodes.csv"), "must be a new folder, got one that is there"),
        (("--label-column", "topic", "--out", "nodes.csv/graph"), "cannot be made"),
    ],
)
def test_bad_input_is_one_sentence(call: Call, tables: Path, arguments: tuple[str, ...], message: str) -> None:
    before = sorted(path.name for path in tables.iterdir())
    answer = call(*CONVERT, *arguments)
    assert answer.code != 0
    assert message in " ".join(answer.err.split())
    assert "Traceback" not in answer.err
    assert sorted(path.name for path in tables.iterdir()) == before
