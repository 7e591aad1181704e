"""The tables of the page: what is best, all results, cost, classes, runs. The script draws its charts from them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evergraph.results.by_test import Test, classes_return, forgetting, known_tests, main_measure, own_test
from evergraph.results.groups import BOUNDS, MB, DataSet, Group, Stat, how_chosen
from evergraph.results.published import PublishedResults
from evergraph.results.times import by_phase, learning_time, seconds_text, told

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
    """Text, value (what is sorted and exported), CSS classes; the deviation as text and value; bars of a cell."""

    text: str
    key: float | str | None = None
    kind: str = "num"
    std: str = ""
    spread: float | None = None
    bars: Sequence[Bar] = ()


ALL_DATA = Cell("all data", None, "num none")
"""What a bound keeps of the past."""


class Heading(NamedTuple):
    """A column: its text, CSS class, the key by which the script finds it, and its name in a CSV file."""

    text: str
    kind: str = "num"
    key: str = ""
    exported: str = ""


class Row(NamedTuple):
    """A group with its index in the data set, the remarks that not all groups share, and its cells."""

    at: int
    group: Group
    remarks: list[str]
    cells: list[Cell]


class Table(NamedTuple):
    """A sortable table: headings after method and backbone; rows descend by the first."""

    name: str
    headings: list[Heading]
    rows: list[Row]
    note: str = ""
    phases: Sequence[str] = ()


def number(value: Stat | None, digits: int = 1, kind: str = "num") -> Cell:
    """A cell with mean and deviation, sorted by the mean."""
    if value is None or not math.isfinite(value.mean):
        return Cell("–", None, f"{kind} none")
    spread = "" if value.std is None else f"{value.std:.{digits}f}"
    return Cell(f"{value.mean:.{digits}f}".replace("-", "−"), value.mean, kind, spread, value.std)


def bytes_text(count: float) -> str:
    """Bytes as a person reads them, in decimal units."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}" if count < 1e3 * size else f"{count / size:,.0f} {unit}"
    return f"{count:.0f} B" if count else "0"


def measure_name(data: DataSet, test: Test) -> str:
    return f"So far, {test}, %" if classes_return(data) else f"AA {test}, %"


def overview_table(data: DataSet) -> Table:
    """What is best at what price: accuracy in every test, bytes kept, time of learning."""
    tests = known_tests(data)
    time, seconds = learning_time(data)
    headings = [Heading(measure_name(data, test), key=f"main-{test}") for test in tests]
    headings += [
        Heading("Kept", key="kept", exported="kept of the past, bytes"),
        Heading(time.replace("learning", "Learning").replace("processor", "CPU"), key="seconds", exported=time),
    ]
    rows = []
    for at, group in enumerate(data.groups):
        kept = group.stat("kept").mean * 2**20
        bound = group.method in BOUNDS
        cells = [number(main_measure(group, test), kind=f"num test {test}") for test in tests]
        cells.append(ALL_DATA if bound else Cell(bytes_text(kept), kept))
        cells.append(Cell(seconds_text(seconds(group)), seconds(group)))
        rows.append(_row(at, group, data, cells))
    rows.sort(key=lambda row: -float(row.cells[0].key or 0.0))
    note = "So far: accuracy on all test nodes so far, averaged over the steps." if classes_return(data) else ""
    return Table(f"Methods on {data.title}", headings, rows, note)


def _row(at: int, group: Group, data: DataSet, cells: list[Cell]) -> Row:
    return Row(at, group, [remark for remark in group.remarks if remark not in data.remarks], cells)


def results_table(data: DataSet, published: PublishedResults | None) -> Table:
    """Our results beside the published ones."""
    theirs = [published.of(group) if published else None for group in data.groups]
    beside, note = any(theirs), ""
    if published:
        note = published.note if beside else f"The paper ({published.source}) has no results on this data set."
    other = [test for test in known_tests(data) if test != own_test(data)]
    back = [name for name in SO_FAR if any(group.so_far(name) for group in data.groups)]
    rows = []
    for at, (group, values) in enumerate(zip(data.groups, theirs, strict=True)):
        cells = []
        for place, measure in enumerate(("aa", "af")):
            cells.append(number(group.stat(measure), kind="num" if place else "num main"))
            if beside:
                cells.append(number(values and values[place], kind="num paper"))
        for test in other:
            cells += [number(group.tested(test)), number(forgetting(group, test))]
        cells += [number(group.so_far(name)) for name in back]
        seeds, how = len(group.results), how_chosen(group, data.groups)
        cells += [number(group.stat("val")), Cell(str(seeds), seeds), Cell(how, how, "how")]
        rows.append(_row(at, group, data, cells))
    return Table(f"Results on {data.title}", _result_headings(data, back, beside=beside), rows, note)


def _result_headings(data: DataSet, back: Sequence[str], *, beside: bool) -> list[Heading]:
    tests, own = known_tests(data), own_test(data)
    where = f" {own}" if len(tests) > 1 else ""
    headings = []
    for measure in ("AA", "AF"):
        headings += [Heading(f"{measure}{where}, %"), Heading(f"{measure}, paper")][: 1 + beside]
    for test in (test for test in tests if test != own):
        headings += [Heading(f"AA {test}, %"), Heading(f"AF {test}, %")]
    headings += [Heading(SO_FAR[name]) for name in back]
    return [*headings, Heading("AA, val."), Heading("Seeds"), Heading("Settings", "how")]


def _in_order(times: Sequence[Mapping[str, float]]) -> list[str]:
    """The timed phases in the order of a task; unknown ones last."""
    known = dict.fromkeys(phase for phases in times for phase in phases)
    return sorted(known, key=lambda phase: PHASES.index(phase) if phase in PHASES else len(PHASES))


def _time(seconds: float | None, kind: str = "num") -> Cell:
    """Seconds with one decimal, so that the phases of a row are seen to add up."""
    if seconds is None:
        return Cell("–", None, f"{kind} none")
    if seconds < 0.05:
        return Cell("<0.1" if seconds else "0", seconds, f"{kind} none")
    return Cell(f"{seconds:,.1f}", seconds, kind)


def cost_table(data: DataSet) -> Table:
    """Time by phase, memory of past tasks, peak memory."""
    kind = told(data)
    times = [by_phase(group, kind) or {} for group in data.groups]
    totals = [math.fsum(phases.values()) for phases in times]
    phases, longest = _in_order(times), max(totals) or 1.0
    processor = kind == "processor_seconds"
    others = [by_phase(group, "seconds" if processor else "processor_seconds") for group in data.groups]
    headings = [Heading("CPU, s" if processor else "Time, s", exported=kind), Heading("By phase", "bars")]
    headings += [Heading(f"{phase}, s") for phase in phases]
    headings += [Heading("Clock, s" if processor else "CPU, s")] if any(others) else []
    headings += [Heading("Kept nodes"), Heading("Kept edges"), Heading("Kept, MB"), Heading("Peak, MB")]
    rows = []
    for at in sorted(range(len(totals)), key=lambda at: -totals[at]):
        group, other = data.groups[at], others[at]
        seconds = {phase: times[at].get(phase, 0.0) for phase in phases}
        bars = [Bar(phase, value, 100 * value / longest) for phase, value in seconds.items()]
        nodes, edges, kept, peak = (group.stat(key).mean for key in ("nodes", "edges", "kept", "peak"))
        cells = [_time(totals[at], "num main"), Cell("", totals[at], "bars", bars=bars)]
        cells += [_time(value) for value in seconds.values()]
        cells += [_time(math.fsum(other.values()) if other else None)] if any(others) else []
        past = [Cell(f"{nodes:,.0f}", nodes), Cell(f"{edges:,.0f}", edges), number(Stat(kept * MB, None), 2)]
        cells += [ALL_DATA] * len(past) if group.method in BOUNDS else past
        cells.append(number(Stat(peak * MB, None), 0))
        rows.append(_row(at, group, data, cells))
    return Table(f"Cost on {data.title}", headings, rows, phases=phases)
