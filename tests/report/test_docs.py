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

SHOWN = (
    "whole-amazon",
    "whole-coauthor",
    "whole-cora",
    "whole-digits",
    "whole-arxiv",
    "patents",
    "methods-amazon",
    "methods-coauthor",
    "methods-cora",
    "arxiv",
    "learners",
)
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
    """Who wants more follows its links."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert 1000 < len(re.sub(r"\|", " ", text).split()) < 1500


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
