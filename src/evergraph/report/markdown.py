"""Results as Markdown: global beside local accuracy, what is kept of the past and the time, for each data set."""

import re
import statistics
from collections.abc import Callable, Sequence

from evergraph.results.groups import BOUNDS, MB, DataSet, Group, Stat, best_of_methods
from evergraph.results.times import learning_time, seconds_text

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
    """AA of each method, global and in brackets local, by the names of the data sets; best first, as in `overview`.

    The last columns: what is kept of the past and the time of learning, each from the least to the most.
    """
    best = [{group.method: group for group in best_of_methods(part.groups)} for part in data]
    methods = sorted({name for groups in best for name in groups}, key=lambda name: (-_level(name, best), name))
    names = [code(str(part.groups[0].setup["dataset.name"])) for part in data]
    rows = [("method", *names, "kept, MB", "learning, s"), ("---",) + ("---:",) * (len(data) + 2)]
    for name in methods:
        found = [groups.get(name) for groups in best]
        seconds = [learning_time(part)[1](group) for part, group in zip(data, found, strict=True) if group]
        cells = (_both_means(group) if group else "–" for group in found)
        rows.append(
            (code(name), *cells, _kept_range([group for group in found if group]), _range(seconds, seconds_text))
        )
    return "\n".join(_line(row) for row in rows) + "\n"


def _both_means(group: Group) -> str:
    """AA global and in brackets local, without deviations."""
    tested = (group.tested(where) for where in ("global", "local"))
    first, second = ("–" if value is None else f"{value.mean:.1f}" for value in tested)
    return f"{first} ({second})"


def _kept_range(groups: Sequence[Group]) -> str:
    if groups[0].method in BOUNDS:
        return "all data"
    kept = [group.stat("kept").mean * MB for group in groups]
    return _range(kept, lambda end: f"{end:.1f}" if end >= 10 else f"{end:.2f}")


def _range(values: Sequence[float], text: Callable[[float], str]) -> str:
    """From the least to the most, on one line; one of them where they read the same."""
    ends = dict.fromkeys(text(end) for end in (min(values), max(values)))
    return "\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}".join(ends)


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
    return "\n".join([f"### {escaped(data.title)}", "", *lines, "", *remarks, *([""] if remarks else [])])


def _row(data: DataSet, group: Group, back: Sequence[str], time: float) -> tuple[str, ...]:
    name = code(group.method) + (f" {escaped(group.settings)}" if group.settings else "")
    name += f" · {escaped(group.backbone)}" if len(data.by_backbone) > 1 and group.backbone else ""
    return (
        name,
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
