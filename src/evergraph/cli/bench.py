"""evergraph bench: do all runs of an experiment."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evergraph.cli.console import STDOUT, note, print_json
from evergraph.cli.options import (
    AsJson,
    DataDir,
    ExecutorName,
    ExecutorOption,
    Jobs,
    Logs,
    Memory,
    Plugins,
    RayAddress,
    ScratchFolder,
    complete_settings,
    opened_logs,
)

if TYPE_CHECKING:
    from evergraph.cli.execution import GridOutcome
    from evergraph.experiments.grid import Experiment
    from evergraph.runs.config import RunConfig

WATCHED = "."
"""What --watch is without a name."""
EXAMPLE = "Example: evergraph bench experiments/smoke.toml --jobs 2 --dry-run"


def with_page(arguments: list[str]) -> list[str]:
    """The arguments with a value for a --watch that has none: the command-line library wants one."""
    following = [*arguments[1:], ""]
    return [
        f"--watch={WATCHED}" if here == "--watch" and not after.endswith((".html", ".htm")) else here
        for here, after in zip(arguments, following, strict=False)
    ]


def bench_command(
    file: Annotated[Path, typer.Argument(help="TOML file of an experiment.")],
    jobs: Jobs = 1,
    executor: ExecutorOption = ExecutorName.LOCAL,
    ray_address: RayAddress = None,
    out: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("runs"),
    export: Annotated[
        Path | None,
        typer.Option(
            help="JSON file for small records of all finished runs; those it holds already are not repeated."
        ),
    ] = None,
    data_dir: DataDir = None,
    memory: Memory = None,
    scratch: ScratchFolder = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Accepted for clarity: finished runs are never repeated.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the runs and which of them are done.")
    ] = False,
    watch: Annotated[
        Path | None,
        typer.Option(
            metavar="[PAGE.html]",
            help="Write the page of results while the runs go on, with their progress; by default OUT/watch.html.",
        ),
    ] = None,
    log: Logs = None,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """Do every run of an experiment that is not done yet, each in a process of its own."""
    from evergraph.cli.execution import do_runs, finished_runs
    from evergraph.cli.exported import exported_runs
    from evergraph.cli.live import LivePage
    from evergraph.experiments.events import Listeners
    from evergraph.experiments.grid import read_experiment
    from evergraph.results.records import write_records

    experiment = read_experiment(file)
    exported = exported_runs(export, experiment.configs)
    if dry_run:
        done_already = {*exported, *finished_runs(experiment.configs, out)}
        _print_plan(experiment, done_already, as_json=as_json)
        return
    configs = [config for config in experiment.configs if config not in exported]
    listeners = opened_logs(log, out)
    with ExitStack() as ending:
        if watch is not None:
            page = out / "watch.html" if str(watch) == WATCHED else watch
            live = LivePage(page, experiment.name, configs, finished_runs(configs, out), exported.values())
            listeners.append(ending.enter_context(live))
        done = do_runs(
            experiment.name,
            configs,
            out=out,
            data_dir=data_dir,
            memory=memory,
            scratch=scratch,
            jobs=jobs,
            executor=executor,
            ray_address=ray_address,
            listener=Listeners(listeners, note),
        )
    if export is not None:
        write_records(
            export, experiment.name, done.folders.values(), complete_settings, others=list(exported.values())
        )
    _print_end(experiment, done, len(exported), as_json=as_json)
    if done.failures:
        raise typer.Exit(1)


def _print_plan(experiment: "Experiment", done: "set[RunConfig]", *, as_json: bool) -> None:
    rows = [{"run": config.label(), "done": config in done} for config in experiment.configs]
    if as_json:
        print_json({"experiment": experiment.name, "runs": rows})
        return
    for row in rows:
        STDOUT.print(f"{'done   ' if row['done'] else 'to do  '} {row['run']}", highlight=False, soft_wrap=True)
    STDOUT.print(f"{len(rows)} runs: {len(done)} done, {len(rows) - len(done)} to do", highlight=False)


def _print_end(experiment: "Experiment", done: "GridOutcome", exported: int, *, as_json: bool) -> None:
    folders = [str(folder) for folder in done.folders.values()]
    failures = {config.label(): error for config, error in done.failures.items()}
    if as_json:
        print_json({"experiment": experiment.name, "done": folders, "exported": exported, "failed": failures})
        return
    before = f" ({exported} of them in the exported file already)" if exported else ""
    ended = f"{len(folders) + exported} runs done{before}, {len(failures)} failed"
    STDOUT.print(f"{experiment.name}: {ended}", highlight=False, soft_wrap=True)
    for label, error in failures.items():
        STDOUT.print(f"failed: {label}: {error}", highlight=False, soft_wrap=True)
