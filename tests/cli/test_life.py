"""evergraph learn, predict, inspect, forget, merge on a person's own monthly files."""

import csv
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from evergraph import ContinualClassifier, load_dataset
from evergraph.cli import run_main

GRAPH = load_dataset("digits")
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
MONTHS = ((0, 1, 2, 3), (2, 3, 4, 5, 6), (0, 5, 6, 7, 8, 9))
SMALL = ["--set", "method.width=128"]


class Company:
    """Digits as the files of three months: names, gaps, a category, revenues, classes that come back."""

    def __init__(self, folder: Path):
        self.folder = folder
        rng = np.random.default_rng(0)
        self.arrival = np.zeros(GRAPH.n_nodes, dtype=np.int64)
        for digit in range(10):
            rows = np.flatnonzero(GRAPH.labels == digit)
            self.arrival[rows] = rng.choice([month for month, own in enumerate(MONTHS) if digit in own], len(rows))
        self.hidden = rng.random(GRAPH.n_nodes) < 0.4
        self.extra = {
            "shop": rng.choice(["north", "south", "east"], GRAPH.n_nodes).tolist(),
            "revenue": np.exp(rng.normal(13, 2, GRAPH.n_nodes)).round(2).tolist(),
        }
        for month in range(3):
            known = self.arrival <= month
            self.write(f"{month}", known, known & (self.arrival == month) & ~self.hidden)
        self.write("all", self.arrival >= 0, ~self.hidden)
        self.write("truth", self.arrival >= 0, self.hidden)

    def write(self, name: str, nodes: Any, labelled: Any) -> None:
        values = np.asarray(GRAPH.features).tolist()
        with (self.folder / f"nodes-{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "topic", *self.extra, *(f"pixel {place}" for place in range(64))])
            for row in np.flatnonzero(nodes).tolist():
                label = NAMES[GRAPH.labels[row]] if labelled[row] else ""
                writer.writerow([f"n{row}", label, *(column[row] for column in self.extra.values()), *values[row]])
        pairs = np.stack(GRAPH.adjacency.nonzero(), axis=1)
        pairs = pairs[(pairs[:, 0] < pairs[:, 1]) & nodes[pairs].all(axis=1)]
        lines = "".join(f"n{one},n{other}\n" for one, other in pairs.tolist())
        (self.folder / f"edges-{name}.csv").write_text("source,target\n" + lines)

    def files(self, name: str, label: bool = True) -> list[str]:
        files = [
            "--nodes",
            str(self.folder / f"nodes-{name}.csv"),
            "--edges",
            str(self.folder / f"edges-{name}.csv"),
        ]
        return [*files, *(["--label-column", "topic"] if label else [])]


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Company:
    return Company(tmp_path_factory.mktemp("company"))


@pytest.fixture(scope="module")
def model(company: Company) -> Path:
    folder = company.folder / "model"
    assert run_main(["learn", "--model", str(folder), *company.files("0"), *SMALL]) == 0
    for month in ("1", "2"):
        assert run_main(["learn", "--model", str(folder), *company.files(month)]) == 0
    return folder


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run_main([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_month_by_month_is_within_a_point_of_everything_at_once(
    company: Company, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = str(company.folder / "whole")
    assert run_main(["learn", "--model", whole, *company.files("all"), *SMALL]) == 0
    right = []
    for folder in (str(model), whole):
        out = company.folder / "predictions.csv"
        found = answer(capsys, "predict", "--model", folder, *company.files("truth"), "--out", str(out))
        assert found["labelled"] == company.hidden.sum()
        right.append(found["right"] / found["labelled"])
    assert right[0] > right[1] - 0.01
    assert right[0] > 0.95


def test_predictions_have_ids_names_and_probabilities(company: Company, model: Path) -> None:
    out = company.folder / "rows.csv"
    assert run_main(["predict", "--model", str(model), *company.files("2", label=False), "--out", str(out)]) == 0
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == GRAPH.n_nodes
    assert list(rows[0]) == ["id", "label", "probability", "margin"]
    assert [row["id"] for row in rows] == [f"n{row}" for row in range(GRAPH.n_nodes)]
    assert {row["label"] for row in rows} == set(NAMES)
    assert all(0 <= float(row["margin"]) <= float(row["probability"]) <= 1 for row in rows)
    unsure = company.folder / "unsure.csv"
    arguments = [*company.files("2", label=False), "--unknown", "0.9", "--out", str(unsure)]
    assert run_main(["predict", "--model", str(model), *arguments]) == 0
    with unsure.open(newline="", encoding="utf-8") as file:
        for row, before in zip(csv.DictReader(file), rows, strict=True):
            assert row["label"] == ("unknown" if float(before["probability"]) < 0.9 else before["label"])


def test_labels_of_classes_that_were_not_learned_are_counted_and_named(
    company: Company, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = str(company.folder / "first"), str(company.folder / "first.csv")
    assert run_main(["learn", "--model", folder, *company.files("0"), *SMALL]) == 0
    predict = ["predict", "--model", folder, *company.files("1"), "--out", out]
    new = [NAMES[digit] for digit in GRAPH.labels[(company.arrival == 1) & ~company.hidden] if digit > 3]
    found = answer(capsys, *predict)
    assert found["not_learned"] == len(new) > 0
    assert found["not_learned_classes"] == sorted(set(new)) == ["five", "four", "six"]
    assert run_main(predict) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"as predicted; {len(new)} of them name classes that the model has not learned: five, four, six" in said
    found = answer(capsys, "predict", "--model", folder, *company.files("0"), "--out", out)
    assert (found["not_learned"], found["not_learned_classes"]) == (0, [])


def test_learning_tells_columns_classes_and_changes(company: Company, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(company.folder / "told")
    assert run_main(["learn", "--model", folder, *company.files("0"), *SMALL]) == 0
    said = capsys.readouterr()
    assert "revenue" in said.err
    assert "categories: shop" in said.err
    assert "new classes: one, three, two, zero" in said.out
    assert run_main(["learn", "--model", folder, *company.files("1")]) == 0
    said = capsys.readouterr()
    assert "more of: three, two" in said.out
    assert "+0.0" in said.out
    assert run_main(["learn", "--model", folder, *company.files("1")]) == 2
    assert "nothing has changed" in capsys.readouterr().err


def test_inspect_shows_steps_and_draws_them(
    company: Company, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "inspect", str(model))
    assert [step["kind"] for step in found["history"]][:3] == ["learn"] * 3
    assert set(found["known_classes"]) == set(NAMES)
    assert found["memory"]["learner"] > 0
    picture = company.folder / "history.png"
    assert run_main(["inspect", str(model), "--picture", str(picture)]) == 0
    height, width, _ = imread(picture).shape
    assert width > height > 300
    assert "3 learn" in capsys.readouterr().out


def test_forgetting_is_exact_and_refuses_what_was_not_learned(
    company: Company, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied = company.folder / "forgetful"
    ContinualClassifier.load(model).save(copied)
    first = np.flatnonzero((company.arrival == 0) & ~company.hidden)[:5]
    ids = company.folder / "ids.txt"
    ids.write_text("".join(f"n{row}\n" for row in first))
    arguments = ["forget", "--model", str(copied), "--ids", str(ids)]
    found = answer(capsys, *arguments, *company.files("0"))
    assert (found["nodes"], found["exact"]) == (5, True)
    assert run_main([*arguments, *company.files("0")]) == 2
    assert f"got n{first[0]}, which was not" in capsys.readouterr().err
    other = np.flatnonzero((company.arrival == 0) & ~company.hidden)[5:9]
    ids.write_text("".join(f"n{row}\n" for row in other))
    assert run_main([*arguments, *company.files("2")]) == 2
    assert "as they were when they were learned" in capsys.readouterr().err


def test_two_models_merge(company: Company, capsys: pytest.CaptureFixture[str]) -> None:
    """The second begins like the first, so that they have one schema."""
    base, other, both = (company.folder / name for name in ("base", "other", "both"))
    assert run_main(["learn", "--model", str(base), *company.files("0"), *SMALL]) == 0
    assert run_main(["learn", "--model", str(other), *company.files("1"), *SMALL]) == 0
    capsys.readouterr()
    assert run_main(["merge", str(base), str(other), "--model", str(both)]) == 2
    assert "got other columns, scaling or categories" in capsys.readouterr().err
    assert not both.exists()
    sibling = company.folder / "sibling"
    assert run_main(["learn", "--model", str(sibling), *company.files("1"), "--like", str(base), *SMALL]) == 2
    assert "--like has all settings, got --set too" in capsys.readouterr().err
    assert run_main(["learn", "--model", str(sibling), *company.files("1"), "--like", str(base)]) == 0
    capsys.readouterr()
    assert run_main(["merge", str(base), str(sibling), "--model", str(both)]) == 0
    assert re.fullmatch(
        r"note: chosen: hops .*, by .*; a model that learned both may have chosen otherwise, and the next batch "
        r"may change it\n",
        capsys.readouterr().err,
    )
    step = answer(capsys, "inspect", str(both))["history"][-1]
    (other,) = answer(capsys, "inspect", str(sibling))["history"]
    for name in ("nodes", "labelled", "learned", "held_out"):
        assert step[name] == other[name] > 0
    assert run_main(["learn", "--model", str(base), *company.files("1")]) == 0
    one, two = (ContinualClassifier.load(folder) for folder in (both, base))
    assert one.classes_.tolist() == two.classes_.tolist()
    for name, value in two.contents()[1].items():
        if name.startswith(("learner.statistics", "ledger")):
            assert np.array_equal(one.contents()[1][name], value)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["predict", "--model", "{tmp}/none", "--nodes", "{0}"], "none"),
        (["inspect", "{tmp}/none"], "none"),
        (["forget", "--model", "{tmp}/none", "--nodes", "{0}", "--ids", "{0}"], "learn first"),
        (["learn", "--model", "{model}", "--nodes", "{0}", "--method", "ssm"], "--method is for a new model"),
        (["learn", "--model", "{model}", "--nodes", "{0}", "--seed", "4"], "--seed is for a new model"),
        (["learn", "--model", "{model}", "--nodes", "{0}", "--set", "train.lr=1"], "--set is for a new model"),
        (["learn", "--model", "{tmp}/a", "--nodes", "{0}"], "got none; name their column"),
        (["learn", "--model", "{tmp}/a", "--nodes", "{0}", "--label-column", "topics"], "topics"),
        (["learn", "--model", "{tmp}/a", "--nodes", "{0}", "--label-column", "topic", "--ignore", "x"], "'x'"),
        (["learn", "--model", "{tmp}/a", "--nodes", "{tmp}/no.csv"], "no.csv"),
        (["learn", "--model", "{tmp}/a", "--nodes", "{0}", "--edges", "{0}"], "source"),
        (["learn", "--model", "{tmp}/a", "--nodes", "{0}", "--label-column", "topic", "--holdout", "2"], "holdout"),
        (["learn", "--model", "{tmp}/a", "--nodes", "{0}", "--label-column", "topic", "--method", "x"], "x"),
        (["learn", "--model", "{0}", "--nodes", "{0}", "--label-column", "topic"], "nodes-0.csv"),
        (["merge", "{model}", "{model}", "--model", "{tmp}/m"], "nodes that both have learned"),
        (["merge", "{model}", "{tmp}/none", "--model", "{tmp}/m"], "none"),
        (["predict", "--model", "{model}", "--nodes", "{0}", "--out", "{tmp}/no/p.csv"], "cannot be written"),
    ],
)
def test_bad_use_is_one_sentence_and_changes_nothing(
    company: Company,
    model: Path,
    tmp_path: Path,
    arguments: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    names = {"tmp": str(tmp_path), "model": str(model)}
    filled = [part.format(company.folder / "nodes-0.csv", **names) for part in arguments]
    capsys.readouterr()
    assert run_main(filled) == 2
    said = capsys.readouterr().err.strip()
    assert says in said
    assert "Traceback" not in said
    assert {path.name: path.read_bytes() for path in model.iterdir()} == before
    assert list(tmp_path.iterdir()) == []


def test_the_examples_in_the_help_work(
    company: Company, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a folder with nodes.csv, edges.csv, ids.txt and two models that can be merged."""
    for kind in ("nodes", "edges"):
        shutil.copy(company.folder / f"{kind}-0.csv", tmp_path / f"{kind}.csv")
    learned = np.flatnonzero((company.arrival == 0) & ~company.hidden)[:2]
    (tmp_path / "ids.txt").write_text("".join(f"n{row}\n" for row in learned))
    monkeypatch.chdir(tmp_path)
    assert run_main(["learn", "--model", "model-a", *company.files("0"), *SMALL]) == 0
    assert run_main(["learn", "--model", "model-b", "--like", "model-a", *company.files("1")]) == 0
    for command in ("learn", "predict", "inspect", "forget", "merge"):
        capsys.readouterr()
        assert run_main([command, "--help"]) == 0
        text = " ".join(capsys.readouterr().out.split())
        (example,) = re.findall(r"Example: evergraph (.*)$", text)
        assert run_main(shlex.split(example)) == 0, (example, capsys.readouterr().err)
        assert capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} >= {"model", "both", "predictions.csv"}


def test_predictions_do_not_replace_what_was_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    company = Company(tmp_path)
    model = str(tmp_path / "model")
    assert run_main(["learn", "--model", model, *company.files("0"), *SMALL]) == 0
    nodes = tmp_path / "nodes-1.csv"
    before = nodes.read_bytes()
    for name, said in (("nodes-1.csv", "another file than those that are read"), ("p.parquet", "end it in .csv")):
        assert run_main(["predict", "--model", model, *company.files("1"), "--out", str(tmp_path / name)]) == 2
        assert said in capsys.readouterr().err
    assert nodes.read_bytes() == before
    assert not (tmp_path / "p.parquet").exists()


def test_a_mean_says_over_which_classes_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"n{row},{'ab'[row % 2] if row < 40 else 'cd'[row % 2]},{row % 7}" for row in range(80)]
    for name, part in (("first", rows[:40]), ("second", rows[40:])):
        (tmp_path / f"{name}.csv").write_text("id,label,x\n" + "\n".join(part) + "\n")
        arguments = ["--model", str(tmp_path / "m"), "--nodes", str(tmp_path / f"{name}.csv")]
        new = ["--method", "finetune", "--holdout", "0.2", "--set", "train.epochs=2"] if name == "first" else []
        assert run_main(["learn", *arguments, *new]) == 0
    shown = capsys.readouterr()
    assert "mean over 2 of 4 classes" in shown.out
    assert "not tested, as no held-out node of them is there: a, b" in shown.err
