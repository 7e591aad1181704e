"""evergraph reproduce: run and write a table or figure of the paper."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evergraph.cli.console import STDOUT, note, print_json
from evergraph.cli.options import (
    AsJson,
    DataDir,
    ExecutorName,
    ExecutorOption,
    Features,
    Memory,
    Plugins,
    RayAddress,
    ScratchFolder,
    budgeted,
    complete_settings,
)
from evergraph.errors import ConfigError, StoreError
from evergraph.paper import TARGET_NAMES

if TYPE_CHECKING:
    from rich.table import Table

    from evergraph.paper.exhibit import Exhibit
    from evergraph.paper.targets import Request, Target
    from evergraph.runs.config import RunConfig

CORES = os.cpu_count() or 1
EXAMPLE = "Example: evergraph reproduce fig-matrices --dataset digits --fast"
NAMES = "; ".join(f"{name} ({alias})" for name, alias in TARGET_NAMES.items())


def reproduce_command(
    target: Annotated[str, typer.Argument(help=f"One of: {NAMES}.")],
    dataset: Annotated[
        str | None, typer.Option(help="Name or file; by default the paper's for this target.")
    ] = None,
    features: Features = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="How many seeds, from 0 on (the paper: 5; fast: 1).")
    ] = None,
    backbone: Annotated[
        str | None, typer.Option(help="One or several, separated by commas; default by target.")
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Minutes instead of hours, and marked as such.")] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", min=1, help="Runs at the same time.", show_default="one for each core")
    ] = CORES,
    executor: ExecutorOption = ExecutorName.LOCAL,
    ray_address: RayAddress = None,
    out: Annotated[Path, typer.Option(help="Folder of the runs; finished ones are used, not repeated.")] = Path(
        "runs"
    ),
    write: Annotated[Path, typer.Option(help="Folder for the table or figure.")] = Path("reproduced"),
    records: Annotated[
        list[Path] | None,
        typer.Option("--from", help="Run folders or files of records: show what is in them and run nothing."),
    ] = None,
    data_dir: DataDir = None,
    memory: Memory = None,
    scratch: ScratchFolder = None,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Do the runs behind a table or figure of the paper, and write it with the paper's values beside ours."""
    from evergraph.cli.execution import do_runs
    from evergraph.experiments.projection import project
    from evergraph.paper.exhibits import make_exhibit
    from evergraph.paper.targets import TARGETS
    from evergraph.results.load import read_results

    wanted = TARGETS[target]
    request = make_request(wanted, dataset, features, seeds, backbone, fast=fast)
    failures: dict[RunConfig, str] = {}
    sources = records or []
    if not records:
        done = do_runs(
            wanted.name,
            wanted.configs(request),
            out=out,
            data_dir=data_dir,
            memory=memory,
            scratch=scratch,
            jobs=jobs,
            executor=executor,
            ray_address=ray_address,
        )
        failures, sources = done.failures, list(done.folders.values())
        if wanted.name == "fig-tsne":
            with budgeted(memory, scratch):
                for folder in sources:
                    project(folder, data_dir=data_dir)
    exhibit = make_exhibit(wanted, request, read_results(sources, complete_settings)[0])
    if not exhibit.numbers:
        why = next(iter(failures.values()), "there is none that belongs to it")
        raise StoreError(f"{wanted.name} needs at least one finished run, got none: {why}")
    files = exhibit.write(write)
    if as_json:
        facts = {
            "target": wanted.name,
            "title": exhibit.title,
            "dataset": request.dataset,
            "features": request.features,
            "backbones": list(request.backbones),
            "seeds": list(request.seeds),
            "fast": fast,
            "numbers": list(exhibit.numbers),
            "notes": list(exhibit.notes),
            "files": [str(path) for path in files],
            "failed": {config.label(): reason for config, reason in failures.items()},
        }
        print_json(facts)
    else:
        _show(exhibit, files, failures)
    if failures:
        raise typer.Exit(1)


def make_request(
    target: "Target",
    dataset: str | None,
    features: str | None,
    seeds: int | None,
    backbone: str | None,
    *,
    fast: bool,
) -> "Request":
    """The request with the target's defaults; ConfigError if an option is invalid."""
    from evergraph.backbones import BACKBONES
    from evergraph.data.datasets import DATASETS, DerivedFeatures, is_path
    from evergraph.paper.targets import Request

    name = dataset or target.dataset
    count = seeds or (1 if fast or target.one_seed else 5)
    names = [part.strip() for part in backbone.split(",")] if backbone else list(target.backbones)
    if len(set(names)) < len(names):
        raise ConfigError(f"each backbone is wanted once, got {backbone!r} instead")
    if features is not None:
        DerivedFeatures.parse(features)
    return Request(
        dataset=name if is_path(name) else DATASETS.canonical(name),
        features=features,
        seeds=tuple(range(count)),
        backbones=tuple(BACKBONES.canonical(part) for part in names),
        fast=fast,
    )


def _terminal_table(exhibit: "Exhibit", between: str) -> "Table":
    """The table with `between` between AA and AF."""
    from rich.table import Table

    table = Table(title=exhibit.title, title_justify="left", show_lines=between == "\n")
    for at, heading in enumerate(exhibit.header):
        short = heading.replace(" / ", between).replace("validation", "val.")  # a longer word is cut in 80 columns
        table.add_column(short, justify="right" if at else "left", no_wrap=not at)
    for row in exhibit.rows:
        table.add_row(*(cell.replace(" / ", between) for cell in row))
    return table


def _show(exhibit: "Exhibit", files: Sequence[Path], failures: "dict[RunConfig, str]") -> None:
    """Print the table, notes, failures and files; AA above AF if the terminal is too narrow for both in a line."""
    table = _terminal_table(exhibit, " / ")
    if table.__rich_measure__(STDOUT, STDOUT.options.update(max_width=1_000)).maximum > STDOUT.width:
        table = _terminal_table(exhibit, "\n")
    STDOUT.print(table)
    for line in exhibit.notes:
        STDOUT.print(f"- {line}", markup=False, highlight=False)
    for config, reason in failures.items():
        note(f"failed: {config.label()}: {reason}")
    STDOUT.print(f"written: {', '.join(map(str, files))}", markup=False, highlight=False, soft_wrap=True)
