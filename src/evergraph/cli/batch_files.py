"""The options that name the files of a batch, which learn, predict and forget share, and reading them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergraph.errors import ConfigError

if TYPE_CHECKING:
    from evergraph.tables import Batch

ModelFolderOption = Annotated[Path, typer.Option("--model", help="Folder of the model.")]
Nodes = Annotated[
    str,  # a path would make one separator of the two in an address
    typer.Option(
        metavar="PATH",
        help="Table of nodes: CSV (also .gz), TSV or Parquet, a column `id`; or a graph folder, or its address.",
    ),
]
Edges = Annotated[
    Path | None, typer.Option(help="Table of edges with columns `source` and `target`; none: nodes alone.")
]
IdColumn = Annotated[str | None, typer.Option(help="Column of node ids.", show_default="id")]
LabelColumn = Annotated[str | None, typer.Option(help="Column of labels; empty: not known.", show_default="label")]
TimeColumn = Annotated[str | None, typer.Option(help="Column of times, which is no feature.", show_default="time")]
Ignore = Annotated[list[str] | None, typer.Option(help="Column that is no feature; may be given again.")]
SourceColumn = Annotated[str, typer.Option(help="Column of the edges' first ids.")]
TargetColumn = Annotated[str, typer.Option(help="Column of the edges' second ids.")]
WeightColumn = Annotated[str | None, typer.Option(help="Column of edge weights.", show_default="not used")]
Directed = Annotated[bool, typer.Option("--directed", help="Edges have a direction.")]
MergeDuplicates = Annotated[
    bool,
    typer.Option("--merge-duplicates", help="Edges that are listed more than once become one; weights are added."),
]


def read_files(options: dict[str, Any], *, label_optional: bool) -> "Batch":
    """The batch that the options of a command name."""
    from evergraph.data.graph_folder import folder_batch, is_graph_folder
    from evergraph.data.remote.address import is_address, local_path
    from evergraph.data.remote.place import graph_place
    from evergraph.tables import Duplicates, read_batch

    nodes = options["nodes"]
    if is_address(nodes) or is_graph_folder(local_path(nodes)):
        _forbid_beside_folder(options)
        return folder_batch(graph_place(nodes, progress=True))
    names = (
        "id_column",
        "label_column",
        "time_column",
        "source_column",
        "target_column",
        "weight_column",
        "directed",
    )
    return read_batch(
        Path(nodes),
        options["edges"],
        ignore=options["ignore"] or (),
        duplicates=Duplicates.MERGE if options["merge_duplicates"] else Duplicates.ERROR,
        label_optional=label_optional,
        **{name: options[name] for name in names},
    )


def _forbid_beside_folder(options: dict[str, Any]) -> None:
    """ConfigError for what says how tables are read: a graph folder was made of tables already."""
    usual = {"source_column": "source", "target_column": "target"}
    for name in ("edges", "id_column", "label_column", "time_column", "ignore", "weight_column", *usual):
        if options[name] not in (None, usual.get(name)):
            raise ConfigError(
                f"a graph folder has its edges and columns, got --{name.replace('_', '-')} beside it; leave it out"
            )
    for name in ("directed", "merge_duplicates", "category", "number"):
        if options.get(name):
            raise ConfigError(f"a graph folder says that by itself, got --{name.replace('_', '-')}; leave it out")
