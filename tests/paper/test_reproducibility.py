"""REPRODUCIBILITY.md says what the committed records say."""

import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evergraph.paper import reproducibility
from evergraph.paper.reproducibility import rendered

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("document", ["REPRODUCIBILITY.md", "docs/whole-graph.md"])
def test_the_document_agrees_with_the_records(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for name, block in reproducibility.TABLES.items():
        there = (ROOT / "results" / f"{block.file}.json").exists() and block.document == document
        assert (f"<!-- begin {name} -->" in text) == there
    assert rendered(text, ROOT / "results") == text


def test_a_change_in_the_document_is_undone() -> None:
    text = (ROOT / "REPRODUCIBILITY.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| ftf-er-det"))
    assert rendered(text.replace(row, row.replace("±", "+-")), ROOT / "results") == text


def changed_copy(folder: Path, file: str, change: Callable[[dict[str, Any]], None]) -> Path:
    """A folder with one file of records, some of them changed, and nothing else."""
    content = json.loads((ROOT / "results" / f"{file}.json").read_text(encoding="utf-8"))
    for run in content["runs"]:
        change(run)
    (folder / f"{file}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def committed_blocks() -> dict[str, str]:
    """What stands between the marks of the documents."""
    documents = {block.document for block in reproducibility.TABLES.values()}
    text = "".join((ROOT / document).read_text(encoding="utf-8") for document in documents)
    return dict(re.findall(r"<!-- begin ([\w-]+) -->\n(.*?)\n<!-- end \1 -->", text, flags=re.DOTALL))


RECORDED = [
    name for name, block in reproducibility.TABLES.items() if (ROOT / "results" / f"{block.file}.json").exists()
]


@pytest.mark.parametrize("name", RECORDED)
def test_other_records_make_another_table(name: str, tmp_path: Path) -> None:
    """With one percent less in every record no row of figures is the committed one."""

    def lower(run: dict[str, Any]) -> None:
        for key in ("aa", "aa_local", "aa_global"):
            if run.get(key) is not None:
                run[key] -= 1.0

    block = reproducibility.TABLES[name]
    found = block.text(changed_copy(tmp_path, block.file, lower)).splitlines()
    _header, _rule, *lines = committed_blocks()[name].splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert rows
    assert set(rows) & set(found) == set()


def test_one_record_changes_the_figures_of_its_row(tmp_path: Path) -> None:
    def is_it(run: dict[str, Any]) -> bool:
        return bool(run["config"]["method"]["name"] == "gem" and run["config"]["seeds"]["init"] == 1)

    def worse(run: dict[str, Any]) -> None:
        if is_it(run):
            run["aa"], run["af"] = 50.0, -30.0

    runs = json.loads((ROOT / "results" / "methods-digits.json").read_text(encoding="utf-8"))["runs"]
    gem = [run for run in runs if run["config"]["method"]["name"] == "gem"]
    assert sum(map(is_it, gem)) == 1
    cells = []
    for key, value in (("aa", 50.0), ("af", -30.0)):
        values = [value if is_it(run) else run[key] for run in gem]
        cells.append(f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}")
    before = committed_blocks()["methods-digits"].splitlines()
    results = changed_copy(tmp_path, "methods-digits", worse)
    after = reproducibility.TABLES["methods-digits"].text(results).splitlines()
    (row,) = [new for new, old in zip(after, before, strict=True) if new != old]
    assert row.startswith(f"| gem | {cells[0]} / {cells[1]} |")


def test_values_in_the_text_stand_in_the_tables() -> None:
    text = (ROOT / "REPRODUCIBILITY.md").read_text(encoding="utf-8")
    block = re.compile(r"<!-- begin .*?<!-- end .*?-->", re.DOTALL)
    tables, prose = " ".join(block.findall(text)), " ".join(block.sub("", text).split())
    values = re.findall(r"-?\d+\.\d ± \d+\.\d", prose)
    assert values
    assert [value for value in values if f" {value} " not in tables.replace("\n", " ")] == []
