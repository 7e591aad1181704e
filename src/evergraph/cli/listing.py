"""evergraph list: what there is to choose from."""

from enum import Enum
from typing import Annotated, Any

import typer
from rich.table import Table

from evergraph.backbones import BACKBONES
from evergraph.cli.console import STDOUT, print_json
from evergraph.data.datasets import DATASETS
from evergraph.methods import METHODS
from evergraph.scores import SCORES

EXAMPLE = "Example: evergraph list methods"


class Kind(Enum):
    """The tables that can be listed."""

    METHODS = "methods"
    BACKBONES = "backbones"
    DATASETS = "datasets"
    SCORES = "scores"


def list_command(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """List methods, backbones, data sets or scores."""
    rows = listing(kind)
    if as_json:
        print_json({kind.value: rows})
        return
    table = Table("name", "what it is", "source" if kind is Kind.DATASETS else "paper", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row["name"], row["summary"], row["paper"])
    STDOUT.print(table)


def listing(kind: Kind) -> list[dict[str, Any]]:
    """Name, summary, paper and default settings of each entry of a table."""
    if kind is Kind.DATASETS:
        return [
            {"name": name, "summary": entry.summary, "paper": entry.citation, "settings": defaults(entry.options)}
            for name, entry in DATASETS.items()
        ]
    if kind is Kind.SCORES:
        return [{"name": name, "summary": entry.summary, "paper": entry.paper} for name, entry in SCORES.items()]
    entries = METHODS if kind is Kind.METHODS else BACKBONES
    return [
        {"name": name, "summary": entry.summary, "paper": entry.paper, "settings": defaults(entry.config)}
        for name, entry in entries.items()
    ]


def defaults(settings: Any) -> dict[str, Any]:
    """The default value of each setting, where it has one."""
    values: dict[str, Any] = settings.model_construct().model_dump(mode="json")
    return values
