"""Results as Markdown: both tests, memory and time of every row."""

from pathlib import Path
from typing import Any

import pytest

from evergraph.cli import run_main
from evergraph.report.markdown import glance, markdown
from evergraph.results.groups import data_sets
from evergraph.results.load import read_results

from .test_page import coming_back, small, write


def test_a_table_has_global_and_local_accuracy_memory_and_seconds(tmp_path: Path) -> None:
    runs = [coming_back(60.0, 51.0, 0), coming_back(62.0, 53.0, 1), small("joint", 90.0), small("ssm", 70.0)]
    text = markdown(data_sets(read_results([write(tmp_path / "r.json", *runs)])[0]))
    assert "### amazon-computers, whole graph, by time in 4 steps, inductive\n" in text
    assert (
        "| method | all nodes so far, area, % | by class, area, % | forgetting of a class from its best, % |"
        in text
    )
    row = "| `ssm` | 52.0 ± 1.4 | 52.0 ± 1.4 | -3.0 ± 0.0 | 61.0 ± 1.4 | 66.0 ± 1.4 | -39.0 ± 1.4 | 3.15 | 5 | 2 |"
    assert row in text
    assert "| `joint` | – | 90.0 | -10.0 | all data | 5 | 1 |" in text
    assert text.index("`joint`") < text.rindex("`ssm`")
    assert text.count("forgetting of each class from its best, %") == 1
    assert "\n| `ssm` | 1: -3.0 ± 0.0 |\n" in text


def test_several_data_sets_are_seen_at_a_glance(tmp_path: Path) -> None:
    runs = [coming_back(60.0, 51.0, 0), coming_back(62.0, 53.0, 1), small("joint", 90.0), small("ssm", 70.0)]
    head, rule, *rows = markdown(data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])).splitlines()[:4]
    assert head.count("amazon-computers") == 2
    assert "by time in 4 steps, inductive: all nodes so far (by class), area, %; kept; learning, s |" in head
    assert head.endswith("amazon-computers: global (local) AA, %; kept; learning, s |")
    assert rule == "| --- | --- | --- |"
    assert rows == [
        "| `joint` | – | – (90.0); all data; 5 s |",
        "| `ssm` | 52.0 ± 1.4 (52.0 ± 1.4); 3.15 MB; 5 s | – (70.0); 3.15 MB; 5 s |",
    ]


def test_a_glance_has_both_tests_what_is_kept_and_the_time(tmp_path: Path) -> None:
    runs = [small("joint", 90.0, aa_global=88.0), small("ssm", 70.0, seed=1, aa_global=60.26)]
    memory, seconds = {"nodes": 9, "edges": 0, "bytes": 12_000_000}, {"train": 7.5}
    runs.append(
        small("ssm", 71.0, aa_global=50.0, memory=memory, seconds=seconds, processor_seconds={"train": 6.5})
    )
    runs.append(small("lwf", 20.0, memory={"nodes": 0, "edges": 0, "bytes": 0}, processor_seconds={"train": 3.0}))
    for run in runs[2:]:
        run["config"]["dataset"]["name"] = run["data"]["name"] = "digits"
    assert seen(tmp_path, *runs) == [
        "| method | `amazon-computers`<br>1 seed<br>MB, clock s | `digits`<br>1 seed<br>MB, processor s |",
        "| --- | ---: | ---: |",
        "| `joint` | 88.0 (90.0)<br>all data, 5 s | – |",
        "| `ssm` | 60.3 (70.0)<br>3.15 MB, 5 s | 50.0 (71.0)<br>12.0 MB, 6.5 s |",
        "| `lwf` | – | – (20.0)<br>0 MB, 3 s |",
    ]


def test_a_glance_says_where_seeds_are_others_and_where_classes_come_back(tmp_path: Path) -> None:
    twice = [small(method, 70.0, seed) for method in ("ssm", "gem") for seed in (0, 1)]
    head, _, *rows = seen(tmp_path, *twice, small("joint", 90.0), coming_back(60.0, 51.0, 0))
    assert head.endswith(
        "| `amazon-computers`<br>2 seeds<br>MB, clock s "
        "| `amazon-computers`, by time in 4 steps<br>all nodes so far, area; AA<br>1 seed<br>MB, clock s |"
    )
    assert rows == [
        "| `joint` | – (90.0), 1 seed<br>all data, 5 s | – |",
        "| `ssm` | – (70.0)<br>3.15 MB, 5 s | 51.0, AA 60.0 (65.0)<br>3.15 MB, 5 s |",
        "| `gem` | – (70.0)<br>3.15 MB, 5 s | – |",
    ]


def test_no_line_of_a_glance_breaks(tmp_path: Path) -> None:
    table = glance(data_sets(read_results([write(tmp_path / "r.json", small(), coming_back(60.0, 51.0, 0))])[0]))
    cells = [cell for line in table.splitlines() for cell in line.strip("| ").split(" | ")]
    assert [cell for cell in cells if " " in cell] == []


def seen(folder: Path, *runs: dict[str, Any]) -> list[str]:
    """The lines of a glance, with other spaces than those that do not break."""
    table = glance(data_sets(read_results([write(folder / "r.json", *runs)])[0]))
    return table.replace("\N{NO-BREAK SPACE}", " ").splitlines()


def test_another_code_of_a_plug_in_is_another_row(tmp_path: Path) -> None:
    versions = [{"evergraph": "0.1.0", "method ssm": f"mine.py, code {digest}"} for digest in ("0b90", "1c12")]
    runs = [small("ssm", 70.0, versions=one) for one in versions]
    text = markdown(data_sets(read_results([write(tmp_path / "r.json", *runs)])[0]))
    assert "| `ssm` source mine.py, code 0b90 |" in text


def test_the_suffix_of_the_file_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = write(tmp_path / "r.json", small("ssm", 70.0))
    assert run_main(["report", str(records), "--out", str(tmp_path / "t.md")]) == 0
    text = (tmp_path / "t.md").read_text(encoding="utf-8")
    assert text.startswith("### amazon-computers")
    assert capsys.readouterr().out.endswith(f"t.md: 1 run, {len(text.encode())} bytes\n")


def test_another_suffix_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = write(tmp_path / "r.json", small("ssm", 70.0))
    assert run_main(["report", str(records), "--out", str(tmp_path / "t.txt")]) == 2
    assert "--out must end in .html or .md" in capsys.readouterr().err
    assert not (tmp_path / "t.txt").exists()
