"""Tables of single classes and of single runs: accuracies, seeds, versions, settings and accuracy matrices."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from evergraph.results.by_test import TESTS, Test, classes_return, matrix_in
from evergraph.results.groups import DataSet, Group, Stat, stat, value_text
from evergraph.results.load import Result

Values: TypeAlias = Sequence[float | None]
"""A value for each class, in order of arrival; None where it has no test nodes."""
WIDE = 24
"""Per-class tables with more classes have narrow cells without text."""
DEEP = 62
"""Cells above this percentage are dark and have light text."""


class ClassCell(NamedTuple):
    """A measure of a class over seeds, its text, how dark its cell is in percent, and whether the text is light."""

    value: Stat
    text: str
    shade: float
    deep: bool


class ClassTable(NamedTuple):
    """A row for each group (index, name, cells), a cell for each class; None if it has no test nodes.

    title: above the table; note: what its cells are; name: that of its files.
    """

    title: str
    note: str
    name: str
    classes: list[str]
    by_label: bool
    turned: bool
    narrow: bool
    rows: list[tuple[int, str, list[ClassCell | None]]]


def class_tables(data: DataSet) -> list[ClassTable]:
    """Accuracy on each class after the last task, and where classes come back how far it lies below its best."""
    return [_accuracies(data), *([_forgetting(data)] if classes_return(data) else [])]


def _accuracies(data: DataSet) -> ClassTable:
    return _class_table(
        data,
        "Accuracy on each class",
        "Accuracy on the test nodes of each class after the last task",
        lambda result: result.record.per_class,
    )


def _forgetting(data: DataSet) -> ClassTable:
    return _class_table(
        data,
        "Forgetting of each class from its best",
        "Accuracy on the test nodes of each class so far: after the last task minus the best after any task",
        lambda result: [] if result.so_far is None else result.so_far.class_forgetting,
    )


def _class_table(data: DataSet, title: str, note: str, values: Callable[[Result], Values]) -> ClassTable:
    by_label = all(result.classes is not None for group in data.groups for result in group.results)
    names = _class_names(data, by_label=by_label)
    rows = []
    for at, group in enumerate(data.groups):
        runs = [_by_class(result, values(result), by_label=by_label) for result in group.results]
        found = {key: [run[key] for run in runs if key in run] for key in names}
        rows.append((at, data.name(group), [_class_cell(found[key]) for key in names]))
    return ClassTable(
        title=title,
        note=note,
        name=f"{title} of {data.title}",
        classes=list(names.values()),
        by_label=by_label,
        turned=max(map(len, names.values())) > 3 or len(names) > WIDE,
        narrow=len(names) > WIDE,
        rows=rows,
    )


def _class_names(data: DataSet, *, by_label: bool) -> dict[int, str]:
    """Label, or position in the stream → name of the column."""
    results = [result for group in data.groups for result in group.results]
    if not by_label:
        return {at: str(at + 1) for at in range(max(len(result.record.per_class) for result in results))}
    return dict(sorted({label: name for result in results for label, name in result.classes or ()}.items()))


def _by_class(result: Result, values: Values, *, by_label: bool) -> dict[int, float]:
    """Label, or position in the stream → value, for classes with test nodes."""
    keys = result.record.data.class_order if by_label else range(len(values))
    return {key: value for key, value in zip(keys, values, strict=False) if value is not None}


def _class_cell(values: list[float]) -> ClassCell | None:
    if not values:
        return None
    value = stat(values)
    text = f"{round(value.mean)}".replace("-", "−")
    return ClassCell(value, text, abs(value.mean), abs(value.mean) > DEEP)


class Matrix(NamedTuple):
    """The accuracy matrix of a run in a test as text: a line for each task learned, below the diagonal only."""

    test: Test
    name: str
    text: str


class Runs(NamedTuple):
    """Settings of a group, a row for each run with seeds, measures and versions, and the matrices of the runs."""

    at: int
    name: str
    aa: Stat
    settings: dict[str, str]
    headings: list[str]
    rows: list[tuple[str, list[tuple[str, float | str]]]]
    matrices: list[Matrix]


def group_runs(data: DataSet, at: int) -> Runs:
    group = data.groups[at]
    versions = list(dict.fromkeys(name for result in group.results for name in result.record.versions))
    seeds = list(dict.fromkeys(name for result in group.results for name in result.seeds))
    measures = {"AA, %": "aa", "AF, %": "af", "AA by node, %": "plain"}
    rows = []
    for result in group.results:
        cells: list[tuple[str, float | str]] = [(value := str(result.seeds.get(name, "")), value) for name in seeds]
        cells += [(f"{result.measures[key]:.2f}", result.measures[key]) for key in measures.values()]
        others = [result.record.finished or "–", *(result.record.versions.get(name, "") for name in versions)]
        rows.append((result.source, cells + [(text, text) for text in others]))
    settings = {key: value_text(value) for key, value in group.setup.items()}
    headings = ["Run", *(f"{name} seed" for name in seeds), *measures, "Finished", *versions]
    return Runs(at, data.name(group), group.stat("aa"), settings, headings, rows, _matrices(group))


def _matrices(group: Group) -> list[Matrix]:
    return [
        Matrix(test, seed_name(result), _lower(matrix))
        for test in TESTS
        for result in group.results
        if (matrix := matrix_in(result, test)) is not None
    ]


def _lower(matrix: Sequence[Sequence[float | None]]) -> str:
    rows = (row[: at + 1] for at, row in enumerate(matrix))
    return "\n".join(" ".join(f"{value or 0.0:.12g}" for value in row) for row in rows)


def seed_name(result: Result) -> str:
    values = set(map(str, result.seeds.values()))
    return f"seed {values.pop()}" if len(values) == 1 else ", ".join(f"{k} {v}" for k, v in result.seeds.items())
