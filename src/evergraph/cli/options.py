"""Options that several commands share."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergraph.errors import ConfigError

if TYPE_CHECKING:
    from evergraph.budget import Budget
    from evergraph.experiments.local import GridListener


class ExecutorName(StrEnum):
    """What does the runs: processes on this machine, or a Ray cluster."""

    LOCAL = "local"
    RAY = "ray"


class ProtocolName(StrEnum):
    """In which graph tasks are learned; every run is tested in both."""

    TASK_GRAPHS = "task-graphs"
    WHOLE_GRAPH = "whole-graph"


def _load_plugins(paths: list[Path] | None) -> list[Path] | None:
    """Before anything else is looked at, so that other options can name what a plug-in brings."""
    if paths:
        from evergraph.runs.plugins import load_plugin

        for path in paths:
            load_plugin(path)
    return paths


def complete_settings(values: dict[str, Any]) -> tuple[dict[str, Any], list[str]] | None:
    """Only older records need this, and with it the tables of methods and backbones."""
    from evergraph.runs.config import completed

    return completed(values)


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Folder to look for data files in first (before EVERGRAPH_DATA).")
]
ExecutorOption = Annotated[
    ExecutorName, typer.Option("--executor", help="Processes on this machine, or a Ray cluster.")
]
GraphExecutor = Annotated[
    ExecutorName,
    typer.Option("--executor", help="What propagates and sums a graph folder: this process, or a Ray cluster."),
]
Features = Annotated[
    str | None, typer.Option(help="Features in place of the graph's own: spectral:D, random:D or degree.")
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Runs at the same time.")]
Logs = Annotated[
    list[str] | None,
    typer.Option(
        "--log",
        metavar="FILE.jsonl|tensorboard[:FOLDER]",
        help="Append events to a file of JSON lines, or write TensorBoard's (default: below --out); repeatable.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        help="Budget of memory of a run besides the program's own, such as 8GB; what does not fit is split.",
    ),
]
Scratch = Annotated[
    str | None,  # with --executor ray it may be an address, whose two separators a path would make one
    typer.Option(
        "--scratch",
        metavar="PATH",
        help="Folder for what does not fit into memory; with --executor ray it may be an address.",
        show_default="temp",
    ),
]
ScratchFolder = Annotated[
    str | None,  # an address, whose two separators a path would make one, is refused by its name
    typer.Option(
        "--scratch", metavar="PATH", help="Folder for what does not fit into memory.", show_default="temp"
    ),
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin",
        metavar="FILE.py",
        callback=_load_plugins,
        is_eager=True,
        help="Python file with more methods, backbones, scores or data sets.",
    ),
]
ProtocolOption = Annotated[
    ProtocolName | None,
    typer.Option(
        "--protocol",
        help="Learn each task in its own subgraph (task-graphs, as the paper) or in the graph known so far.",
    ),
]
StreamSetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Of data set or stream, such as stream.class_order=random."),
]
DatasetSetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Of the data set: dataset.standardise.undirected=false."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any setting, such as backbone.norm=sum; it wins over flags."),
]
RayAddress = Annotated[
    str | None,
    typer.Option("--ray-address", metavar="HOST:PORT", help="An existing Ray cluster; without it, one is started."),
]


def opened_logs(logs: list[str] | None, out: Path) -> "list[GridListener]":
    """What --log asks for."""
    from evergraph.experiments.events import open_log

    return [open_log(text, out) for text in logs or []]


@contextmanager
def budgeted(
    memory: str | None, scratch: str | None = None, executor: ExecutorName = ExecutorName.LOCAL
) -> "Iterator[Budget]":
    """The budget that --memory and --scratch ask for; what workers share at an address is none of it."""
    from evergraph.budget import memory_budget, parse_memory
    from evergraph.data.remote.address import checked, has_protocol

    if has_protocol(scratch) and executor is ExecutorName.RAY:
        scratch = None
    elif has_protocol(scratch):
        raise ConfigError(
            f"--scratch must be a folder, got {checked(str(scratch))}; addresses go with --executor ray of run "
            "and learn"
        )
    folder = None if scratch is None else Path(scratch)
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"--scratch must be a folder that is there, got {folder} instead; make it first")
    with memory_budget(None if memory is None else parse_memory(memory), folder) as budget:
        yield budget


def check_method(executor: ExecutorName, *names: str | None) -> None:
    """Refuse what workers can do nothing for, before anything is opened; None leaves the method open."""
    if executor is ExecutorName.LOCAL:
        return
    from evergraph.runs.build import forbid_alone
    from evergraph.runs.config import RunConfig

    for name in names:
        if name is not None:
            forbid_alone(RunConfig.from_values({"method": {"name": name}}))


@contextmanager
def on_workers(executor: ExecutorName, ray_address: str | None, scratch: str | None, data: str) -> Iterator[None]:
    """What --executor and --ray-address ask for one graph: workers for parts of it, or none."""
    if executor is ExecutorName.LOCAL:
        if ray_address is not None:
            raise ConfigError("--ray-address goes with --executor ray, got --executor local instead; leave it out")
        yield
        return
    from evergraph.data.graph_folder import is_graph_folder
    from evergraph.data.remote.address import has_protocol, is_address, local_path
    from evergraph.experiments.ray_workers import ray_workers

    if not is_address(data) and not is_graph_folder(local_path(data)):
        raise ConfigError(
            f"--executor ray is for a graph folder here, got {data} instead; convert its tables (evergraph data "
            "convert), or give many runs to a cluster with bench"
        )
    if ray_address is not None and scratch is None:
        raise ConfigError(
            "--scratch, a folder that every node reaches by the same path or address, goes with --ray-address, got "
            "none; name one"
        )
    shared = scratch if scratch is not None and has_protocol(scratch) else Path(scratch or tempfile.gettempdir())
    with ray_workers(ray_address, os.cpu_count() or 1, shared):
        yield
