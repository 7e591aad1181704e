"""Results as Markdown: global beside local accuracy, what is kept of the past and the time, for each data set."""

import re
import statistics
from collections.abc import Sequence

from evergraph.results.class_forgetting import forgotten_by, in_words
from evergraph.results.groups import BOUNDS, MB, DataSet, Group, Stat, best_of_methods
from evergraph.results.times import learning_time, seconds_text, told

HEADINGS = ("method", "AA global, %", "AA local, %", "AF, %", "kept of the past, MB")
SO_FAR = {
    "area_plain": "all nodes so far, area, %",
    "area_balanced": "by class, area, %",
    "forgetting": "forgetting of a class from its best, %",
}
"""Measures of streams in which classes come back."""


_SPECIAL = re.compile(r"[\\`|<\[\]]")


def escaped(text: str) -> str:
    """Text as it is shown: on one line, without markup, links or HTML in it."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def code(text: str) -> str:
    """Text between backticks, in which nothing but a backtick and the bar of a table means anything."""
    return "`" + " ".join(text.split()).replace("`", "'").replace("|", r"\|") + "`"


def markdown(data: Sequence[DataSet]) -> str:
    """A table of all data sets where there are several, then one for each, best rows first."""
    tables = [_table(part) for part in data]
    return "\n".join([overview(data), *tables] if len(data) > 1 else tables)


def overview(data: Sequence[DataSet]) -> str:
    """One row for each method, one column for each data set; the best on average first.

    A cell: AA global and, in brackets, local; what is kept of the past; the time of learning. Where classes come
    back, the accuracy on all nodes so far, over all steps, and in brackets by class. Of each method the settings
    that are best on validation.
    """
    best = [{group.method: group for group in best_of_methods(part.groups)} for part in data]
    titles = [f"{escaped(part.title)}: {_measured(part)}, %; kept; {learning_time(part)[0]}" for part in data]
    methods = sorted({name for groups in best for name in groups}, key=lambda name: (-_level(name, best), name))
    rows = [("method", *titles), ("---",) * (len(data) + 1)]
    for name in methods:
        cells = (_cell(part, groups.get(name)) for part, groups in zip(data, best, strict=True))
        rows.append((code(name), *cells))
    return "\n".join(_line(row) for row in rows) + "\n"


def glance(data: Sequence[DataSet]) -> str:
    """Both tests, memory and time of each method in cells of two lines, without deviations; best first.

    A heading says how many seeds there are and which seconds are told; a cell with other seeds says so itself.
    """
    best = [{group.method: group for group in best_of_methods(part.groups)} for part in data]
    methods = sorted({name for groups in best for name in groups}, key=lambda name: (-_level(name, best), name))
    seeds = [statistics.mode(len(group.results) for group in groups.values()) for groups in best]
    headings = (_glance_heading(part, usual) for part, usual in zip(data, seeds, strict=True))
    rows = [("method", *headings), ("---",) + ("---:",) * len(data)]
    for name in methods:
        cells = (
            _glance_cell(part, groups.get(name), usual)
            for part, groups, usual in zip(data, best, seeds, strict=True)
        )
        rows.append((code(name), *cells))
    return "\n".join(_line(row) for row in rows) + "\n"


def _glance_heading(data: DataSet, seeds: int) -> str:
    """The name of a data set, what of it arrives otherwise, what is measured, the seeds and the kind of seconds."""
    result = data.groups[0].first
    arrival = [trait for trait in result.stream_traits if trait.startswith(("by time", "blurry"))]
    lines = [", ".join([code(str(result.setup["dataset.name"])), *arrival])]
    if any(group.so_far("area_plain") for group in data.groups):
        lines.append("all nodes so far, area; AA")
    clock = told(data) == "seconds"
    return _in_lines([*lines, _seeds(seeds), f"MB, {'clock' if clock else 'processor'} s"])


def _glance_cell(data: DataSet, group: Group | None, seeds: int) -> str:
    if group is None:
        return "–"
    so_far, tested = group.so_far("area_plain"), _both_means(group)
    accuracy = tested if so_far is None else f"{so_far.mean:.1f}, AA {tested}"
    other = f", {_seeds(len(group.results))}" if len(group.results) != seeds else ""
    return _in_lines([accuracy + other, f"{_short_memory(group)}, {seconds_text(learning_time(data)[1](group))} s"])


def _in_lines(lines: Sequence[str]) -> str:
    """Lines of a cell, none of which is broken where the table is narrow."""
    return "<br>".join(line.replace(" ", "\N{NO-BREAK SPACE}") for line in lines)


def _seeds(number: int) -> str:
    return f"{number} {'seed' if number == 1 else 'seeds'}"


def _both_means(group: Group) -> str:
    """AA global and in brackets local, without deviations."""
    tested = (group.tested(where) for where in ("global", "local"))
    first, second = ("–" if value is None else f"{value.mean:.1f}" for value in tested)
    return f"{first} ({second})"


def _short_memory(group: Group) -> str:
    """What is kept with two digits after the point, from 10 MB on with one."""
    if group.method in BOUNDS:
        return "all data"
    kept = group.stat("kept").mean * MB
    return f"{kept:.{1 if kept >= 10 else 2}f} MB" if kept else "0 MB"


def _level(method: str, best: Sequence[dict[str, Group]]) -> float:
    """The mean accuracy of a method over the data sets where it was run, relative to the best one there."""
    return statistics.mean(
        _main(groups[method]).mean - max(_main(group).mean for group in groups.values())
        for groups in best
        if method in groups
    )


def _main(group: Group) -> Stat:
    """What methods are ranked by."""
    return group.so_far("area_plain") or group.stat("aa")


def _measured(data: DataSet) -> str:
    come_back = any(group.so_far("area_plain") for group in data.groups)
    return "all nodes so far (by class), area" if come_back else "global (local) AA"


def _cell(data: DataSet, group: Group | None) -> str:
    if group is None:
        return "–"
    _, time = learning_time(data)
    values = group.tested("global"), group.tested("local")
    if group.so_far("area_plain"):
        values = group.so_far("area_plain"), group.so_far("area_balanced")
    tested = f"{_text(values[0])} ({_text(values[1])})"
    return f"{tested}; {_kept(group)}; {seconds_text(time(group))} s"


def _table(data: DataSet) -> str:
    name, time = learning_time(data)
    back = [measure for measure in SO_FAR if any(group.so_far(measure) for group in data.groups)]
    headings = (HEADINGS[0], *(SO_FAR[measure] for measure in back), *HEADINGS[1:], name, "seeds")
    rows = [headings, ("---",) + ("---:",) * (len(headings) - 1)]
    groups = sorted(data.groups, key=lambda group: -_main(group).mean) if back else data.groups
    rows += [_row(data, group, back, time(group)) for group in groups]
    lines = [_line(row) for row in rows]
    remarks = [f"{escaped(remark)}." for remark in data.remarks]
    parts = [f"### {escaped(data.title)}", "", *lines, ""]
    return "\n".join([*parts, *_forgetting(data, groups), *remarks, *([""] if remarks else [])])


def _forgetting(data: DataSet, groups: Sequence[Group]) -> list[str]:
    """A row of words for each group in which classes come back; nothing where they do not."""
    found = [(_name(data, group), forgotten_by(group)) for group in groups]
    rows = [(name, escaped(in_words(forgotten))) for name, forgotten in found if forgotten]
    heading = ("method", "forgetting of each class from its best, %")
    return [*map(_line, [heading, ("---", "---"), *rows]), ""] if rows else []


def _name(data: DataSet, group: Group) -> str:
    name = code(group.method) + (f" {escaped(group.settings)}" if group.settings else "")
    return name + (f" · {escaped(group.backbone)}" if len(data.by_backbone) > 1 and group.backbone else "")


def _row(data: DataSet, group: Group, back: Sequence[str], time: float) -> tuple[str, ...]:
    return (
        _name(data, group),
        *(_text(group.so_far(measure)) for measure in back),
        _text(group.tested("global")),
        _text(group.tested("local")),
        _text(group.stat("af")),
        _kept(group).removesuffix(" MB"),
        seconds_text(time),
        str(len(group.results)),
    )


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _kept(group: Group) -> str:
    return "all data" if group.method in BOUNDS else f"{group.stat('kept').mean * MB:.2f} MB"


def _text(value: Stat | None) -> str:
    return "–" if value is None else str(value)
