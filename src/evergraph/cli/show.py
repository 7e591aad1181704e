"""evergraph show: the table and the figures of a finished run."""

from pathlib import Path
from typing import Annotated

import typer

from evergraph.cli.console import STDOUT, print_json
from evergraph.cli.run import run_json
from evergraph.report.plots import write_figures
from evergraph.report.terminal import matrix_table, verdict_lines
from evergraph.runs.execute import RunResult
from evergraph.runs.store import RunStore, make_folder

EXAMPLE = "Example: evergraph show runs/NAME-OF-THE-RUN"


def show_command(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the figures; the run's own by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Show the accuracy matrix and the figures of a finished run."""
    record = RunStore(run).record()
    if out is not None:
        make_folder(out)
    figures = write_figures(record, out or run)
    if as_json:
        print_json({**run_json(RunResult(run, record)), "figures": [str(path) for path in figures]})
        return
    STDOUT.print(matrix_table(record))
    for line in verdict_lines(record):
        STDOUT.print(line, highlight=False)
    for path in figures:
        STDOUT.print(f"figure: {path}", highlight=False, soft_wrap=True)
