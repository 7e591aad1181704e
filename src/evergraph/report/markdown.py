"""Results as Markdown: global beside local accuracy, what is kept of the past and the time, for each data set."""

from collections.abc import Sequence

from evergraph.results.groups import BOUNDS, DataSet, Group, Stat, learning_time

HEADINGS = ("method", "AA global, %", "AA local, %", "AF, %", "kept of the past, MB")


def markdown(data: Sequence[DataSet]) -> str:
    """One table for each data set, best rows first."""
    return "\n".join(_table(part) for part in data)


def _table(data: DataSet) -> str:
    name, time = learning_time(data)
    headings = (*HEADINGS, name, "seeds")
    rows = [headings, ("---",) + ("---:",) * (len(headings) - 1)]
    rows += [_row(data, group, time(group)) for group in data.groups]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    remarks = [f"{remark}." for remark in data.remarks]
    return "\n".join([f"### {data.title}", "", *lines, "", *remarks, *([""] if remarks else [])])


def _row(data: DataSet, group: Group, time: float) -> tuple[str, ...]:
    name = f"`{group.method}`" + (f" {group.settings}" if group.settings else "")
    name += f" · {group.backbone}" if len(data.by_backbone) > 1 and group.backbone else ""
    kept = "all data" if group.method in BOUNDS else f"{group.stat('kept').mean * 2**20 / 1e6:.2f}"
    return (
        name,
        _text(group.tested("global")),
        _text(group.tested("local")),
        _text(group.stat("af")),
        kept,
        f"{time:.0f}",
        str(len(group.results)),
    )


def _text(value: Stat | None) -> str:
    return "–" if value is None else str(value)
