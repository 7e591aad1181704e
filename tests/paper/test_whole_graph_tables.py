"""Tables of runs beside those of another file."""

import json
from pathlib import Path
from typing import Any

from evergraph.paper.whole_graph_tables import blurry_table, later_edges_table
from report.test_page import small


def run(method: str, aa: float, at_the_end: float, *, seed: int = 0, **settings: dict[str, Any]) -> dict[str, Any]:
    """A record with the accuracy on all nodes so far; its area is one point more."""
    so_far = {
        "plain": [90.0, at_the_end],
        "balanced": [90.0, at_the_end],
        "area_plain": at_the_end + 1,
        "area_balanced": at_the_end + 2,
        "class_forgetting": [0.0],
        "forgetting": 0.0,
    }
    content = small(method, aa, seed, so_far_global=so_far)
    for section, values in settings.items():
        content["config"].setdefault(section, {}).update(values)
    return content


def write(path: Path, *runs: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"experiment": "x", "runs": runs}), encoding="utf-8")
    return path


def test_blurry_runs_stand_beside_those_of_the_same_seeds(tmp_path: Path) -> None:
    blurry: Any = {"stream": {"arrival": "blurry"}}
    once = [run("ssm", 70.0, 60.0), run("ssm", 70.0, 99.0, seed=7), run("ncm", 50.0, 40.0)]
    write(tmp_path / "whole-amazon.json", *once)
    found = [run("ncm", 51.0, 71.0, **blurry), run("ssm", 71.0, 80.0, **blurry), run("joint", 72.0, 85.0, **blurry)]
    rows = blurry_table(write(tmp_path / "blurry.json", *found)).splitlines()[2:]
    assert rows == [
        "| amazon-computers, `joint` (1) | 85.0 | – | 86.0 | 72.0 |",
        "| amazon-computers, `ssm` (1) | 80.0 | 60.0 | 81.0 | 71.0 |",
        "| amazon-computers, `ncm` (1) | 71.0 | 40.0 | 72.0 | 51.0 |",
    ]


def test_features_that_know_no_edge_stand_beside_those_that_know_all(tmp_path: Path) -> None:
    write(tmp_path / "patents.json", run("ssm", 70.0, 60.0), run("ssm", 70.0, 62.0, seed=1))
    found = [run("ssm", 40.0, 30.0), run("joint", 42.0, 35.0)]
    assert later_edges_table(write(tmp_path / "patents-random.json", *found)).splitlines()[2:] == [
        "| `joint` | – | 36.0 (37.0) | 42.0 | 1 |",
        "| `ssm` | 62.0 ± 1.4 (63.0 ± 1.4) | 31.0 (32.0) | 40.0 | 1 |",
    ]
