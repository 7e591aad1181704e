"""evergraph report: the results of many runs as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from evergraph.cli.console import STDOUT, note, print_json
from evergraph.cli.options import AsJson

EXAMPLE = "Example: evergraph report runs/NAME-OF-THE-RUN --out report.html"


def report_command(
    results: Annotated[
        list[Path], typer.Argument(help="Run folders, folders of them, or files of records (bench --export).")
    ],
    out: Annotated[Path, typer.Option(help="The page.")] = Path("report.html"),
    as_json: AsJson = False,
) -> None:
    """Write one page with the tables and figures of finished runs; it opens without a network."""
    from evergraph.report.page import page, page_facts, write_page
    from evergraph.results.groups import data_sets
    from evergraph.results.load import read_results

    found, notes = read_results(results)
    data = data_sets(found)
    content = page(data, notes)
    write_page(out, content)
    size = len(content.encode())
    if as_json:
        facts = {"page": str(out), "bytes": size, "runs": len(found), "notes": notes, "results": page_facts(data)}
        print_json(facts)
        return
    for message in notes:
        note(message)
    STDOUT.print(f"{out}: {len(found)} runs, {size / 2**10:.0f} KiB", markup=False, highlight=False, soft_wrap=True)
