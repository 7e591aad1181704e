"""REPRODUCIBILITY.md says what the committed records say."""

import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evergraph.paper import reproducibility
from evergraph.paper.published import main_result
from evergraph.paper.reproducibility import fusion_table, rendered, settings_table
from evergraph.results.groups import Stat
from evergraph.results.records import SmallRecord, checked
from report.test_page import small

ROOT = Path(__file__).parents[2]


def record(method: dict[str, Any], aa: float, **config: dict[str, Any]) -> SmallRecord:
    content = small(aa=aa)
    content["config"] |= {"method": method, **{name: {"name": "x", **section} for name, section in config.items()}}
    return checked(content, "a test")


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


@pytest.mark.parametrize("name", list(reproducibility.TABLES))
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


def test_the_papers_main_table() -> None:
    assert main_result("ftf-er-det", "amazon-computers") == (Stat(94.6, 0.8), Stat(-4.5, 1.1))
    assert main_result("ftf-er-prob", "reddit") == (Stat(95.7, 0.6), Stat(-2.3, 0.5))
    assert main_result("er-gnn-mf", "corafull") == (Stat(10.0, 4.3), Stat(-80.7, 4.7))
    assert main_result("ssm", "ogbn-arxiv") == (Stat(54.7, 2.6), Stat(-13.8, 2.1))
    assert main_result("ssm", "digits") is None
    assert main_result("new", "reddit") is None


def test_tables_show_every_group_once() -> None:
    base = {"name": "ftf-er-det", "feature_score": "grand", "topology_score": "hps", "orientation": "paper"}
    records = [record({**base, "beta": beta}, aa) for beta, aa in ((0.0, 80.0), (0.5, 90.0), (0.5, 92.0))]
    records += [record({**base, "orientation": "opposite", "beta": 0.5}, 70.0)]
    chance = {**base, "feature_score": "random", "topology_score": "none", "beta": 0.0}
    records += [record({"name": "joint"}, 97.0), record(chance, 93.0)]
    records += [record({**base, "topology_score": "random", "beta": 0.5}, aa) for aa in (94.0, 96.0)]
    table = fusion_table(records)
    assert "| ftf-er-det, paper | 80.0 / -20.0 | 91.0 ± 1.4 / -9.0 ± 1.4 |" in table
    assert "| ftf-er-det, opposite | 80.0 / -20.0 | 70.0 / -30.0 |" in table
    assert table.endswith(
        "- random selection: 93.0 / -7.0 (seeds: 1)\n"
        "- ftf-er-det, GraNd and noise in the place of the potential, β = 0.5: 95.0 ± 1.4 / -5.0 ± 1.4\n"
        "- joint: 97.0 / -3.0 (seeds: 1)"
    )


def test_settings_stand_beside_each_other() -> None:
    def run(norm: str, epochs: int, feature: str, topology: str, aa: float) -> SmallRecord:
        method = {"name": "ftf-er-det", "feature_score": feature, "topology_score": topology}
        stream, train = {"preprocessing": "row-l2"}, {"epochs": epochs}
        return record(method, aa, backbone={"norm": norm}, stream=stream, train=train)

    table = settings_table(
        [
            run("sum", 200, "random", "none", 90.0),
            run("sum", 200, "grand", "hps", 70.0),
            run("sum", 30, "grand", "hps", 80.0),
        ]
    )
    assert "| sum, row-l2, 30 | – | 80.0 / -20.0 | – | – |" in table
    assert "| sum, row-l2, 200 | 90.0 / -10.0 | 70.0 / -30.0 | – | – |" in table
