"""Losses, places and what is kept of a node, in one table from four files."""

from pathlib import Path
from typing import Any

from evergraph.paper.fall_table import fall_table
from report.test_page import small

from .made_records import write


def run(aa: float, *, whole: bool, seed: int = 0, method: str = "random-replay", **settings: str) -> dict[str, Any]:
    content = small(method, aa, seed, settings=settings, aa_global=aa - 10, aa_local=aa)
    content["config"]["stream"] = {"inter_task_edges": whole}
    return content


def test_runs_that_the_file_does_not_hold_come_from_those_beside_it(tmp_path: Path) -> None:
    ids: Any = {"storage": "ids"}
    torn_out: Any = {"storage": "subgraph"}
    logit: Any = {"balance": "logit"}
    write(tmp_path / "fall-amazon.json", run(71.0, whole=False), run(10.0, whole=False, seed=7))
    write(tmp_path / "balance-amazon.json", run(74.0, whole=True, **logit))
    storage = [run(73.0, whole=True, **torn_out), run(75.0, whole=True, balance="weight", **ids)]
    write(tmp_path / "storage-amazon.json", *storage, run(20.0, whole=True, method="gem", **ids))
    own = [run(72.0, whole=False, **torn_out, **logit), run(76.0, whole=True, **ids, **logit)]
    header, _, row = fall_table(write(tmp_path / "fall-logit-amazon.json", *own)).splitlines()
    assert header == (
        "| global (local) AA, %; seeds: 1 | task graphs, `weight` | task graphs, `logit` "
        "| whole graph, torn out, `weight` | whole graph, torn out, `logit` "
        "| whole graph, `ids`, `weight` | whole graph, `ids`, `logit` |"
    )
    cells = [f"{aa - 10} ({aa})" for aa in (71.0, 72.0, 73.0, 74.0, 75.0, 76.0)]
    assert row == f"| `random-replay` | {' | '.join(cells)} |"


def test_what_was_not_run_is_a_dash(tmp_path: Path) -> None:
    own = [run(72.0 + seed, whole=False, balance="logit", seed=seed) for seed in (0, 1)]
    header, _, row = fall_table(write(tmp_path / "fall-logit-amazon.json", *own)).splitlines()
    assert "seeds: 2" in header
    assert row == "| `random-replay` | – | 62.5 ± 0.7 (72.5 ± 0.7) | – | – | – | – |"
