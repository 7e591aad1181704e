"""evergraph data convert: tables of any size into a graph folder."""

from pathlib import Path
from typing import Annotated, Any

import typer

from evergraph.cli.console import note, print_facts
from evergraph.cli.options import AsJson
from evergraph.errors import ConfigError

Edges = Annotated[Path, typer.Option("--edges", help="Edge list: .csv, .csv.gz, .tsv, .tsv.gz or .parquet.")]
Nodes = Annotated[Path, typer.Option("--nodes", help="Node table, of any of these kinds.")]
Out = Annotated[Path, typer.Option("--out", help="Graph folder to be made.")]
IdColumn = Annotated[str | None, typer.Option("--id-column", help="Column of ids; id where none is named.")]
LabelColumn = Annotated[
    str | None, typer.Option("--label-column", help="Column of labels; label where none is named.")
]
TimeColumn = Annotated[str | None, typer.Option("--time-column", help="Column of times; time if it is there.")]
Memory = Annotated[str, typer.Option("--memory", help="Budget of memory, such as 2GB or 500MB.")]
OptionSet = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="How tables are read: dataset.options.directed=false."),
]
Float16 = Annotated[bool, typer.Option("--float16", help="Keep features in 16 bits.")]


def convert_command(
    edges: Edges,
    nodes: Nodes,
    out: Out,
    id_column: IdColumn = None,
    label_column: LabelColumn = None,
    time_column: TimeColumn = None,
    memory: Memory = "2GB",
    float16: Float16 = False,
    settings: OptionSet = None,
    as_json: AsJson = False,
) -> None:
    """Convert tables that may be larger than memory to a graph folder, which every command takes as a data set."""
    from evergraph.budget import parse_memory
    from evergraph.config import assigned, parse_assignment, validated
    from evergraph.data.convert import Plan, convert_tables
    from evergraph.data.datasets import FileOptions

    columns = {"id_column": id_column, "label_column": label_column, "time_column": time_column}
    given = {name: value for name, value in columns.items() if value is not None}
    values: dict[str, Any] = {"dataset": {"options": given}}
    chosen = assigned(values, [parse_assignment(text) for text in settings or []])
    found = chosen["dataset"].get("options") if isinstance(chosen["dataset"], dict) else None
    if chosen != {"dataset": {"options": found}} or not isinstance(found, dict):
        raise ConfigError("--set takes dataset.options.* here, got another setting instead")
    options = validated(FileOptions, found, "dataset.options")
    plan = Plan.of(parse_memory(memory))
    made = convert_tables(edges, nodes, out, options, plan, float16=float16, tell=note)
    size = sum(file.size for file in made.files.values())
    facts = {"folder": str(out), "nodes": made.nodes, "edges": made.edges, "features": made.features}
    facts |= {"classes": made.classes, "directed": made.directed, "times": "times.npy" in made.files, "bytes": size}
    print_facts({**facts, "remarks": list(made.remarks)}, as_json=as_json)
