"""evergraph run: one run, or one of each method and seed, from a configuration to folders with results."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evergraph.cli.console import STDERR, STDOUT, ProgressWatch, note, print_json
from evergraph.cli.options import (
    AsJson,
    DataDir,
    ExecutorName,
    Features,
    GraphExecutor,
    Logs,
    Memory,
    Plugins,
    ProtocolName,
    ProtocolOption,
    RayAddress,
    Scratch,
    SetOption,
    budgeted,
    check_method,
    on_workers,
    opened_logs,
)
from evergraph.errors import ConfigError, DataError, RunError

if TYPE_CHECKING:
    from evergraph.experiments.local import GridListener
    from evergraph.runs.config import RunConfig
    from evergraph.runs.execute import RunResult

EXAMPLE = "Example: evergraph run --dataset digits --method joint --backbone gcn --seed 0 --epochs 20"


def run_command(
    dataset: Annotated[
        str | None, typer.Option(help="Name of a data set, path of a graph file, or address of a graph folder.")
    ] = None,
    method: Annotated[str | None, typer.Option(help="Name of a method, several with commas, or all.")] = None,
    backbone: Annotated[str | None, typer.Option(help="Name of a backbone.")] = None,
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="SEED[,SEED...]",
            help="Seed of split, class order and initialisation; of several, with commas, mean and deviation.",
        ),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Epochs for each task.")] = None,
    budget: Annotated[
        int | None, typer.Option(help="Nodes kept for each class, for methods with a memory.")
    ] = None,
    protocol: ProtocolOption = None,
    features: Features = None,
    settings: SetOption = None,
    config: Annotated[
        Path | None,
        typer.Option(help="TOML file with settings, or a run's config.json; flags and --set win."),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="Settings by one name; all others win over them: as-published, the paper's code (its figure: "
            "--method ftf-er-det --dataset amazon-computers --seed 0,1,2,3,4)."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder in which the run gets its folder.")] = Path("runs"),
    data_dir: DataDir = None,
    memory: Memory = None,
    scratch: Scratch = None,
    executor: GraphExecutor = ExecutorName.LOCAL,
    ray_address: RayAddress = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume an interrupted run of these settings.")] = False,
    plugin: Plugins = None,
    log: Logs = None,
    as_json: AsJson = False,
) -> None:
    """Learn a stream of tasks and measure it."""
    from evergraph.cli.printing import print_run, run_json
    from evergraph.config import assigned, merged, parse_assignment, read_settings
    from evergraph.experiments.events import Listeners
    from evergraph.runs.process import keep_freed_memory

    keep_freed_memory()
    values = merged(_preset(preset), read_settings(config) if config is not None else {})
    flags = {
        "dataset.name": dataset,
        "dataset.features": features,
        "backbone.name": backbone,
        "train.epochs": epochs,
        "stream.inter_task_edges": None if protocol is None else protocol is ProtocolName.WHOLE_GRAPH,
    }
    values = merged(values, assigned({}, [(key.split("."), v) for key, v in flags.items() if v is not None]))
    sets = [parse_assignment(text) for text in settings or []]
    if protocol is not None and any(path == ["stream", "inter_task_edges"] for path, _ in sets):
        raise ConfigError("--protocol or --set stream.inter_task_edges is wanted, got both instead; leave one out")
    names, seeds = _method_names(method), _seeds(seed)
    _check_preset(preset, {"method": names, "backbone": [backbone]})
    configs = [
        _config(_seeded(values, number), name, budget, sets, strict=len(names) == 1)
        for name in names
        for number in seeds
    ]
    if len(set(configs)) < len(configs):
        raise ConfigError(f"--seed {seed} must decide the runs, got --set seeds.… that wins over it; leave one out")
    if budget is not None and len(names) == 1 and "budget" not in type(configs[0].method).model_fields:
        note(f"a method without a memory: --budget {budget} has no effect")
    check_method(executor, *(one.method_name for one in configs))
    listener = Listeners(opened_logs(log, out), note)
    with (
        budgeted(memory, scratch, executor),
        on_workers(executor, ray_address, scratch, configs[0].dataset.name),
    ):
        results, failures = _run_all(configs, out, data_dir, listener, resume=resume)
    if as_json:
        shown = [run_json(result.record, result.folder) for result in results]
        several = {"runs": shown, "failed": failures, **(_means(results) if len(seeds) > 1 else {})}
        print_json(shown[0] if len(configs) == 1 else several)
    elif len(configs) > 1:
        _print_comparison(results)
    else:
        print_run(results[0].record)
        files = ", ".join(path.name for path in sorted(results[0].folder.glob("*.png")))
        STDERR.print(f"files: {results[0].folder} (record.json, {files})", highlight=False, soft_wrap=True)
    if failures:
        failed = "; ".join(f"{name}: {why}" for name, why in failures.items())
        what = "runs" if len(seeds) > 1 else "methods"
        raise RunError(f"{len(configs)} finished {what} were wanted, got {len(results)}; failed: {failed}")


def _run_all(
    configs: "list[RunConfig]", out: Path, data_dir: Path | None, listener: "GridListener", *, resume: bool
) -> "tuple[list[RunResult], dict[str, str]]":
    """Do the runs, with their figures; the results, and the reasons of those that failed while others did not.

    The reasons are by method or, where it has several seeds, by run. Data or settings that the first run cannot
    use are taken for bad ones, and the error is raised.
    """
    from evergraph.experiments.local import Outcome, reason
    from evergraph.report.plots import write_figures
    from evergraph.runs.execute import run

    results: list[RunResult] = []
    failures: dict[str, str] = {}
    seeded = len({config.method_name for config in configs}) < len(configs)
    for config in configs:
        name = config.label() if seeded else config.method_name
        listener.started(config)
        try:
            with ProgressWatch(config.train.epochs, partial(listener.learned, config)) as watch:
                result = run(config, out, data_dir=data_dir, resume=resume, watch=watch, on_message=note)
        except Exception as error:
            listener.ended(Outcome(config, error=reason(error)))
            bad_input = isinstance(error, ConfigError | DataError) and not results and not failures
            if len(configs) == 1 or bad_input:
                raise
            failures[name] = reason(error)
            note(f"{name} failed, the others go on: {reason(error)}")
        else:
            listener.ended(Outcome(config, result.folder))
            write_figures(result.record, result.folder)
            results.append(result)
    return results, failures


def _preset(name: str | None) -> Mapping[str, Any]:
    """The settings of a preset."""
    if name is None:
        return {}
    from evergraph.paper.presets import PRESETS

    return PRESETS[name].values


def _check_preset(name: str | None, given: Mapping[str, Sequence[str | None]]) -> None:
    """Refuse what a preset does not go with; say what it is."""
    if name is None:
        return
    from evergraph.paper.presets import PRESETS

    for section, names in given.items():
        allowed = PRESETS[name].only[section]
        for got in names:
            if got is not None and got not in allowed:
                raise ConfigError(
                    f"--preset {name} goes with --{section} {' or '.join(allowed)}, got {got} instead; "
                    "leave one of them out"
                )
    note(PRESETS[name].note)


def _method_names(method: str | None) -> list[str | None]:
    """The methods asked for: one, a list with commas, or all; None leaves it to the configuration."""
    from evergraph.methods import METHODS

    if method is None:
        return [None]
    names = list(METHODS) if method == "all" else [name.strip() for name in method.split(",")]
    return list(dict.fromkeys(METHODS.canonical(name) for name in names))


def _seeds(text: str | None) -> list[int | None]:
    """The seeds asked for: one or several with commas; None leaves it to the configuration."""
    if text is None:
        return [None]
    parts = [part.strip() for part in text.split(",")]
    seeds = [int(part) for part in parts if re.fullmatch("-?[0-9]{1,40}", part)]
    if len(set(seeds)) < len(parts):
        raise ConfigError(
            f"--seed must be a whole number, or different ones with commas such as 0,1,2, got {text!r} instead"
        )
    return list(seeds)


def _seeded(values: Mapping[str, Any], seed: int | None) -> Mapping[str, Any]:
    from evergraph.config import merged

    return values if seed is None else merged(values, {"seeds": dict.fromkeys(("split", "order", "init"), seed)})


def _config(
    values: Mapping[str, Any],
    name: str | None,
    budget: int | None,
    sets: list[tuple[list[str], Any]],
    *,
    strict: bool,
) -> "RunConfig":
    """The settings of one method; with several methods, settings of a method go to those that have them."""
    from evergraph.config import assigned, merged
    from evergraph.runs.config import RunConfig

    values = merged(values, {} if name is None else {"method": {"name": name}})
    fields = _fields(assigned(values, sets).get("method"))
    if budget is not None and "budget" in fields:
        values = merged(values, {"method": {"budget": budget}})
    if not strict:
        sets = [(path, value) for path, value in sets if path[0] != "method" or path[-1] in fields]
    return RunConfig.from_values(assigned(values, sets))


def _fields(method: object) -> set[str]:
    """The settings that a method has."""
    from evergraph.methods import METHODS
    from evergraph.runs.config import DEFAULT_METHOD

    name = method.get("name", DEFAULT_METHOD) if isinstance(method, Mapping) else DEFAULT_METHOD
    return set(METHODS[name].config.model_fields) if isinstance(name, str) else set()


def _means(results: "Sequence[RunResult]") -> dict[str, Any]:
    """Of each method mean and deviation of what its seeds have measured."""
    from evergraph.results.seeds import by_settings, means

    return {"means": [asdict(means(group)) for group in by_settings([result.record for result in results])]}


def _print_comparison(results: "Sequence[RunResult]") -> None:
    from evergraph.report.comparison import comparison_table
    from evergraph.results.summary import summarise

    if results:
        STDOUT.print(comparison_table([result.record for result in results], STDOUT.width))
    for remark in dict.fromkeys(text for result in results for text in summarise(result.record).remarks):
        note(remark)
    for result in results:
        STDERR.print(f"files: {result.folder}", highlight=False, soft_wrap=True)
