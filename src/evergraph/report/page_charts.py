"""The figures of the page: curves over the tasks, β, accuracy matrices."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from evergraph.report.svg import Chart, Series, line_chart
from evergraph.results.groups import DataSet, Group, best_of_methods, families
from evergraph.results.load import Result
from evergraph.results.validation import TUNED

FEW = 8
"""Charts with more lines show only the best of each method at first."""


def curves(data: DataSet) -> list[Chart]:
    """AA after each task, a chart for each backbone."""
    return [_curve(data, backbone, groups) for backbone, groups in data.by_backbone.items()]


def _curve(data: DataSet, backbone: str, groups: list[Group]) -> Chart:
    best = best_of_methods(groups)
    others = [group for group in groups if group not in best]
    series = []
    for group in best + others:
        points = {float(task): point for task, point in enumerate(group.curve, start=1)}
        series.append(Series(group.label, points, shown=group in best or len(groups) <= FEW))
    hidden = len(groups) > FEW and others
    choice = " Of each method the settings best on validation; the legend has the others." if hidden else ""
    return line_chart(
        series,
        label=f"Average accuracy after each task, {data.title}, {backbone}",
        caption=f"Backbone {backbone}{_bands(groups)}.{choice}",
        x_label="tasks learned",
        x_name="after task",
    )


def _bands(groups: Sequence[Group]) -> str:
    several = any(len(group.results) > 1 for group in groups)
    return "; bands are one standard deviation over seeds" if several else ""


def beta_lines(groups: Sequence[Group]) -> list[Series]:
    """AA against β, a line for each family of settings with several β."""
    series = []
    for family in families(groups):
        first = next(iter(family.values()))
        others = {key: value for key, value in first.differing.items() if key != TUNED}
        name = Group(first.results, others, first.usual).label
        series.append(Series(name, {value: group.stat("aa") for value, group in family.items()}))
    return series


def beta(data: DataSet) -> list[Chart]:
    """AA against β, a chart for each backbone that has several β."""
    return [
        line_chart(
            series,
            label=f"Average accuracy against β, {data.title}, {backbone}",
            caption=f"AA after the last task, backbone {backbone}{_bands(groups)}.",
            x_label="β: the weight of the topology",
            x_name="β",
        )
        for backbone, groups in data.by_backbone.items()
        if (series := beta_lines(groups))
    ]


class Matrices(NamedTuple):
    """All accuracy matrices, the indices of each group's, and those shown first."""

    entries: list[dict[str, Any]]
    groups: list[tuple[str, range]]
    chosen: list[int]


def matrices(data: DataSet) -> Matrices:
    """The matrices of all runs and means over seeds; the best and the worst method are shown first."""
    entries: list[dict[str, Any]] = []
    groups: list[tuple[str, range]] = []
    for group in data.groups:
        name, first = data.name(group), len(entries)
        entries += [{"name": f"{name}, {title}", "rows": rows} for title, rows in _choices(group)]
        groups.append((name, range(first, len(entries))))
    best = best_of_methods(data.groups)
    chosen = [groups[data.groups.index(group)][1].start for group in (best[0], best[-1])]
    return Matrices(entries, groups, list(dict.fromkeys(chosen)))


def _choices(group: Group) -> list[tuple[str, list[list[float]]]]:
    found = [(seed_name(result), _lower(result.record.matrix)) for result in group.results]
    if len(found) > 1:
        found.insert(0, (f"mean of {len(group.results)} seeds", _lower(group.matrix.tolist())))
    return found


def _lower(matrix: Sequence[Sequence[float | None]]) -> list[list[float]]:
    rows = (row[: at + 1] for at, row in enumerate(matrix))
    return [[round(value or 0.0, 1) for value in row] for row in rows]


def seed_name(result: Result) -> str:
    values = set(map(str, result.seeds.values()))
    return f"seed {values.pop()}" if len(values) == 1 else ", ".join(f"{k} {v}" for k, v in result.seeds.items())
