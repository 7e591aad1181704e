"""The values of the line charts of the page as tables: accuracy after each task, and against β."""

from collections.abc import Sequence
from typing import NamedTuple

from evergraph.results.by_test import Test, classes_return, curve_in, known_tests, own_test
from evergraph.results.groups import DataSet, Group, Stat, families
from evergraph.results.validation import TUNED


class Line(NamedTuple):
    """A line: the index of its group, its name, method and backbone, and its value at each position."""

    at: int
    name: str
    method: str
    backbone: str
    values: list[Stat | None]


class LineTable(NamedTuple):
    """The lines of one chart; by_group: whether each line is a group, so that filters choose among them.

    test: the test that it belongs to; x_name: what a position is called together with its value.
    """

    name: str
    caption: str
    test: Test
    by_group: bool
    y_label: str
    x_label: str
    x_name: str
    positions: list[str]
    lines: list[Line]


def curves(data: DataSet) -> list[LineTable]:
    """The accuracy after each task in every test."""
    return [_curve(data, test) for test in known_tests(data) if any(curve_in(group, test) for group in data.groups)]


def _curve(data: DataSet, test: Test) -> LineTable:
    found = {at: curve for at, group in enumerate(data.groups) if (curve := curve_in(group, test)) is not None}
    tasks = max(map(len, found.values()))
    back = classes_return(data)
    what = "Accuracy on all nodes so far" if back else "Average accuracy (AA) on all tasks so far"
    return LineTable(
        name=f"Accuracy after each task, {test} test, {data.title}",
        caption=f"{what} after each task, {test} test{_bands(data.groups)}.",
        test=test,
        by_group=True,
        y_label="accuracy so far, %" if back else "average accuracy (AA), %",
        x_label="tasks learned",
        x_name="after task",
        positions=[str(task) for task in range(1, tasks + 1)],
        lines=[_line(data, at, [*curve, *[None] * (tasks - len(curve))]) for at, curve in found.items()],
    )


def _line(data: DataSet, at: int, values: list[Stat | None], name: str | None = None) -> Line:
    group = data.groups[at]
    return Line(at, name or data.name(group), group.method, group.backbone or "", values)


def _bands(groups: Sequence[Group]) -> str:
    several = any(len(group.results) > 1 for group in groups)
    return "; bands are one standard deviation over seeds" if several else ""


def beta(data: DataSet) -> list[LineTable]:
    """AA against β, a line for each family of settings with several β; nothing where there is none."""
    found = families(data.groups)
    if not found:
        return []
    betas = sorted({value for family in found for value in family})
    lines = []
    for family in found:
        first = next(iter(family.values()))
        others = {key: value for key, value in first.differing.items() if key != TUNED}
        name = data.name(Group(first.results, others, first.usual))
        values = [family[value].stat("aa") if value in family else None for value in betas]
        lines.append(_line(data, data.groups.index(first), values, name))
    return [
        LineTable(
            name=f"AA against β, {data.title}",
            caption=f"AA after the last task against β, {own_test(data)} test{_bands(data.groups)}.",
            test=own_test(data),
            by_group=False,
            y_label="average accuracy (AA), %",
            x_label="β: the weight of the topology",
            x_name="β",
            positions=[f"{value:g}" for value in betas],
            lines=lines,
        )
    ]
