"""--json: every command prints the keys that docs/reference/record.md promises, no more and no fewer."""

import sys
from pathlib import Path

import pytest

from evergraph.estimator.history import ClassAccuracy
from evergraph.experiments.recommend import Candidate
from evergraph.results.groups import Stat
from evergraph.results.seeds import Means

from .conftest import Answer, Call, write_tiny

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from reference_pages import commands, outputs  # noqa: E402

SMALL = ("--set", "method.width=16")


def keys(answer: Answer) -> set[str]:
    return set(answer.json())


def test_every_command_with_json_is_on_the_page() -> None:
    found = {
        command.name.removeprefix("evergraph ")
        for command in commands.commands()
        if any("--json" in one.name for one in command.parameters)
    }
    assert found == set(outputs.OUTPUTS)


def test_a_run_and_what_is_made_of_it(call: Call, tmp_path: Path) -> None:
    graph = write_tiny(tmp_path / "tiny.npz")
    assert keys(call("run", "--dataset", graph, "--method", "ncm", *SMALL, "--json")) == outputs.names("run")
    (folder,) = (tmp_path / "runs").iterdir()
    assert keys(call("show", folder, "--json")) == outputs.names("show")
    assert keys(call("report", folder, "--json")) == outputs.names("report")


def test_several_methods_and_the_candidates_of_a_recommendation(call: Call, tmp_path: Path) -> None:
    graph = write_tiny(tmp_path / "tiny.npz")
    assert keys(call("run", "--dataset", graph, "--method", "ncm,slda", *SMALL, "--json")) == {"runs", "failed"}
    seeds = call("run", "--dataset", graph, "--method", "ncm", "--seed", "0,1", *SMALL, "--json").json()
    assert set(seeds) == {"runs", "failed", "means"}
    assert set(seeds["means"][0]) == {key.name for key in outputs.of(Means)}
    assert set(seeds["means"][0]["aa"]) == {key.name for key in outputs.of(Stat)}
    answer = call("recommend", "--dataset", graph, "--method", "ncm", "--json").json()
    assert set(answer) == outputs.names("recommend")
    assert set(answer["methods"][0]) == {key.name for key in outputs.of(Candidate)}


def test_a_grid(call: Call, tmp_path: Path) -> None:
    write_tiny(tmp_path / "tiny.npz")
    (tmp_path / "grid.toml").write_text(
        'name = "grid"\n[base.dataset]\nname = "tiny.npz"\n[[grid]]\n"method.name" = ["ncm"]\n', encoding="utf-8"
    )
    plan = call("bench", "grid.toml", "--dry-run", "--json").json()
    assert set(plan) == {"experiment", "runs"}
    assert set(plan["runs"][0]) == {"run", "done"}
    assert keys(call("bench", "grid.toml", "--json")) == outputs.names("bench")


def test_a_figure_of_the_paper(call: Call) -> None:
    records = ROOT / "results" / "methods-digits.json"
    answer = call("reproduce", "fig-matrices", "--dataset", "digits", "--from", records, "--json")
    assert keys(answer) == outputs.names("reproduce")


def test_scores(call: Call, tmp_path: Path) -> None:
    graph = write_tiny(tmp_path / "tiny.npz")
    hps = keys(call("score", "--dataset", graph, "--score", "hps", "--out", "hps.csv", "--json"))
    assert hps == outputs.names("score")
    degree = keys(call("score", "--dataset", graph, "--score", "degree", "--out", "degree.csv", "--json"))
    assert degree == hps - {"residual", "iterations", "converged"}


@pytest.mark.parametrize("kind", ["methods", "backbones", "datasets", "scores"])
def test_lists(call: Call, kind: str) -> None:
    answer = call("list", kind, "--json").json()
    assert set(answer) == {kind, *outputs.names("list")} - ({"methods"} - {kind})
    assert {"name", "summary", "paper", "plugin"} <= set(answer[kind][0])


@pytest.mark.parametrize("command", ["data list", "data info", "data fetch", "data cache", "data check"])
def test_data_sets(call: Call, command: str) -> None:
    name = [] if command in ("data list", "data cache") else ["digits"]
    assert keys(call(*command.split(), *name, "--json")) == outputs.names(command)


def test_a_leak(call: Call, tmp_path: Path) -> None:
    graph = write_tiny(tmp_path / "tiny.npz")
    answer = call("probe", "leak", "--dataset", graph, "--json").json()
    assert set(answer) == outputs.names("probe leak")
    assert set(answer["local"]) == {"sets", "nodes"}


def write_tables(folder: Path, name: str = "n") -> tuple[str, ...]:
    """Forty nodes of two topics in two rings, as two files; their ids begin with the name."""
    rows = "".join(f"{name}{at},{'ab'[at % 2]},{at % 2 + at / 100}\n" for at in range(40))
    (folder / f"{name}-nodes.csv").write_text("id,topic,size\n" + rows, encoding="utf-8")
    edges = "".join(f"{name}{at},{name}{(at + 2) % 40}\n" for at in range(40))
    (folder / f"{name}-edges.csv").write_text("source,target\n" + edges, encoding="utf-8")
    return "--nodes", f"{name}-nodes.csv", "--edges", f"{name}-edges.csv", "--label-column", "topic"


def test_tables_become_a_graph_folder(call: Call, tmp_path: Path) -> None:
    files = write_tables(tmp_path)
    answer = call("data", "convert", *files, "--out", "graph", "--json")
    assert keys(answer) == outputs.names("data convert")


def test_the_life_of_a_model(call: Call, tmp_path: Path) -> None:
    files = write_tables(tmp_path)
    step = call("learn", *files, "--model", "model", *SMALL, "--json").json()
    assert set(step) == outputs.names("learn")
    assert set(step["classes"][0]) == {key.name for key in outputs.of(ClassAccuracy)}
    assert keys(call("inspect", "model", "--json")) == outputs.names("inspect")
    predict = ("predict", "--model", "model", *files, "--json")
    assert keys(call(*predict, "--out", "p.csv")) == outputs.names("predict")
    told = call(*predict).json()
    assert set(told) == {*outputs.names("predict"), "predictions"}
    assert set(told["predictions"][0]) == {"id", "label", "probability", "margin"}
    assert call("learn", *write_tables(tmp_path, "m"), "--model", "other", "--like", "model").code == 0
    assert keys(call("merge", "model", "other", "--model", "both", "--json")) == outputs.names("merge")
    (tmp_path / "ids.txt").write_text("n1\n", encoding="utf-8")
    forget = ("forget", "--model", "model", *files, "--ids", "ids.txt", "--json")
    assert keys(call(*forget)) == outputs.names("forget")
