"""evergraph list: the registered methods, backbones, data sets and scores."""

from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergraph.cli.console import STDOUT, note, print_json
from evergraph.cli.options import AsJson, Plugins

if TYPE_CHECKING:
    from evergraph.registry import Registry

EXAMPLE = "Example: evergraph list methods"


class Kind(Enum):
    """The tables that can be listed, under the names of their registries."""

    METHODS = "methods"
    BACKBONES = "backbones"
    DATASETS = "datasets"
    SCORES = "scores"


def list_command(
    kind: Annotated[Kind, typer.Argument(help="What to list.")], plugin: Plugins = None, as_json: AsJson = False
) -> None:
    """List methods, backbones, data sets or scores."""
    from rich.table import Table

    package = "evergraph.data.datasets" if kind is Kind.DATASETS else f"evergraph.{kind.value}"
    table: Registry[Any] = getattr(import_module(package), kind.name)
    rows = listing(table)
    if as_json:
        print_json({kind.value: rows, "broken": dict(table.broken)})
        return
    shown = Table("name", "what it is", "source" if kind is Kind.DATASETS else "paper", box=None, pad_edge=False)
    for row in rows:
        shown.add_row(row["name"], row["summary"], row["paper"])
    STDOUT.print(shown)
    for row in rows:
        if row["plugin"]:
            note(f"{row['name']} is a plug-in: {row['plugin']}")
    for name, reason in table.broken.items():
        note(f"{name} of {reason}")


def listing(table: "Registry[Any]") -> list[dict[str, Any]]:
    """Name, summary, paper, default settings and origin of each entry of a table."""
    rows = []
    for name, entry in table.items():
        settings = getattr(entry, "config", None) or getattr(entry, "options", None)
        paper = getattr(entry, "paper", None) or getattr(entry, "citation", "")
        row = {"name": name, "summary": entry.summary, "paper": paper, "plugin": table.source(name)}
        if settings is not None:
            row["settings"] = settings.model_construct().model_dump(mode="json")
        rows.append(row)
    return rows
