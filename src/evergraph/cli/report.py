"""evergraph report: the results of many runs as one HTML page."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evergraph.cli.console import STDOUT, counted, note, print_json
from evergraph.cli.options import AsJson, complete_settings
from evergraph.errors import ConfigError

if TYPE_CHECKING:
    from evergraph.results.published import PublishedResults

EXAMPLE = "Example: evergraph report runs/NAME-OF-THE-RUN --out report.html"


def report_command(
    results: Annotated[
        list[Path], typer.Argument(help="Run folders, folders of them, or files of records (bench --export).")
    ],
    out: Annotated[Path, typer.Option(help="The page, .html; or tables of both tests and their cost, .md.")] = Path(
        "report.html"
    ),
    as_json: AsJson = False,
) -> None:
    """Write one page with the tables and figures of finished runs; it opens without a network."""
    from evergraph.report.markdown import markdown
    from evergraph.report.page import page, page_facts, write_page
    from evergraph.results.groups import data_sets
    from evergraph.results.load import read_results

    if out.suffix not in (".html", ".htm", ".md"):
        raise ConfigError(f"--out must end in .html or .md, got {out} instead")
    found, notes = read_results(results, complete_settings)
    data = data_sets(found)
    published = published_results()
    content = markdown(data) if out.suffix == ".md" else page(data, notes, published)
    write_page(out, content)
    size = len(content.encode())
    if as_json:
        facts = {"page": str(out), "bytes": size, "runs": len(found), "notes": notes}
        print_json({**facts, "results": page_facts(data, published)})
        return
    for message in notes:
        note(message)
    line = f"{out}: {counted(len(found), 'run')}, {_bytes(size)}"
    STDOUT.print(line, markup=False, highlight=False, soft_wrap=True)


def _bytes(size: int) -> str:
    return counted(size, "byte") if size < 2**10 else f"{size / 2**10:.0f} KiB"


def published_results() -> "PublishedResults | None":
    """The paper's values, where the package that knows them is there."""
    if find_spec("evergraph.paper") is None:
        return None
    from evergraph.paper.published import PANG_2024

    return PANG_2024
