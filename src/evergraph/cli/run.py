"""evergraph run: one run, from a configuration to a folder with its result."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from evergraph.cli.console import STDERR, STDOUT, ProgressWatch, note, print_json
from evergraph.config import assigned, merged, parse_assignment, read_toml
from evergraph.methods import METHODS
from evergraph.report.figures import write_figures
from evergraph.report.summary import summarise
from evergraph.report.tables import matrix_table, verdict_lines
from evergraph.run import RunResult, run
from evergraph.runconfig import DEFAULT_METHOD, RunConfig

EXAMPLE = "Example: evergraph run --dataset digits --method joint --backbone gcn --seed 0 --epochs 20"

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Folder to look for data files in first (before EVERGRAPH_DATA).")
]


def run_command(
    dataset: Annotated[str | None, typer.Option(help="Name of a data set, or path of a graph file.")] = None,
    method: Annotated[str | None, typer.Option(help="Name of a method.")] = None,
    backbone: Annotated[str | None, typer.Option(help="Name of a backbone.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of split, class order and initialisation.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs for each task.")] = None,
    budget: Annotated[
        int | None, typer.Option(help="Nodes kept for each class, for methods with a memory.")
    ] = None,
    features: Annotated[str | None, typer.Option(help="Derive features: spectral:D or degree.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any setting, such as backbone.norm=sum.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file with settings; flags and --set win over it.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder in which the run gets its folder.")] = Path("runs"),
    data_dir: DataDir = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted run of these settings.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Learn a stream of tasks and measure it."""
    values = read_toml(config) if config is not None else {}
    flags = {
        "dataset.name": dataset,
        "dataset.features": features,
        "method.name": method,
        "backbone.name": backbone,
        "train.epochs": epochs,
        **{f"seeds.{kind}": seed for kind in ("split", "order", "init")},
    }
    values = merged(values, assigned({}, [(key.split("."), v) for key, v in flags.items() if v is not None]))
    sets = [parse_assignment(text) for text in settings or []]
    if budget is not None and _has_budget(assigned(values, sets).get("method"), budget):
        values = merged(values, {"method": {"budget": budget}})
    chosen = RunConfig.from_values(assigned(values, sets))
    with ProgressWatch(chosen.train.epochs) as watch:
        result = run(chosen, out, data_dir=data_dir, resume=resume, watch=watch, say=note)
    figures = write_figures(result.record, result.folder)
    _print(result, figures, as_json=as_json)


def _has_budget(method: object, budget: int) -> bool:
    """Whether the method keeps anything; that it does not is said, not passed over."""
    name = method.get("name", DEFAULT_METHOD) if isinstance(method, Mapping) else DEFAULT_METHOD
    if not isinstance(name, str) or "budget" in METHODS[name].config.model_fields:
        return True
    note(f"{name} keeps no memory, so --budget {budget} has no effect")
    return False


def _print(result: RunResult, figures: list[Path], *, as_json: bool) -> None:
    if as_json:
        print_json(run_json(result))
        return
    STDOUT.print(matrix_table(result.record))
    for line in verdict_lines(result.record):
        STDOUT.print(line, highlight=False)
    names = ", ".join(path.name for path in figures)
    STDERR.print(f"files: {result.folder} (record.json, {names})", highlight=False, soft_wrap=True)


def run_json(result: RunResult) -> dict[str, Any]:
    """What --json prints: the summary in percent, the folder and the settings."""
    return {**summarise(result.record), "run_dir": str(result.folder), "config": result.record["config"]}
