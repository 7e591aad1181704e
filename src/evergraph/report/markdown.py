"""Results as Markdown: global beside local accuracy, what is kept of the past and the time, for each data set."""

import statistics
from collections.abc import Sequence

from evergraph.results.groups import BOUNDS, DataSet, Group, Stat, best_of_methods, learning_time

HEADINGS = ("method", "AA global, %", "AA local, %", "AF, %", "kept of the past, MB")


def markdown(data: Sequence[DataSet]) -> str:
    """A table of all data sets where there are several, then one for each, best rows first."""
    tables = [_table(part) for part in data]
    return "\n".join([overview(data), *tables] if len(data) > 1 else tables)


def overview(data: Sequence[DataSet]) -> str:
    """One row for each method, one column for each data set; the best on average first.

    A cell: AA global and, in brackets, local; what is kept of the past; the time of learning. Of each method the
    settings that are best on validation.
    """
    best = [{group.method: group for group in best_of_methods(part.groups)} for part in data]
    titles = [f"{part.title}: global (local) AA, %; kept; {learning_time(part)[0]}" for part in data]
    methods = sorted({name for groups in best for name in groups}, key=lambda name: (-_level(name, best), name))
    rows = [("method", *titles), ("---",) * (len(data) + 1)]
    for name in methods:
        cells = (_cell(part, groups.get(name)) for part, groups in zip(data, best, strict=True))
        rows.append((f"`{name}`", *cells))
    return "\n".join(_line(row) for row in rows) + "\n"


def _level(method: str, best: Sequence[dict[str, Group]]) -> float:
    """The mean AA of a method over the data sets where it was run, relative to the best one there."""
    return statistics.mean(
        groups[method].stat("aa").mean - max(group.stat("aa").mean for group in groups.values())
        for groups in best
        if method in groups
    )


def _cell(data: DataSet, group: Group | None) -> str:
    if group is None:
        return "–"
    _, time = learning_time(data)
    tested = f"{_text(group.tested('global'))} ({_text(group.tested('local'))})"
    return f"{tested}; {_kept(group)}; {time(group):.0f} s"


def _table(data: DataSet) -> str:
    name, time = learning_time(data)
    headings = (*HEADINGS, name, "seeds")
    rows = [headings, ("---",) + ("---:",) * (len(headings) - 1)]
    rows += [_row(data, group, time(group)) for group in data.groups]
    lines = [_line(row) for row in rows]
    remarks = [f"{remark}." for remark in data.remarks]
    return "\n".join([f"### {data.title}", "", *lines, "", *remarks, *([""] if remarks else [])])


def _row(data: DataSet, group: Group, time: float) -> tuple[str, ...]:
    name = f"`{group.method}`" + (f" {group.settings}" if group.settings else "")
    name += f" · {group.backbone}" if len(data.by_backbone) > 1 and group.backbone else ""
    return (
        name,
        _text(group.tested("global")),
        _text(group.tested("local")),
        _text(group.stat("af")),
        _kept(group).removesuffix(" MB"),
        f"{time:.0f}",
        str(len(group.results)),
    )


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _kept(group: Group) -> str:
    return "all data" if group.method in BOUNDS else f"{group.stat('kept').mean * 2**20 / 1e6:.2f} MB"


def _text(value: Stat | None) -> str:
    return "–" if value is None else str(value)
