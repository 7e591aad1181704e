"""What each test found, from records that have one test or both."""

from pathlib import Path
from typing import Any

import pytest

from evergraph.errors import StoreError
from evergraph.results.by_test import curve_in, forgetting, known_tests, main_measure, matrix_in, own_test
from evergraph.results.groups import DataSet, data_sets
from evergraph.results.load import read_results
from report.test_page import small, write


def whole(aa: float, local: float, seed: int, **changes: Any) -> dict[str, Any]:
    """A run in the whole graph that was tested in both ways."""
    matrix = small("ssm", local)["matrix"]
    run = small("ssm", aa, seed, aa_local=local, af_local=-1.0, matrix_local=matrix, aa_global=aa, **changes)
    run["config"]["stream"] = {"inter_task_edges": True}
    return run


def data_of(path: Path, *runs: dict[str, Any]) -> DataSet:
    (data,) = data_sets(read_results([write(path / "r.json", *runs)])[0])
    return data


def test_both_tests_of_runs_in_the_whole_graph(tmp_path: Path) -> None:
    data = data_of(tmp_path, whole(80.0, 90.0, 0), whole(82.0, 94.0, 1))
    (group,) = data.groups
    assert (own_test(data), known_tests(data)) == ("global", ["global", "local"])
    assert [str(main_measure(group, test)) for test in known_tests(data)] == ["81.0 ± 1.4", "92.0 ± 2.8"]
    assert [str(forgetting(group, test)) for test in known_tests(data)] == ["-19.0 ± 1.4", "-1.0 ± 0.0"]
    assert [value.mean for value in curve_in(group, "local") or []] == [92.0] * 3
    assert matrix_in(group.first, "local") == small("ssm", 90.0)["matrix"]
    assert matrix_in(group.first, "global") == small("ssm", 80.0)["matrix"]


def test_what_was_not_tested_is_not_known(tmp_path: Path) -> None:
    data = data_of(tmp_path, small("ssm", 90.0))
    (group,) = data.groups
    assert (own_test(data), known_tests(data)) == ("local", ["local"])
    assert main_measure(group, "global") is None
    assert forgetting(group, "global") is None
    assert curve_in(group, "global") is None


def test_a_matrix_of_the_other_test_is_checked_as_well(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="matrix_local: 1 columns are wanted"):
        data_of(tmp_path, whole(80.0, 90.0, 0) | {"matrix_local": [[1.0, 2.0]]})
