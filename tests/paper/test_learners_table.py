"""Learners that the paper does not have, tested both ways."""

from pathlib import Path
from typing import Any

from evergraph.paper.learners_table import learners_table
from report.test_page import small

from .made_records import write


def run(method: str, aa: float, dataset: str = "amazon-computers", **changes: Any) -> dict[str, Any]:
    content = small(method, aa, **changes)
    content["config"]["dataset"]["name"] = dataset
    return content


def test_the_same_runs_stand_tested_in_the_whole_graph(tmp_path: Path) -> None:
    own = [
        run("ncm", 80.0, aa_global=70.0),
        run("ncm", 82.0, aa_global=74.0, seed=1),
        run("slda", 90.0, aa_global=85.0),
        run("slda", 90.0, seed=1),
        run("ncm", 60.0, "digits"),
    ]
    others = [run("random-replay", 10.0, backbone="gin", seed=seed) for seed in (0, 1)]
    write(tmp_path / "methods-amazon.json", run("random-replay", 85.0, aa_global=65.0), run("ssm", 95.0), *others)
    write(tmp_path / "arxiv.json", run("ncm", 29.0, "ogbn-arxiv"), run("ssm", 57.0, "ogbn-arxiv"))
    assert learners_table(write(tmp_path / "learners.json", *own)).splitlines() == [
        "| method | amazon-computers: AA / AF, % (seeds) | amazon-computers: global AA, % "
        "| digits: AA / AF, % (seeds) | ogbn-arxiv: AA / AF, % (seeds) |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| `slda` | 90.0 ± 0.0 / -10.0 ± 0.0 (2) | – | – | – |",
        "| `random-replay` | 85.0 / -15.0 (1) | 65.0 | – | – |",
        "| `ncm` | 81.0 ± 1.4 / -19.0 ± 1.4 (2) | 72.0 ± 2.8 | 60.0 / -40.0 (1) | 29.0 / -71.0 (1) |",
    ]
