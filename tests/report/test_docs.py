"""The page in docs/ and the README show the committed records."""

import re
import runpy
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

from evergraph.paper.published import PANG_2024
from evergraph.report.page import page
from evergraph.results.groups import data_sets
from evergraph.results.load import read_results
from evergraph.runs.execute import run
from helpers import quick_config

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import result_tables  # noqa: E402

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
SHOWN = re.findall(r"PAGE := \$\(foreach name,(.*),results/", MAKEFILE)[0].split()
COMMAND = f"evergraph report {' '.join(f'results/{name}.json' for name in SHOWN)} --out docs/report.html"


def test_the_page_agrees_with_the_records() -> None:
    results, notes = read_results([ROOT / "results" / f"{name}.json" for name in SHOWN])
    written = (ROOT / "docs" / "report.html").read_text(encoding="utf-8")
    assert written == page(data_sets(results), notes, PANG_2024), f"write it again: {COMMAND}"
    assert len(written.encode()) < 8 * 2**20


def test_the_picture_of_the_demo_is_drawn_from_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for method in ("finetune", "ftf-er-det", "ftf-er-prob"):
        run(quick_config(method, train={"epochs": 1}), tmp_path / "runs")
    monkeypatch.setattr(sys, "argv", ["draw_demo.py", str(tmp_path / "runs"), str(tmp_path / "demo.png")])
    runpy.run_path(str(ROOT / "docs" / "draw_demo.py"), run_name="__main__")
    height, width, _ = imread(tmp_path / "demo.png").shape
    assert width > 2 * height > 400
    height, width, _ = imread(tmp_path / "demo-narrow.png").shape
    assert height > 2 * width > 400


def test_the_tables_of_the_whole_graph_agree_with_the_records() -> None:
    written = (ROOT / "docs" / "whole-graph.md").read_text(encoding="utf-8")
    assert written.endswith(result_tables.whole_graph_tables()), "write them again: python tools/result_tables.py"


def test_the_first_table_of_the_readme_agrees_with_the_records() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"\n\n{result_tables.readme_table()}\n" in readme, "write it again: python tools/result_tables.py"


def test_the_readme_is_short() -> None:
    """Who wants more follows its links; the table is beside it."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert 700 < sum(len(line.split()) for line in lines if not line.startswith("|")) < 1150


def test_what_the_readme_says_of_torn_out_nodes_is_so() -> None:
    """They fall on Amazon Computers with the default loss, less with logit adjustment."""
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "With the default loss, what keeps only torn-out nodes falls" in text
    (default,), (adjusted,) = result_tables.shown("whole-amazon"), result_tables.shown("balance-amazon")
    found = {group.method: group.tested("global") for group in adjusted.groups}
    torn_out = ("random-replay", "gem", "ftf-er-prob", "ftf-er-det", "er-gnn-mf", "er-gnn-cm")
    falling = [group for group in default.groups if group.method in torn_out]
    assert len(falling) == len(torn_out)
    for group in falling:
        whole, local = group.tested("global"), group.tested("local")
        assert whole is not None
        assert local is not None
        assert whole.mean < local.mean - 5
        other = found.get(group.method, local)
        assert other is not None
        assert other.mean > whole.mean + 5


def test_the_command_that_makes_it_is_shown() -> None:
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert COMMAND in re.sub(r"\\\n\s*", "", text)


@pytest.mark.parametrize("name", ["README.md", "docs/results.md"])
def test_values_of_a_summary_stand_in_the_tables(name: str) -> None:
    pages = ("REPRODUCIBILITY.md", "docs/whole-graph.md")
    texts = "".join((ROOT / page).read_text(encoding="utf-8") for page in pages)
    values = re.findall(r"\d+\.\d ± \d+\.\d", (ROOT / name).read_text(encoding="utf-8"))
    assert values
    assert [value for value in values if not re.search(rf"(?<!\d){value}(?!\d)", texts)] == []
