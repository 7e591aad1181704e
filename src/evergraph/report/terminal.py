"""Tables for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evergraph.results.class_forgetting import forgotten_in, in_words
from evergraph.results.summary import Summary, summarise, title
from evergraph.runs.record import Record

MOST_COLUMNS = 12
"""Matrices with more tasks are not shown as a whole."""
WIDE = 1000
"""Characters that every table fits into."""


def matrix_table(record: Record, width: int = WIDE) -> Table:
    """The accuracy matrix in percent, a row for each task learned, with AA so far as the last column.

    For many tasks, or where it does not fit into the width: only the task just learned, the worst so far, and AA.
    Where classes come back, the accuracy on all nodes so far follows: of nodes, and of classes counting alike.
    """
    summary = summarise(record)
    if len(summary.matrix) <= MOST_COLUMNS:
        table = _matrix_table(record, summary, whole=True)
        if Console(width=WIDE).measure(table).maximum <= width:
            return table
    return _matrix_table(record, summary, whole=False)


def _matrix_table(record: Record, summary: Summary, whole: bool) -> Table:
    columns = [str(task) for task in range(1, len(summary.matrix) + 1)] if whole else ["this task", "worst so far"]
    caption = "accuracy, %" if whole else "accuracy, %; the whole matrix is in record.json and matrix.png"
    averages = {"AA": summary.aa_curve}
    if record.classes_return:
        averages |= {"so far": summary.so_far.plain, "by class": summary.so_far.balanced}
    table = Table(title=title(record), title_justify="left", caption=caption, caption_justify="left")
    for heading in ("after task", *columns, *averages):
        table.add_column(heading, justify="right", style="bold" if whole and heading == "AA" else None)
    for index, row in enumerate(summary.matrix):
        seen = [value for value in row[: index + 1] if value is not None]
        values = row if whole else [seen[-1], min(seen)]
        cells = [Text("") if value is None else Text(f"{value:.1f}", style=_shade(value)) for value in values]
        table.add_row(str(index + 1), *cells, *(f"{curve[index]:.1f}" for curve in averages.values()))
    return table


def _shade(value: float) -> str:
    return "green" if value >= 80 else "yellow" if value >= 40 else "red"


def verdict_lines(record: Record) -> list[str]:
    """AA, AF and the costs of a run in a few lines."""
    summary = summarise(record)
    seconds = ", ".join(f"{phase} {value:.1f} s" for phase, value in summary.seconds.items())
    memory, kept = summary.memory, summary.memory.bytes / 1e6
    lines = [
        f"AA {summary.aa:.2f} %   AF {summary.af:.2f} %   (class-balanced, test, protocol {summary.protocol})",
        *both_protocols(summary),
        f"plain accuracy: AA {summary.plain.aa:.2f} %   validation: AA {summary.val.aa:.2f} %",
        f"time: {seconds}; peak memory {summary.peak_bytes / 1e6:.0f} MB",
    ]
    if record.classes_return:
        forgotten = in_words(forgotten_in(record))
        lines[1:1] = [_so_far_line(summary), f"forgetting of each class from its best, %: {forgotten}"]
    if memory.bytes:
        lines.append(f"kept of the past: {memory.nodes:,} nodes, {memory.edges:,} edges, {kept:.2f} MB")
    if summary.choices:
        lines.append(f"chosen from training data: {chosen_text(summary.choices)}")
    return lines + [f"note: {remark}" for remark in summary.remarks]


def chosen_text(choices: Mapping[str, Any]) -> str:
    """What a learner has chosen, as a line."""

    def shown(value: object) -> str:
        return f"{value:g}" if isinstance(value, float) else str(value)

    return ", ".join(f"{name} {shown(value)}" for name, value in choices.items())


def both_protocols(summary: Summary) -> list[str]:
    """The same run tested both ways, where it was."""
    if summary.aa_local is None or summary.aa_global is None:
        return []
    return [
        f"local (each task in its own graph): AA {summary.aa_local:.2f} %   "
        f"global (whole graph, no task id): AA {summary.aa_global:.2f} %"
    ]


def _so_far_line(summary: Summary) -> str:
    so_far = summary.so_far
    return (
        f"all test nodes so far: {so_far.plain[-1]:.2f} % (by class {so_far.balanced[-1]:.2f} %)   "
        f"area {so_far.area_plain:.2f} % ({so_far.area_balanced:.2f} %)   "
        f"forgetting from the best {so_far.forgetting:.2f} %"
    )
