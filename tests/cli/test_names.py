"""A person's own names of nodes and classes, end to end; and advice that works when it is pasted."""

import csv
import json
import re
import shlex
from pathlib import Path

import pytest

from evergraph.cli import run_main
from evergraph.runs.store import RunStore
from helpers import tiny_graph

from .conftest import Answer, Call

CLASSES = ("ant", "bee", "cat", "dog", "elk", "fox", "gnu")
QUICK = ("--method", "finetune", "--epochs", 1, "--set", "train.threads=1", "--set", "backbone.hidden=4")


def write_tables(folder: Path, *, features: bool = True, repeat: bool = False, nodes: str = "nodes.csv") -> Path:
    """A graph of seven named classes with named nodes as an edge list and a node table."""
    graph = tiny_graph((9,) * 6 + (2,), width=7)
    folder.mkdir(exist_ok=True)
    source, target = graph.adjacency.nonzero()
    lines = [f"n-{a},n-{b}" for a, b in zip(source, target, strict=True)]
    (folder / "edges.csv").write_text("\n".join(["source,target", *lines, *lines[: int(repeat)]]) + "\n")
    rows = [
        f"n-{row},{CLASSES[label]}" + ("," + ",".join(map(str, values)) if features else "")
        for row, (label, values) in enumerate(zip(graph.labels, graph.features.tolist(), strict=True))  # type: ignore[union-attr]
    ]
    names = "".join(f",f{at}" for at in range(7)) if features else ""
    (folder / nodes).write_text("\n".join([f"id,label{names}", *rows]) + "\n")
    return folder / "edges.csv"


def test_scores_have_the_ids_and_class_names_of_the_file(call: Call, tmp_path: Path) -> None:
    data, out = write_tables(tmp_path / "data"), tmp_path / "scores.csv"
    assert call("score", "--dataset", data, "--score", "degree", "--out", out).code == 0
    with out.open() as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "data" / "nodes.csv").open() as file:
        known = {row["id"]: row["label"] for row in csv.DictReader(file)}
    assert list(rows[0]) == ["original_id", "class", "score"]
    assert rows
    assert all(known[row["original_id"]] == row["class"] for row in rows)


def test_messages_and_json_name_classes(call: Call, tmp_path: Path) -> None:
    data = write_tables(tmp_path / "data")
    info = call("data", "info", data, "--json").json()
    assert "dropped classes with fewer than 3 nodes: gnu" in info["remarks"]
    order = ("--set", 'stream.class_order=["fox", "ant", "cat"]')
    answer = call("run", "--dataset", data, *QUICK, *order, "--json")
    assert answer.json()["classes"] == ["fox", "ant"]
    assert "dropped the last of 3 classes (cat)" in " ".join(answer.json()["remarks"])
    wrong = call("run", "--dataset", data, *QUICK, "--set", 'stream.class_order=["fix", "ant"]')
    assert "must list classes of edges, got 'fix' instead; its classes are: ant, bee, cat" in wrong.err


def test_a_model_that_gives_every_node_one_class_is_remarked_on_by_its_name(call: Call, tmp_path: Path) -> None:
    data = write_tables(tmp_path / "data")
    single = ("--set", "stream.classes_per_task=1", "--set", "train.epochs=150", "--set", "train.lr=0.05")
    answer = call("run", "--dataset", data, *QUICK, *single, "--json").json()
    (remark,) = (text for text in answer["remarks"] if "same class" in text)
    assert remark.startswith("of 6 classes only class fox is predicted right after the last task, always")
    shown = call("show", answer["run_dir"])
    assert "only class fox is predicted right" in " ".join(shown.out.split())


# advice

SETTING = re.compile(r"(?:--set )?\b((?:stream|method|dataset|train|backbone)\.[\w.]+=[\w./-]*\w)")
FEATURES = re.compile(r"--features [\w:]+\w")


def advised(said: str) -> list[str]:
    """What the last part of a message tells to add to the command."""
    advice = said.rpartition(";")[2]
    found = FEATURES.findall(advice)
    settings = [part for text in SETTING.findall(advice) for part in ("--set", text)]
    assert found or settings, said
    return shlex.split(found[-1]) if found else settings


def with_advice(call: Call, *arguments: object) -> tuple[Answer, Answer]:
    """The answers to a command, and to the same with what the first answer advises."""
    first = call(*arguments)
    assert first.code == 2, first.err
    assert first.err.count("\n") == 1
    return first, call(*arguments, *advised(first.err))


def test_advice_on_missing_features_works(call: Call, tmp_path: Path) -> None:
    data = write_tables(tmp_path / "data", features=False)
    assert with_advice(call, "run", "--dataset", data, *QUICK)[1].code == 0
    score = ("score", "--dataset", data, "--score", "mf", "--out", tmp_path / "s.csv")
    assert with_advice(call, *score)[1].code == 0


def test_advice_on_repeated_edges_and_a_node_table_elsewhere_works(call: Call, tmp_path: Path) -> None:
    repeated = write_tables(tmp_path / "data", repeat=True)
    assert with_advice(call, "run", "--dataset", repeated, *QUICK)[1].code == 0
    elsewhere = write_tables(tmp_path / "other", nodes="people.csv")
    first = call("run", "--dataset", elsewhere, *QUICK)
    (option,) = (part for part in advised(first.err) if "nodes=" in part)
    key, _, _ = option.partition("=")
    place = tmp_path / "other" / "people.csv"
    assert call("run", "--dataset", elsewhere, *QUICK, "--set", f"{key}={place}").code == 0


@pytest.mark.parametrize(
    "setting",
    ["stream.arrival=time", "method.storage=ids"],
)
def test_advice_on_contradictory_settings_works(call: Call, tmp_path: Path, setting: str) -> None:
    data = write_tables(tmp_path / "data")
    method = "random-replay" if setting.startswith("method") else "finetune"
    arguments = ("run", "--dataset", data, *QUICK, "--method", method, "--set", setting)
    first = call(*arguments)
    assert first.code == 2
    wanted = SETTING.findall(first.err.replace(setting, ""))
    assert wanted
    assert call(*arguments, "--set", wanted[-1]).code == 0


def test_advice_on_an_unfinished_run_is_a_command(call: Call, tmp_path: Path) -> None:
    data = write_tables(tmp_path / "data")
    folder = Path(call("run", "--dataset", data, *QUICK, "--json").json()["run_dir"])
    last = RunStore(folder).tasks_done - 1
    (folder / "record.json").unlink()
    (folder / f"task-{last:03d}.json").unlink()
    (folder / f"state-{last:03d}.safetensors").rename(folder / f"state-{last - 1:03d}.safetensors")
    said = call("show", folder).err
    command = shlex.split(said.partition("resume it: ")[2])
    assert command[:2] == ["evergraph", "run"]
    again = call(*command[1:], "--json").json()
    assert again["run_dir"] == str(folder)
    assert RunStore(folder).finished


def test_advice_after_an_interruption_is_a_command(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    data = write_tables(tmp_path / "a folder with blanks")
    with monkeypatch.context() as patch:
        patch.setattr("evergraph.runs.execute._learn_tasks", interrupted)
        answer = call("run", "--dataset", data, *QUICK)
    assert answer.code == 130
    command = shlex.split(answer.err.partition("resume with: ")[2])
    capfd.readouterr()
    assert run_main([*command[1:], "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["classes"] == list(CLASSES[:6])


def test_a_name_with_a_mistake_is_answered_with_one_that_works(call: Call, tmp_path: Path) -> None:
    data = write_tables(tmp_path / "data")
    arguments = ["score", "--dataset", data, "--out", tmp_path / "s.csv", "--score"]
    said = call(*arguments, "degre").err
    (name,) = re.findall(r"did you mean '(\w+)'", said)
    assert call(*arguments, name).code == 0
