"""Runs by settings and data, and which settings of a method are shown first."""

from pathlib import Path
from typing import Any

from evergraph.report.markdown import markdown
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


def of_file(name: str, aa: float, seed: int = 0, **data: Any) -> dict[str, Any]:
    """A run on a graph file."""
    run = small("ssm", aa, seed)
    run["config"]["dataset"]["name"] = name
    run["data"] = {**run["data"], "name": Path(name).stem, **data}
    return run


def test_other_files_of_the_same_name_are_not_taken_for_seeds(tmp_path: Path) -> None:
    runs = [of_file("edges.csv", 98.0, 0, source="a" * 64), of_file("edges.csv", 2.0, 1, source="b" * 64)]
    found = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    assert [(data.title, data.groups[0].stat("aa").mean) for data in found] == [
        ("edges [aaaaaaaa]", 98.0),
        ("edges [bbbbbbbb]", 2.0),
    ]
    text = markdown(found)
    assert "98.0 |" in text
    assert "±" not in text


def test_other_files_of_the_same_name_and_seed_are_both_there(tmp_path: Path) -> None:
    runs = [of_file("edges.csv", 98.0, source="a" * 64), of_file("edges.csv", 2.0, source="b" * 64)]
    found, notes = read_results([write(tmp_path / "r.json", *runs, runs[0])])
    assert len(data_sets(found)) == 2
    assert notes == ["1 run left out: the same settings and seeds were there already"]


def test_files_in_other_folders_are_told_apart_by_these(tmp_path: Path) -> None:
    runs = [of_file("may/edges.csv", 98.0, source="a" * 64), of_file("/x/june/edges.csv", 2.0, source="b" * 64)]
    found = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    assert [data.title for data in found] == ["may/edges", "june/edges"]


def test_seeds_on_the_same_file_are_averaged_whether_or_not_their_record_knows_its_source(tmp_path: Path) -> None:
    known = {"fingerprint": "f" * 64, "source": "a" * 64}
    runs = [of_file("edges.csv", 80.0, 0, **known), of_file("edges.csv", 82.0, 1, fingerprint="f" * 64)]
    runs += [of_file("edges.csv", 84.0, 2, fingerprint="f" * 64, source="b" * 64)]
    (data,) = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    assert (data.title, str(data.groups[0].stat("aa"))) == ("edges", "82.0 ± 2.0")


def test_records_without_fingerprint_and_named_data_sets_are_grouped_as_before(tmp_path: Path) -> None:
    runs = [of_file("edges.csv", 80.0, 0), of_file("edges.csv", 82.0, 1)]
    runs += [small(seed=seed, data={**small()["data"], "fingerprint": str(seed)}) for seed in (0, 1)]
    found = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    assert [(data.title, len(data.groups[0].results)) for data in found] == [("edges", 2), ("amazon-computers", 2)]


def test_standardised_features_depend_on_the_seed_and_do_not_tell_data_apart(tmp_path: Path) -> None:
    runs = [of_file("edges.csv", 80.0, seed, fingerprint=str(seed)) for seed in (0, 1)]
    for run in runs:
        run["config"]["stream"] = {"preprocessing": "standard"}
    (data,) = data_sets(read_results([write(tmp_path / "r.json", *runs)])[0])
    assert len(data.groups[0].results) == 2
