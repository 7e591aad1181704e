"""Which method is recommended, and what the comparison is made of."""

from pathlib import Path

import pytest

from evergraph.experiments.recommend import (
    CHEAPEST_FIRST,
    MARGIN,
    Candidate,
    candidate,
    recommend_configs,
    recommended,
)
from evergraph.methods import METHODS
from evergraph.runs import metrics
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import run


def one(method: str, aa: float, kept: int, seconds: float = 1.0, *, needs_all_data: bool = False) -> Candidate:
    return Candidate(method, aa, 0.0, aa, kept, seconds, needs_all_data, "", [])


def test_the_smallest_memory_within_the_margin_is_recommended() -> None:
    best, close, far = one("a", 90.0, 1000), one("b", 90.0 - MARGIN, 10), one("c", 89.0, 1)
    assert recommended([best, close, far]) is close
    assert recommended([far, best]) is best


def test_of_equal_memories_the_quicker_is_recommended() -> None:
    slow, quick = one("a", 90.0, 5, 2.0), one("b", 90.0, 5, 1.0)
    assert recommended([slow, quick]) is quick


def test_what_needs_all_data_is_no_choice() -> None:
    joint, own = one("joint", 99.0, 0, needs_all_data=True), one("a", 50.0, 100)
    assert recommended([joint, own]) is own
    assert recommended([joint]) is None
    assert recommended([]) is None


def test_where_classes_come_back_methods_are_judged_by_all_nodes_so_far(tmp_path: Path) -> None:
    stream = {"arrival": "blurry", "inter_task_edges": True}
    found = {}
    for arrival in ("classes", "blurry"):
        values = {"dataset": {"name": "sbm"}, "method": {"name": "ncm"}, "stream": {**stream, "arrival": arrival}}
        result = run(RunConfig.from_values(values), tmp_path)
        val = result.record.counts("val")
        found[arrival] = candidate(result), metrics.area(100 * val.plain_so_far())
    (classes, _), (blurry, area) = found["classes"], found["blurry"]
    assert classes.judged == classes.aa
    assert blurry.judged == area != blurry.aa


def test_all_methods_are_compared_in_the_whole_graph_with_the_same_settings() -> None:
    configs = recommend_configs({"dataset": {"name": "sbm"}, "train": {"epochs": 3}})
    assert [config.method_name for config in configs] == [name for name in CHEAPEST_FIRST if name in METHODS]
    assert all(config.stream.inter_task_edges and config.train.epochs == 3 for config in configs)
    assert [config.method_name for config in recommend_configs({}, ["joint"])] == ["joint"]


@pytest.mark.parametrize("name", CHEAPEST_FIRST)
def test_every_method_of_the_comparison_exists(name: str) -> None:
    assert name in METHODS
