"""The figures of the page: curves over the tasks, β, accuracy matrices."""

from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor, log10
from typing import Any, NamedTuple

from evergraph.report.svg import FRAME, Chart, Frame, Scale, Series, axis_range, line_chart, steps
from evergraph.results.frontier import frontier
from evergraph.results.groups import BOUNDS, DataSet, Group, best_of_methods, families, learning_time
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


class Point(NamedTuple):
    """A method in a chart of accuracy over cost; `best`: no other reaches its accuracy at its cost.

    name: what stands beside the point; text: its tooltip.
    """

    x: float
    y: float
    name: str
    text: str
    best: bool


class Scatter(NamedTuple):
    """Accuracy over a cost on a logarithmic axis: ticks, points, the frontier as a path, bounds (y, text)."""

    label: str
    caption: str
    x_label: str
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    points: list[Point]
    path: str
    bounds: list[tuple[float, str]]
    frame: Frame = FRAME


def frontiers(data: DataSet) -> list[Scatter]:
    """AA of the best settings of each method over memory and time, a pair of charts for each backbone."""
    costs: list[tuple[str, Callable[[Group], float]]] = [
        ("kept of the past, MiB", lambda group: group.stat("kept").mean),
        learning_time(data),
    ]
    return [
        _frontier(data, backbone, best_of_methods(groups), name, cost)
        for backbone, groups in data.by_backbone.items()
        if len({group.method for group in groups}) > 2
        for name, cost in costs
    ]


def _frontier(
    data: DataSet, backbone: str, groups: Sequence[Group], x_label: str, cost: Callable[[Group], float]
) -> Scatter:
    own = [group for group in groups if group.method not in BOUNDS]
    costs = [cost(group) for group in own]
    low, high = _decades(costs)
    values = [group.stat("aa").mean for group in groups]
    scale = Scale([float(low), float(high)], *axis_range(min(values), max(values)))
    places = [(log10(max(c, 10.0**low)), group.stat("aa").mean) for group, c in zip(own, costs, strict=True)]
    best = frontier(places)
    names = {k: f"{10.0**k:g}" for k in range(low, high + 1)} | ({low: "0"} if 0 in costs else {})
    unit = x_label.rpartition(", ")[2]
    return Scatter(
        label=f"Average accuracy over {x_label}, {data.title}, {backbone}",
        caption=f"Backbone {backbone}; of each method the settings best on validation. "
        "The line joins the methods that no other beats in both.",
        x_label=x_label,
        x_ticks=[(scale.x(k), name) for k, name in names.items()],
        y_ticks=[(scale.y(value), str(value)) for value in range(scale.low, scale.high + 1, scale.step)],
        points=_without_overlap(
            Point(
                scale.x(x),
                scale.y(y),
                group.label if (x, y) in best else "",
                f"{group.label}: AA {group.stat('aa')} %, {price:.3g} {unit}",
                (x, y) in best,
            )
            for group, price, (x, y) in zip(own, costs, places, strict=True)
        ),
        path=steps([(scale.x(x), scale.y(y)) for x, y in best]),
        bounds=[
            (scale.y(value), f"{group.label}, which is given all data")
            for group, value in zip(groups, values, strict=True)
            if group.method in BOUNDS
        ],
    )


def _without_overlap(points: Iterable[Point]) -> list[Point]:
    """The points, each with its name where that overlaps no earlier one; the tooltip has every name."""
    placed: list[Point] = []
    for point in points:
        near = (abs(point.x - other.x) < 7.5 * len(other.name) and abs(point.y - other.y) < 15 for other in placed)
        placed.append(point._replace(name="") if any(near) else point)
    return placed


def _decades(costs: Sequence[float]) -> tuple[int, int]:
    """The powers of ten between which costs lie; there is room on the left for those that are 0."""
    low = min((value for value in costs if value > 0), default=1.0)
    return floor(log10(low)) - (0 in costs), ceil(log10(max([*costs, low]) * 1.01))


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
