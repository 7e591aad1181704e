"""Runs by settings and data, and which settings of a method are shown first."""

from pathlib import Path
from typing import Any

from evergraph.results.groups import DataSet, best_of_methods, data_sets, how_chosen, stat
from evergraph.results.load import read_results
from report.test_page import small, write


def data_set(path: Path, *runs: dict[str, Any]) -> DataSet:
    (data,) = data_sets(read_results([write(path / "records.json", *runs)])[0])
    return data


def test_a_stat_is_mean_and_sample_deviation() -> None:
    assert str(stat([1.0, 3.0])) == "2.0 ± 1.4"
    assert str(stat([5.0])) == "5.0"


def validated(method: str, val: float, seed: int, **settings: Any) -> dict[str, Any]:
    """A run with an accuracy on validation; its accuracy on test goes the other way."""
    return small(method, 100 - val, seed, settings=settings, val={"aa": val, "af": 0.0})


def test_of_each_method_the_settings_best_on_validation_and_the_best_method_first(tmp_path: Path) -> None:
    runs = [validated("a", 60.0 + 10 * k, seed, k=k) for k in (0, 1) for seed in (0, 1)]
    runs += [validated("b", 80.0, seed) for seed in (0, 1)]
    best = best_of_methods(data_set(tmp_path, *runs).groups)
    assert [group.label for group in best] == ["b", "a · k 1"]


def test_settings_with_fewer_seeds_are_not_the_best_of_their_method(tmp_path: Path) -> None:
    runs = [validated("a", 60.0, seed, k=0) for seed in (0, 1)]
    runs += [validated("a", 99.0, 0, k=1), validated("b", 70.0, 0)]
    best = best_of_methods(data_set(tmp_path, *runs).groups)
    assert [group.label for group in best] == ["b", "a · k 0"]


def test_the_same_settings_on_other_numbers_of_tasks_are_no_choice(tmp_path: Path) -> None:
    data = data_set(tmp_path, small(tasks=2), small(tasks=3, seed=1))
    assert [how_chosen(group, data.groups) for group in data.groups] == ["fixed", "fixed"]
