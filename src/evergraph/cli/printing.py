"""How run and show print a finished run."""

from pathlib import Path
from typing import Any

from evergraph.cli.console import STDOUT
from evergraph.report.terminal import matrix_table, verdict_lines
from evergraph.results.summary import class_names, summarise
from evergraph.runs.record import Record


def print_run(record: Record) -> None:
    """The accuracy matrix, and AA, AF and costs below it."""
    STDOUT.print(matrix_table(record, STDOUT.width))
    for line in verdict_lines(record):
        STDOUT.print(line, highlight=False)


def run_json(record: Record, folder: Path) -> dict[str, Any]:
    """What --json prints: the summary in percent, the names of the classes as they arrived, folder and settings."""
    shown = summarise(record).model_dump(mode="json")
    return {**shown, "classes": class_names(record.data), "run_dir": str(folder), "config": record.config}
