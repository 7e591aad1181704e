"""evergraph show: the table and the figures of a finished run."""

from pathlib import Path
from typing import Annotated

import typer

from evergraph.cli.console import STDOUT, print_json
from evergraph.cli.options import AsJson

EXAMPLE = "Example: evergraph show runs/NAME-OF-THE-RUN"


def show_command(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the figures; the run's own by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the accuracy matrix and the figures of a finished run."""
    from evergraph.cli.printing import print_run, run_json
    from evergraph.files import make_folder
    from evergraph.report.plots import write_figures
    from evergraph.runs.store import RunStore

    record = RunStore(run).record()
    if out is not None:
        make_folder(out)
    figures = write_figures(record, out or run)
    if as_json:
        print_json({**run_json(record, run), "figures": [str(path) for path in figures]})
        return
    print_run(record)
    for path in figures:
        STDOUT.print(f"figure: {path}", highlight=False, soft_wrap=True)
