"""Tables for the terminal."""

from rich.table import Table
from rich.text import Text

from evergraph.results.summary import Summary, data_title, summarise, title
from evergraph.runs.record import Record

MOST_COLUMNS = 12
"""Tasks up to which the whole matrix is shown in a terminal."""


def matrix_table(record: Record) -> Table:
    """The accuracy matrix in percent, one row for each task learned, with AA so far as the last column.

    Where classes come back, the accuracy on all nodes so far follows: of nodes, and of classes counting alike.
    """
    summary = summarise(record)
    if len(summary.matrix) > MOST_COLUMNS:
        return _narrow_table(record, summary)
    table = Table(title=title(record), title_justify="left", caption="accuracy, %", caption_justify="left")
    table.add_column("after task", justify="right")
    for index in range(len(summary.matrix)):
        table.add_column(str(index + 1), justify="right")
    _add_averages(table, record)
    for index, row in enumerate(summary.matrix):
        cells = [Text("") if value is None else Text(f"{value:.1f}", style=_shade(value)) for value in row]
        table.add_row(str(index + 1), *cells, *_averages(record, summary, index))
    return table


def _add_averages(table: Table, record: Record) -> None:
    table.add_column("AA", justify="right", style="bold")
    for heading in ("so far", "by class") if record.classes_return else ():
        table.add_column(heading, justify="right")


def _averages(record: Record, summary: Summary, index: int) -> list[str]:
    """The last cells of a row: AA, and where classes come back the accuracy so far, plain and by class."""
    values = [summary.aa_curve[index]]
    if record.classes_return:
        values += [summary.so_far.plain[index], summary.so_far.balanced[index]]
    return [f"{value:.1f}" for value in values]


def _narrow_table(record: Record, summary: Summary) -> Table:
    """For more tasks than a terminal is wide: the task just learned, the worst so far, and AA."""
    caption = "accuracy, %; the whole matrix is in record.json and matrix.png"
    table = Table(title=title(record), title_justify="left", caption=caption, caption_justify="left")
    for heading in ("after task", "this task", "worst so far"):
        table.add_column(heading, justify="right")
    _add_averages(table, record)
    for index, row in enumerate(summary.matrix):
        seen = [value for value in row[: index + 1] if value is not None]
        cells = [Text(f"{value:.1f}", style=_shade(value)) for value in (seen[-1], min(seen))]
        table.add_row(str(index + 1), *cells, *_averages(record, summary, index))
    return table


def _shade(value: float) -> str:
    return "green" if value >= 80 else "yellow" if value >= 40 else "red"


def verdict_lines(record: Record) -> list[str]:
    """AA, AF and the costs of a run in a few lines."""
    summary = summarise(record)
    seconds = ", ".join(f"{phase} {value:.1f} s" for phase, value in summary.seconds.items())
    memory = summary.memory
    lines = [
        f"AA {summary.aa:.2f} %   AF {summary.af:.2f} %   (class-balanced, test)",
        f"plain accuracy: AA {summary.plain.aa:.2f} %   validation: AA {summary.val.aa:.2f} %",
        f"time: {seconds}; peak memory {summary.peak_bytes / 2**20:.0f} MiB",
    ]
    if record.classes_return:
        lines.insert(1, _so_far_line(summary))
    if memory.bytes:
        lines.append(
            f"kept of the past: {memory.nodes:,} nodes, {memory.edges:,} edges, {memory.bytes / 2**20:.2f} MiB"
        )
    return lines + [f"note: {remark}" for remark in summary.remarks]


def _so_far_line(summary: Summary) -> str:
    so_far = summary.so_far
    return (
        f"all test nodes so far: {so_far.plain[-1]:.2f} % (by class {so_far.balanced[-1]:.2f} %)   "
        f"area {so_far.area_plain:.2f} % ({so_far.area_balanced:.2f} %)   "
        f"forgetting from the best {so_far.forgetting:.2f} %"
    )


def comparison_table(records: list[Record]) -> Table:
    """One row for each method: AA, AF, seconds and what it keeps of the past."""
    first = records[0].config
    data = data_title(first["dataset"], records[0].data.name)
    heading = f"{data} · {first['backbone']['name']} · seed {first['seeds']['init']}"
    table = Table(title=heading, title_justify="left")
    table.add_column("method")
    for name in ("AA, %", "AF, %", "time, s", "kept of the past, MiB"):
        table.add_column(name, justify="right")
    for record in records:
        summary = summarise(record)
        table.add_row(
            record.config["method"]["name"],
            f"{summary.aa:.1f}",
            f"{summary.af:.1f}",
            f"{sum(value for phase, value in summary.seconds.items() if phase != 'load'):.1f}",
            f"{summary.memory.bytes / 2**20:.2f}",
        )
    return table
