"""Forgetting of each class from its best: names, seeds with other orders, and the words."""

from pathlib import Path
from typing import Any

from evergraph.results.class_forgetting import forgotten_by, in_words
from evergraph.results.groups import Stat, data_sets
from evergraph.results.load import read_results
from report.test_page import coming_back, small, write


def with_classes(seed: int, order: list[int], lost: list[float | None]) -> dict[str, Any]:
    content = coming_back(60.0, 51.0, seed)
    content["so_far_global"]["class_forgetting"] = lost
    content["per_class"] = [50.0] * len(lost)
    content["data"] |= {"class_order": order, "class_names": [f"class{label}" for label in order]}
    return content


def test_classes_are_matched_by_label_whatever_their_order(tmp_path: Path) -> None:
    runs = [with_classes(0, [4, 5, 6], [-10.0, 0.0, None]), with_classes(1, [5, 4, 6], [-1.0, -20.0, None])]
    (data,) = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    assert forgotten_by(data.groups[0]) == [
        ("class4", Stat(-15.0, 50**0.5)),
        ("class5", Stat(-0.5, 0.5**0.5)),
        ("class6", None),
    ]
    assert in_words(forgotten_by(data.groups[0])) == "class4: -15.0 ± 7.1, class5: -0.5 ± 0.7; not tested: class6"


def test_there_is_none_where_classes_do_not_come_back(tmp_path: Path) -> None:
    (data,) = data_sets(read_results([write(tmp_path / "r.json", small())])[0])
    assert forgotten_by(data.groups[0]) == []


def test_what_was_forgotten_most_comes_first() -> None:
    lost = [("a", 0.0), ("b", -3.0), ("c", -7.25), ("d", -0.01)]
    assert in_words([(name, Stat(value, None)) for name, value in lost]) == "c: -7.2, b: -3.0; none of d, a"
    assert in_words([("a", Stat(-1.0, None))]) == "a: -1.0"
