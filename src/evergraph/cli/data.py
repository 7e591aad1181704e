"""evergraph data: which data sets there are, what is in them, fetching and checking them."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergraph.cli.cache import EXAMPLE as CACHE_EXAMPLE
from evergraph.cli.cache import cache_command
from evergraph.cli.console import STDOUT, note, print_facts, print_json
from evergraph.cli.convert import convert_command
from evergraph.cli.options import AsJson, DataDir, DatasetSetOption, Features, Plugins
from evergraph.errors import ConfigError, DataError

if TYPE_CHECKING:
    from evergraph.data.graph import Graph

app = typer.Typer(
    help="List, inspect, fetch, check and convert data sets.",
    epilog="Example: evergraph data info digits",
    rich_markup_mode=None,
)
app.command(
    "convert",
    epilog="Example: evergraph data convert --edges edges.csv --nodes nodes.csv --out graph/ --memory 2GB",
)(convert_command)
app.command("cache", epilog=CACHE_EXAMPLE)(cache_command)
Name = Annotated[str, typer.Argument(help="Name of a data set, path of a graph file or folder, or its address.")]


@app.command("list", epilog="Example: evergraph data list")
def list_command(plugin: Plugins = None, as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """List the data sets and whether their files are on this disk."""
    from rich.table import Table

    from evergraph.data.datasets import DATASETS, locator

    locator(data_dir)  # complains about a folder that is not there
    rows = [
        {"name": name, "summary": entry.summary, "here": _is_here(name, data_dir), "licence": entry.licence}
        for name, entry in DATASETS.items()
    ]
    if as_json:
        print_json({"datasets": rows})
        return
    table = Table("name", "on this disk", "what it is", box=None, pad_edge=False)
    for row in rows:
        table.add_row(str(row["name"]), "yes" if row["here"] else "no", str(row["summary"]))
    STDOUT.print(table)


@app.command("info", epilog="Example: evergraph data info digits --json")
def info_command(
    name: Name,
    features: Features = None,
    settings: DatasetSetOption = None,
    plugin: Plugins = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Count nodes, edges, features, classes and tasks after standardisation."""
    from evergraph.config import assigned, parse_assignment, validated
    from evergraph.data.datasets import DatasetConfig, open_dataset

    values = {"dataset": {"name": name, "features": features}}
    chosen = assigned(values, [parse_assignment(text) for text in settings or []])
    for section in set(chosen) - {"dataset"}:
        raise ConfigError(f"--set takes dataset.* here, got {section}.* instead")
    config = validated(DatasetConfig, chosen["dataset"], "dataset")
    graph = open_dataset(config, data_dir, progress=True)
    print_facts({**_about(name), **graph_facts(graph)}, as_json=as_json)


@app.command("fetch", epilog="Example: evergraph data fetch digits")
def fetch_command(name: Name, plugin: Plugins = None, as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Bring the files of a data set, or of a graph folder at an address, to this disk, unless they are here."""
    from evergraph.data.remote.address import is_address
    from evergraph.data.remote.place import graph_place

    if is_address(name):
        print_facts({"name": name, "files": [str(graph_place(name, progress=True).path)]}, as_json=as_json)
        return
    files = _files(name, data_dir, download=True)
    if not files:
        note(f"{name} needs no file")
    print_facts({"name": name, "files": files}, as_json=as_json)


@app.command("check", epilog="Example: evergraph data check digits")
def check_command(name: Name, plugin: Plugins = None, as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Load a data set completely and compare it with what is known of it: of a graph folder, every checksum."""
    from evergraph.data.datasets import DATASETS, is_path, load_dataset
    from evergraph.data.graph_folder import check_folder
    from evergraph.data.remote.place import graph_place

    place = graph_place(name, progress=True) if is_path(name) else None
    if place is not None and place.path.is_dir():
        facts = graph_facts(check_folder(place.path))
        verdict = "every byte is as it was written; counts are those before standardisation"
        print_facts({"name": name, "ok": True, "verdict": verdict, **facts}, as_json=as_json)
        return
    graph = load_dataset(name, data_dir=data_dir, progress=True)
    found = (graph.n_nodes, graph.n_edges)
    known = None if is_path(name) else DATASETS[name].counts
    if known is not None and found != known:
        raise DataError(
            f"{name} must have {known[0]:,} nodes and {known[1]:,} edges after standardisation, "
            f"got {found[0]:,} and {found[1]:,} instead; fetch its files again"
        )
    verdict = "loads" if known is None else "loads, and its counts are the published ones"
    print_facts({"name": name, "ok": True, "verdict": verdict, **graph_facts(graph)}, as_json=as_json)


def graph_facts(graph: "Graph") -> dict[str, Any]:
    """The counts of a graph; `edges` counts adjacency entries, so an undirected edge twice."""
    import numpy as np

    from evergraph.data.stream import StreamConfig, class_plan

    config = StreamConfig()
    try:
        order, messages = class_plan(graph, config, 0)
    except ConfigError as error:  # a graph that is too small to learn from still has counts
        order, messages = (), (str(error),)
    sizes = np.unique(graph.labels, return_counts=True)[1]
    return {
        "name": graph.name,
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "features": graph.n_features,
        "classes": len(sizes),
        "tasks": math.ceil(len(order) / config.classes_per_task),
        "smallest_class": int(sizes.min()),
        "largest_class": int(sizes.max()),
        "directed": graph.directed,
        "times": graph.times is not None,
        "remarks": [*graph.remarks, *messages],
    }


def _about(name: str) -> dict[str, Any]:
    from evergraph.data.datasets import DATASETS, is_path

    if is_path(name):
        return {}
    entry = DATASETS[name]
    return {"summary": entry.summary, "citation": entry.citation, "licence": entry.licence or "not stated"}


def _files(name: str, data_dir: Path | None, *, download: bool) -> list[str]:
    from evergraph.data.datasets import DATASETS, is_path, locator

    if is_path(name):
        raise DataError(f"the name of a data set is wanted, got the path {name} instead; a file needs no fetching")
    locate = locator(data_dir, download=download, progress=True)
    return [str(locate(file)) for file in DATASETS[name].files]


def _is_here(name: str, data_dir: Path | None) -> bool:
    try:
        _files(name, data_dir, download=False)
    except DataError:
        return False
    return True
