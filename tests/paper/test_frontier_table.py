"""Methods by what they keep, beside runs that learned in the whole graph."""

from pathlib import Path
from typing import Any

import pytest

from evergraph.paper.frontier_table import frontier_table
from report.test_page import small

from .made_records import write


def run(
    method: str, aa: float, megabytes: float, *, whole: bool = False, seed: int = 0, **settings: Any
) -> dict[str, Any]:
    memory = {"nodes": 0, "edges": 0, "bytes": int(megabytes * 10**6)}
    changed = [f"method.{name}" for name in settings]
    content = small(method, aa, seed, settings=settings, memory=memory, changed=changed)
    content["config"]["stream"] = {"inter_task_edges": whole}
    return content


def lines(folder: Path, own: list[dict[str, Any]], whole: list[dict[str, Any]] | None = None) -> list[str]:
    if whole:
        write(folder / "whole-amazon.json", *whole)
    return frontier_table("whole-amazon")(write(folder / "frontier-amazon.json", *own)).splitlines()[2:]


def test_it_begins_with_the_fewest_bytes_and_keeps_both_protocols_apart(tmp_path: Path) -> None:
    own = [
        run("analytic", 90.0, 3, rank=64),
        run("analytic", 80.0, 3, whole=True, rank=64),
        run("analytic", 85.0, 1, rank=16),
    ]
    assert lines(tmp_path, own) == [
        "| 1.00 | `analytic`, rank=16 | 85.0 (1) | – |",
        "| 3.00 | `analytic`, rank=64 | 90.0 (1) | 80.0 (1) |",
    ]


def test_runs_of_another_file_with_the_same_settings_and_seeds_stand_beside(tmp_path: Path) -> None:
    own = [run("ssm", 90.0, 3), run("ssm", 90.0, 3, seed=1), run("ssm", 70.0, 1, budget=15), run("ncm", 60.0, 2)]
    whole = [
        run("ssm", 80.0, 4, whole=True),
        run("ssm", 10.0, 4, whole=True, seed=7),
        run("ncm", 50.0, 2, whole=True),
        run("tem", 50.0, 2, whole=True),
    ]
    assert lines(tmp_path, own, whole) == [
        "| 1.00 | `ssm`, budget=15 | 70.0 (1) | – |",
        "| 2.00 | `ncm` | 60.0 (1) | 50.0 (1) |",
        "| 3.00 | `ssm` | 90.0 ± 0.0 (2) | 80.0 (1); 4.00 MB |",
    ]


def test_runs_of_the_file_itself_come_first(tmp_path: Path) -> None:
    own = [run("ssm", 90.0, 3), run("ssm", 70.0, 3, whole=True)]
    (row,) = lines(tmp_path, own, [run("ssm", 80.0, 3, whole=True)])
    assert row == "| 3.00 | `ssm` | 90.0 (1) | 70.0 (1) |"


def with_sums(*ranks: tuple[int, float]) -> list[dict[str, Any]]:
    """Replay, sums of these ranks and bytes, and sums whose hops are set by hand."""
    both = (False, True)
    sums = [
        run("analytic", aa, kept, whole=whole, rank=rank)
        for rank, kept in ranks
        for whole, aa in zip(both, (90.0 + rank, 80.0 + rank), strict=True)
    ]
    sums += [run("analytic", 99.0, 0.01, whole=whole, hops=[[2]]) for whole in both]
    replay = [("ftf-er-prob", 88.0, 60.0, 1.4), ("ssm", 95.0, 70.0, 5.0), ("random-replay", 91.0, 86.0, 1.5)]
    return sums + [
        run(name, aa, kept, whole=whole)
        for name, local, far, kept in replay
        for whole, aa in zip(both, (local, far), strict=True)
    ]


def test_sums_that_choose_their_hops_stand_beside_replay_with_as_many_bytes(tmp_path: Path) -> None:
    found = lines(tmp_path, with_sums((1, 0.3), (2, 0.8), (3, 2.8)))
    assert found[found.index("") :] == [
        "",
        "With hops that it chooses itself and no more bytes than `ftf-er-prob`, `analytic`, rank=2 has 92.0 % "
        "locally and 82.0 % globally in 0.80 MB. Beside it:",
        "",
        "- `ftf-er-prob`, 1.40 MB: 88.0 % locally, 60.0 % globally; behind in both tests",
        "- `random-replay`, 1.50 MB: 91.0 % locally, 86.0 % globally; behind locally, not behind globally",
        "- `ssm`, 5.00 MB: 95.0 % locally, 70.0 % globally; not behind locally, behind globally",
    ]


def test_it_says_where_all_of_them_keep_more(tmp_path: Path) -> None:
    found = "\n".join(lines(tmp_path, with_sums((3, 2.8), (2, 1.8))))
    assert (
        "more bytes than `ftf-er-prob`, as every such setting here, `analytic`, rank=2 has 92.0 % locally" in found
    )


@pytest.mark.parametrize("missing", ["analytic", "ftf-er-prob"])
def test_it_says_nothing_of_what_was_not_run(tmp_path: Path, missing: str) -> None:
    runs = [one for one in with_sums((1, 0.3)) if one["config"]["method"]["name"] != missing]
    assert "" not in lines(tmp_path, runs)
