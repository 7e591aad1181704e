"""Means and deviations of runs that differ only by their seeds."""

from evergraph.results.groups import stat
from evergraph.results.seeds import by_settings, means
from evergraph.results.summary import summarise
from report.test_comparison import one, worse
from report.test_report import coming_back


def test_runs_are_grouped_by_all_settings_but_seeds() -> None:
    first, second, other = one("ssm", 0), one("ssm", 1), one("joint", 0)
    assert by_settings([first, other, second]) == [[first, second], [other]]


def test_each_measure_has_mean_and_sample_deviation() -> None:
    runs = [one("ssm", 0), one("ssm", 5, worse(one()))]
    found, summaries = means(runs), [summarise(run) for run in runs]
    assert (found.method, found.seeds) == ("ssm", [0, 5])
    assert found.aa == stat(each.aa for each in summaries)
    assert found.aa.std
    assert found.so_far == stat(each.so_far.plain[-1] for each in summaries)
    assert found.area == found.area_local == stat(each.so_far.area_plain for each in summaries)
    assert found.forgetting == stat(each.so_far.forgetting for each in summaries)
    assert found.seconds == stat([9.0, 9.0])
    assert found.aa_global is found.area_global is None


def test_one_seed_has_no_deviation() -> None:
    found = means([one(content=coming_back())])
    assert (found.so_far.mean, found.area.mean, found.forgetting.mean) == (50, 60, -37.5)
    assert found.aa.std is None
