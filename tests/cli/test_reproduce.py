"""evergraph reproduce: from the runs to the files."""

from pathlib import Path
from typing import Any

import pytest

from evergraph.cli.console import STDOUT
from evergraph.cli.reproduce import make_request
from evergraph.errors import ConfigError
from evergraph.paper.targets import TARGETS

from .conftest import Answer, Call, write_tiny


def reproduced(call: Call, folder: Path, *arguments: object) -> Answer:
    data = write_tiny(folder / "tiny.npz")
    return call("reproduce", *arguments, "--dataset", data, "--fast", "--jobs", 2)


def test_runs_are_done_once_and_shown_in_every_format(call: Call, tmp_path: Path) -> None:
    first = reproduced(call, tmp_path, "accuracy-matrices", "--json").json()
    assert first["target"] == "fig-matrices"
    assert first["fast"] is True
    assert {Path(file).suffix for file in first["files"]} == {".md", ".tex", ".csv", ".png", ".pdf"}
    assert all((tmp_path / file).stat().st_size for file in first["files"])
    assert {line["row"] for line in first["numbers"]} == {"ftf-er-det", "ftf-er-prob"}
    assert all("by mean validation AA over 1 seed" in line["chosen"] for line in first["numbers"])
    records = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").glob("*/record.json")}
    assert len(records) == 6, "two selections with three β"
    again = reproduced(call, tmp_path, "fig-matrices", "--json").json()
    assert again == first
    assert records == {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").glob("*/record.json")}


def test_the_table_is_printed_and_marked_as_fast(call: Call, tmp_path: Path) -> None:
    answer = reproduced(call, tmp_path, "fig-matrices", "--backbone", "gin")
    assert answer.code == 0
    assert "(fast: 30 epochs instead of 200)" in " ".join(answer.out.split())
    assert "ftf-er-prob" in answer.out
    assert "written: " in answer.out


def test_methods_can_be_told_apart_in_a_narrow_terminal(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(STDOUT, "width", 80)
    records = Path(__file__).parents[2] / "results" / "methods-amazon.json"
    shown = call("reproduce", "table2", "--dataset", "amazon-computers", "--from", records).out
    assert all(f"│ {name} " in shown for name in ("er-gnn-mf", "er-gnn-cm", "ftf-er-det", "ftf-er-prob"))


def test_embeddings_are_projected(call: Call, tmp_path: Path) -> None:
    facts: dict[str, Any] = call("reproduce", "embeddings", "--dataset", "digits", "--fast", "--json").json()
    assert [line["row"] for line in facts["numbers"]] == ["ftf-er-det", "ssm", "er-gnn-cm", "twp"]
    assert all(-1 <= line["silhouette"] <= 1 for line in facts["numbers"])
    assert len(list((tmp_path / "runs").glob("*/projection.json"))) == 4


def test_from_shows_what_is_there_and_runs_nothing(call: Call, tmp_path: Path) -> None:
    reproduced(call, tmp_path, "fig-matrices")
    runs = sorted((tmp_path / "runs").iterdir())
    answer = reproduced(call, tmp_path, "fig-curves", "--from", tmp_path / "runs")
    assert answer.code == 0
    assert "no run yet" in answer.out
    assert "runs are not there yet" in " ".join(answer.out.split())
    assert sorted((tmp_path / "runs").iterdir()) == runs


def test_a_failed_run_is_told_and_the_others_are_shown(call: Call, tmp_path: Path) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    call("reproduce", "fig-matrices", "--dataset", data, "--fast", "--jobs", 2)
    for record in list((tmp_path / "runs").glob("*prob*/record.json")):
        record.unlink()
    data.unlink()
    answer = call("reproduce", "fig-matrices", "--dataset", data, "--fast", "--jobs", 2)
    assert answer.code == 1
    assert "failed: tiny-ftf-er-prob" in answer.err
    assert "ftf-er-det" in answer.out


def test_without_any_finished_run_there_is_one_sentence(call: Call, tmp_path: Path) -> None:
    answer = call("reproduce", "fig-matrices", "--dataset", tmp_path / "none.npz", "--fast")
    assert answer.code == 2
    assert "fig-matrices needs at least one finished run, got none:" in answer.err


def test_defaults_come_from_the_target() -> None:
    plain = make_request(TARGETS["table2"], None, None, None, None, fast=False)
    assert (plain.dataset, plain.backbones, plain.seeds) == (
        "amazon-computers",
        ("gcn", "gat", "gin"),
        tuple(range(5)),
    )
    assert make_request(TARGETS["table3"], None, "degree", None, None, fast=False).dataset == "ogbn-arxiv"
    assert make_request(TARGETS["table2"], "Digits", None, 2, "GIN, gcn", fast=True).backbones == ("gin", "gcn")
    assert make_request(TARGETS["fig-tsne"], None, None, None, None, fast=False).seeds == (0,)
    with pytest.raises(ConfigError, match="each backbone is wanted once"):
        make_request(TARGETS["table2"], None, None, None, "gcn,gcn", fast=False)


def test_the_budget_reaches_the_runs(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*rest: object, **options: object) -> None:
        raise ConfigError(f"{options['memory']}, {options['scratch']}")

    monkeypatch.setattr("evergraph.cli.execution.do_runs", asked)
    answer = call("reproduce", "table2", "--dataset", "digits", "--memory", "1GB", "--scratch", "here")
    assert answer.err == "error: 1GB, here\n"
