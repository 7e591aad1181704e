"""The tables of the page: results, cost, classes, runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evergraph.results.groups import DataSet, Group, Stat, how_chosen, stat, value_text
from evergraph.results.load import Result
from evergraph.results.published import PublishedResults

WIDE = 24
"""Per-class tables with more classes have narrow cells without text."""
DEEP = 62
"""Cells above this percentage are dark and have light text."""
SO_FAR = {"area_plain": "All nodes so far, area", "forgetting": "Forgetting from best"}
"""Measures of streams whose classes come back."""
PHASES = ("train", "score", "select", "evaluate")


class Bar(NamedTuple):
    """A phase in a bar; its width is the percentage of the longest time."""

    phase: str
    seconds: float
    width: float


@dataclass(frozen=True)
class Cell:
    """Text, sort key, CSS classes, and the deviation or bars of a cell."""

    text: str
    key: float | str | None = None
    kind: str = "num"
    std: str = ""
    bars: Sequence[Bar] = ()


class Row(NamedTuple):
    """A group, the remarks that not all groups share, and the cells after method and backbone."""

    group: Group
    remarks: list[str]
    cells: list[Cell]


class Table(NamedTuple):
    """A sortable table: headings after method and backbone (text, class); rows descend by the first."""

    name: str
    headings: list[tuple[str, str]]
    rows: list[Row]
    note: str = ""
    phases: Sequence[str] = ()


def number(value: Stat | None, digits: int = 1, kind: str = "num") -> Cell:
    """A cell with mean and deviation, sorted by the mean."""
    if value is None:
        return Cell("–", None, f"{kind} none")
    spread = "" if value.std is None else f"{value.std:.{digits}f}"
    return Cell(f"{value.mean:.{digits}f}".replace("-", "−"), value.mean, kind, spread)


def _row(group: Group, data: DataSet, cells: list[Cell]) -> Row:
    return Row(group, [remark for remark in group.remarks if remark not in data.remarks], cells)


def results_table(data: DataSet, published: PublishedResults | None) -> Table:
    """Our results beside the published ones."""
    theirs = [published.of(group) if published else None for group in data.groups]
    beside, note = any(theirs), ""
    if published:
        note = published.note if beside else f"The paper ({published.source}) has no results on this data set."
    headings = []
    for measure in ("AA", "AF"):
        headings += [(f"{measure}, %", "num"), (f"{measure}, paper", "num")][: 1 + beside]
    both = any(group.tested("local") and group.tested("global") for group in data.groups)
    headings += [("AA, local", "num"), ("AA, global", "num")] if both else []
    back = [name for name in SO_FAR if any(group.so_far(name) for group in data.groups)]
    headings += [(SO_FAR[name], "num") for name in back]
    headings += [("AA, val.", "num"), ("Seeds", "num"), ("Settings", "how")]
    rows = []
    for group, values in zip(data.groups, theirs, strict=True):
        cells = []
        for at, measure in enumerate(("aa", "af")):
            cells.append(number(group.stat(measure), kind="num" if at else "num main"))
            if beside:
                cells.append(number(values and values[at], kind="num paper"))
        if both:
            cells += [number(group.tested("local")), number(group.tested("global"))]
        cells += [number(group.so_far(name)) for name in back]
        seeds, how = len(group.results), how_chosen(group, data.groups)
        cells += [number(group.stat("val")), Cell(str(seeds), seeds), Cell(how, how, "how")]
        rows.append(_row(group, data, cells))
    return Table(f"Results on {data.title}", headings, rows, note)


def phases_of(data: DataSet) -> list[str]:
    """The timed phases except loading, in the order of a task; unknown ones last."""
    found = (phase for group in data.groups for result in group.results for phase in result.record.seconds)
    known = dict.fromkeys(phase for phase in found if phase != "load")
    return sorted(known, key=lambda phase: PHASES.index(phase) if phase in PHASES else len(PHASES))


def cost_table(data: DataSet) -> Table:
    """Time by phase, memory of past tasks, peak memory."""
    phases = phases_of(data)
    longest = max(group.total_seconds for group in data.groups) or 1.0
    headings = [("Time, s", "num"), ("By phase", "bars"), *((f"{phase}, s", "num") for phase in phases)]
    headings += [(name, "num") for name in ("Kept nodes", "Kept edges", "Kept, MiB", "Peak, MiB")]
    rows = []
    for group in sorted(data.groups, key=lambda group: -group.total_seconds):
        seconds = {phase: group.seconds(phase) for phase in phases}
        bars = [Bar(phase, value, 100 * value / longest) for phase, value in seconds.items()]
        nodes, edges, kept, peak = (group.stat(key).mean for key in ("nodes", "edges", "kept", "peak"))
        cells = [number(Stat(group.total_seconds, None), kind="num main")]
        cells += [Cell("", group.total_seconds, "bars", bars=bars)]
        cells += [number(Stat(value, None), 2) for value in seconds.values()]
        cells += [Cell(f"{nodes:,.0f}", nodes), Cell(f"{edges:,.0f}", edges)]
        cells += [number(Stat(kept, None), 2), number(Stat(peak, None), 0)]
        rows.append(_row(group, data, cells))
    return Table(f"Cost on {data.title}", headings, rows, phases=phases)


class ClassCell(NamedTuple):
    """The mean accuracy on a class, its description, and whether the cell is dark."""

    mean: float
    text: str
    deep: bool


class ClassTable(NamedTuple):
    """A row for each group (name, cells), a cell for each class; None if it has no test nodes."""

    name: str
    classes: list[str]
    by_label: bool
    turned: bool
    narrow: bool
    rows: list[tuple[str, list[ClassCell | None]]]


def class_table(data: DataSet) -> ClassTable:
    """Accuracy on each class after the last task."""
    by_label = all(result.classes is not None for group in data.groups for result in group.results)
    names = _class_names(data, by_label=by_label)
    rows = []
    for group in data.groups:
        runs = [_by_class(result, by_label=by_label) for result in group.results]
        found = {key: [run[key] for run in runs if key in run] for key in names}
        rows.append((data.name(group), [_class_cell(found[key], name) for key, name in names.items()]))
    return ClassTable(
        name=f"Accuracy on each class of {data.title}",
        classes=list(names.values()),
        by_label=by_label,
        turned=max(map(len, names.values())) > 3,
        narrow=len(names) > WIDE,
        rows=rows,
    )


def _class_names(data: DataSet, *, by_label: bool) -> dict[int, str]:
    """Label, or position in the stream → name of the column."""
    results = [result for group in data.groups for result in group.results]
    if not by_label:
        return {at: str(at + 1) for at in range(max(len(result.record.per_class) for result in results))}
    return dict(sorted({label: name for result in results for label, name in result.classes or ()}.items()))


def _by_class(result: Result, *, by_label: bool) -> dict[int, float]:
    """Label, or position in the stream → accuracy, for classes with test nodes."""
    accuracies = result.record.per_class
    keys = result.record.data.class_order if by_label else range(len(accuracies))
    return {key: value for key, value in zip(keys, accuracies, strict=True) if value is not None}


def _class_cell(values: list[float], name: str) -> ClassCell | None:
    if not values:
        return None
    value = stat(values)
    return ClassCell(value.mean, f"class {name}: {value} %", value.mean > DEEP)


class Runs(NamedTuple):
    """Settings of a group, and a row for each run with seeds, measures and versions."""

    group: Group
    aa: Stat
    settings: dict[str, str]
    headings: list[str]
    rows: list[tuple[str, list[str]]]


def group_runs(group: Group) -> Runs:
    versions = list(dict.fromkeys(name for result in group.results for name in result.record.versions))
    seeds = list(dict.fromkeys(name for result in group.results for name in result.seeds))
    measures = {"AA, %": "aa", "AF, %": "af", "AA by node, %": "plain"}
    rows = []
    for result in group.results:
        cells = [str(result.seeds.get(name, "")) for name in seeds]
        cells += [f"{result.measures[key]:.2f}" for key in measures.values()]
        cells += [result.record.finished or "–", *(result.record.versions.get(name, "") for name in versions)]
        rows.append((result.source, cells))
    settings = {key: value_text(value) for key, value in group.setup.items()}
    headings = ["Run", *(f"{name} seed" for name in seeds), *measures, "Finished", *versions]
    return Runs(group, group.stat("aa"), settings, headings, rows)
