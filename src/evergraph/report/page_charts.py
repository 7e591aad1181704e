"""The figures of the page: curves over the tasks, β, accuracy matrices."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from evergraph.report.markup import Html, el, join
from evergraph.report.svg import Series, line_chart
from evergraph.results.groups import DataSet, Group, Stat, best_of_methods
from evergraph.results.load import Result

FEW = 8
"""Up to this many lines are all shown; of more, the best of each method, and the reader chooses."""


def figure(drawing: Html, data: DataSet, caption: str) -> Html:
    """A figure with what it shows, on which data, and what has to be known of that data."""
    remarks = [el("small", remark, class_="remark") for remark in data.all_remarks]
    return el("figure", drawing, el("figcaption", el("b", data.title), ". ", caption, remarks))


def curves(data: DataSet) -> Html:
    """AA after each task, a chart for each backbone."""
    return join(_curve(data, backbone, groups) for backbone, groups in data.by_backbone.items())


def _curve(data: DataSet, backbone: str, groups: list[Group]) -> Html:
    best = best_of_methods(groups)
    ordered = best + [group for group in groups if group not in best]
    series = []
    for group in ordered:
        points = {float(at + 1): point for at, point in enumerate(group.curve)}
        series.append(Series(group.label, points, shown=group in best or len(groups) <= FEW))
    chart = line_chart(
        series,
        label=f"Average accuracy after each task, {data.title}, {backbone}",
        x_label="tasks learned",
        y_label="average accuracy (AA), %",
        x_name="after task",
    )
    hidden = len(groups) > FEW and len(best) < len(groups)
    choice = " Of each method the settings best on validation; the legend has the others." if hidden else ""
    return figure(chart, data, f"Backbone {backbone}{_bands(groups)}.{choice}")


def _bands(groups: Sequence[Group]) -> str:
    several = any(len(group.results) > 1 for group in groups)
    return "; bands are one standard deviation over seeds" if several else ""


def beta_lines(groups: Sequence[Group]) -> list[Series]:
    """AA against β for settings that are there with several β and the same otherwise."""
    found: dict[str, list[Group]] = {}
    for group in groups:
        if isinstance(group.setup.get("method.beta"), int | float):
            rest = {key: value for key, value in group.setup.items() if key != "method.beta"}
            found.setdefault(json.dumps(rest, sort_keys=True), []).append(group)
    series = []
    for members in found.values():
        if len(members) > 1:
            members.sort(key=lambda group: float(group.setup["method.beta"]))
            first = members[0]
            others = {key: value for key, value in first.differing.items() if key != "method.beta"}
            name = Group(first.results, others, first.usual).label
            points = {float(group.setup["method.beta"]): group.stat("aa") for group in members}
            series.append(Series(name, points))
    return series


def beta(data: DataSet) -> Html:
    """Empty where no settings are there with several β."""
    charts = []
    for backbone, groups in data.by_backbone.items():
        series = beta_lines(groups)
        if series:
            chart = line_chart(
                series,
                label=f"Average accuracy against β, {data.title}, {backbone}",
                x_label="β: the weight of the topology",
                y_label="average accuracy (AA), %",
                x_name="β",
            )
            caption = f"AA after the last task, backbone {backbone}{_bands(groups)}."
            charts.append(figure(chart, data, caption))
    return join(charts)


def matrices(data: DataSet) -> Html:
    """Two accuracy matrices side by side, each chosen from all runs and the means over seeds."""
    entries: list[dict[str, Any]] = []
    starts = {}
    folds: list[tuple[str, list[tuple[int, str]]]] = []
    several = len(data.by_backbone) > 1
    for group in data.groups:
        starts[id(group)] = len(entries)
        name = f"{group.label} · {group.backbone}" if several else group.label
        options = []
        for title, matrix in _choices(group):
            options.append((len(entries), title))
            entries.append({"name": f"{name}, {title}", "rows": matrix})
        folds.append((name, options))
    best = best_of_methods(data.groups)
    chosen = dict.fromkeys((starts[id(best[0])], starts[id(best[-1])]))
    panes = [el("div", _select(folds, at), el("div", class_="matrix"), class_="pane") for at in chosen]
    content = Html(json.dumps(entries, separators=(",", ":")).replace("<", "\\u003c"))
    store = el("script", content, type="application/json")
    caption = "Accuracy on each task (column) after learning each task (row), %."
    return figure(el("div", store, panes, class_="panes"), data, caption)


def _choices(group: Group) -> list[tuple[str, list[list[float]]]]:
    found = [(seed_name(result), _lower(result.matrix)) for result in group.results]
    if len(found) > 1:
        mean = np.mean([np.array(result.matrix, dtype=np.float64) for result in group.results], axis=0)
        found.insert(0, (f"mean of {len(group.results)} seeds", _lower(mean.tolist())))
    return found


def _lower(matrix: Sequence[Sequence[float | None]]) -> list[list[float]]:
    rows = (row[: at + 1] for at, row in enumerate(matrix))
    return [[round(value or 0.0, 1) for value in row] for row in rows]


def seed_name(result: Result) -> str:
    values = set(map(str, result.seeds.values()))
    return f"seed {values.pop()}" if len(values) == 1 else ", ".join(f"{k} {v}" for k, v in result.seeds.items())


def _select(folds: list[tuple[str, list[tuple[int, str]]]], chosen: int) -> Html:
    groups = []
    for name, options in folds:
        inside = [el("option", f"{name}, {title}", value=at, selected=at == chosen) for at, title in options]
        groups.append(el("optgroup", inside, label=name))
    return el("label", el("span", "Accuracy matrix of", class_="quiet"), el("select", groups))


def stat_json(value: Stat) -> dict[str, float | None]:
    return {"mean": value.mean, "std": value.std}
