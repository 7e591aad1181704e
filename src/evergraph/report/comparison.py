"""The table that compares methods in the terminal: a row for each, with its mean and deviation over seeds."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from evergraph.report.terminal import WIDE
from evergraph.results.groups import BOUNDS, Stat
from evergraph.results.seeds import Means, by_settings, means
from evergraph.results.summary import backbone_of, data_title
from evergraph.runs.record import Record

MOST_WIDTH = 100
"""Tables are not wider, whatever the terminal has, as long as a column can be left out."""
RETURNING = (
    "so far: accuracy on all test nodes so far, after the last task; area: the same, mean over the tasks; "
    "forgetting: final minus best of each class, mean, %"
)


class Column(NamedTuple):
    """A column: its heading, and its cell for a method."""

    heading: str
    cell: Callable[[Means], str]


def comparison_table(records: Sequence[Record], width: int = WIDE) -> Table:
    """A row for each method: accuracy, forgetting, seconds and memory of past tasks.

    What matters least is left out where there are more columns than fit, and the caption names it.
    """
    groups = by_settings(records)
    rows = [means(members) for members in groups]
    columns, dispensable = _columns(records[0], rows)
    several = any(len(members) > 1 for members in groups)
    notes = [
        *([RETURNING] if records[0].classes_return else []),
        *(["mean ± deviation over seeds"] if several else []),
    ]
    for left_out in range(len(dispensable) + 1):
        missing = dict(list(dispensable.items())[:left_out])
        more = [f"left out for the width: {', '.join(missing.values())}; --json has all"] if missing else []
        table = Table(title=_heading(records), title_justify="left", caption_justify="left")
        table.caption = "\n".join(notes + more) or None
        _fill(table, rows, [column for column in columns if column.heading not in missing])
        if Console(width=WIDE).measure(table).maximum <= min(width, MOST_WIDTH):
            break
    return table


def kept_text(method: str, kept_bytes: float) -> str:
    """What is kept of the past in MB; a bound is given all data again."""
    return "all data" if method in BOUNDS else f"{kept_bytes / 1e6:.2f}"


def _fill(table: Table, rows: Sequence[Means], columns: Sequence[Column]) -> None:
    table.add_column("method", no_wrap=True)
    for column in columns:
        table.add_column(column.heading, justify="right")
    for row in rows:
        table.add_row(row.method, *(column.cell(row) for column in columns))


def _columns(first: Record, rows: Sequence[Means]) -> tuple[list[Column], dict[str, str]]:
    """The columns, and the headings of those that can be left out with their names, what matters least first."""
    own, other = ("global", "local") if first.protocol == "whole-graph" else ("local", "global")
    average = [Column("AA, %", lambda row: _text(row.aa)), Column("AF, %", lambda row: _text(row.af))]
    cost = [
        Column("time, s", lambda row: f"{row.seconds.mean:.1f}"),
        Column("kept, MB", lambda row: kept_text(row.method, row.kept_bytes.mean)),
    ]
    if len({len(row.seeds) for row in rows}) > 1:
        cost.append(Column("seeds", lambda row: str(len(row.seeds))))
    if first.classes_return:
        area = f"{other}\narea, %"
        so_far = [
            Column("so far, %", lambda row: _text(row.so_far)),
            Column("area, %", lambda row: _text(row.area)),
            Column(area, lambda row: _text(row.area_local if other == "local" else row.area_global)),
            Column("forgetting\nfrom best", lambda row: _text(row.forgetting)),
        ]
        return [*so_far, *average, *cost], {area: f"{other} area", "AF, %": "AF", "AA, %": "AA"}
    both = [
        Column("local AA", lambda row: _text(row.aa_local)),
        Column("global AA", lambda row: _text(row.aa_global)),
    ]
    several = max(len(row.seeds) for row in rows) > 1
    return [*average, *both, *cost], {f"{own} AA": f"{own} AA, which is AA"} if several else {}


def _heading(records: Sequence[Record]) -> str:
    first = records[0]
    used = (backbone_of(one.config["method"]["name"], one.config["backbone"]["name"]) for one in records)
    backbone = next((name for name in used if name), None)
    data = data_title(first.config["dataset"], first.data.name)
    return " · ".join(part for part in (data, backbone, _seeds(records), first.protocol) if part)


def _seeds(records: Sequence[Record]) -> str:
    """The seeds of the kind of which there are most."""
    kinds = (
        dict.fromkeys(str(one.config["seeds"][kind]) for one in records) for kind in ("init", "split", "order")
    )
    numbers = max(kinds, key=len)
    return f"{'seed' if len(numbers) == 1 else 'seeds'} {', '.join(numbers)}"


def _text(value: Stat | None) -> str:
    return "–" if value is None else str(value)
