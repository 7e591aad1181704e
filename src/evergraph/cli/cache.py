"""evergraph data cache: the graph folders that were brought here from an address."""

from dataclasses import asdict
from typing import Annotated

import typer

from evergraph.cli.console import STDOUT, counted, print_json
from evergraph.cli.options import AsJson

EXAMPLE = "Example: evergraph data cache"


def cache_command(
    address: Annotated[str | None, typer.Argument(help="Only what came from this address.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove what is listed.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the graph folders that were brought here from an address, or remove them."""
    from rich.table import Table

    from evergraph.data.cache import cache_dir
    from evergraph.data.remote.cached import cached_graphs
    from evergraph.data.remote.cached import clear as remove

    graphs = cached_graphs(address)
    if clear:
        remove(graphs)
    if as_json:
        rows = [{**asdict(graph), "folder": str(graph.folder)} for graph in graphs]
        print_json({"cache": str(cache_dir()), "cleared": clear, "graphs": rows})
        return
    if clear:
        STDOUT.print(f"{counted(len(graphs), 'graph')} removed", highlight=False)
        return
    if not graphs:
        STDOUT.print(f"no graph from an address is in {cache_dir()}", highlight=False, soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("address", "nodes", "entries", "GB", "folder"):
        table.add_column(heading, overflow="fold")
    for graph in graphs:
        size = f"{graph.bytes / 1e9:.3g}" if graph.complete else f"{graph.bytes / 1e9:.3g}, a part of it"
        table.add_row(graph.address, f"{graph.nodes:,}", f"{graph.edges:,}", size, str(graph.folder))
    STDOUT.print(table)
