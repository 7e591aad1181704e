"""evergraph bench: all runs of an experiment."""

import os
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live
from rich.table import Table

from evergraph.cli.console import STDERR, STDOUT, print_json
from evergraph.cli.run import DataDir
from evergraph.experiments.grid import Experiment, read_experiment
from evergraph.experiments.local import Job, Outcome, run_local
from evergraph.experiments.records import write_records
from evergraph.runconfig import RunConfig
from evergraph.store import RunStore

EXAMPLE = "Example: evergraph bench experiments/smoke.toml --jobs 2 --dry-run"


def bench_command(
    file: Annotated[Path, typer.Argument(help="TOML file of an experiment.")],
    jobs: Annotated[int, typer.Option(min=1, help="Runs at the same time.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("runs"),
    export: Annotated[Path | None, typer.Option(help="JSON file for small records of all finished runs.")] = None,
    data_dir: DataDir = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Accepted for clarity: finished runs are never repeated.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the runs and which of them are done.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Do every run of an experiment that is not done yet, each in a process of its own."""
    experiment = read_experiment(file)
    stores = {config: RunStore.find(out, config) for config in experiment.configs}
    done = {config: store.folder for config, store in stores.items() if store is not None and store.finished}
    if dry_run:
        _print_plan(experiment, done, as_json=as_json)
        return
    waiting = [config for config in experiment.configs if config not in done]
    threads = max(1, (os.cpu_count() or 1) // jobs)
    with Live(console=STDERR, refresh_per_second=2, transient=True) as live:
        board = Board(experiment, len(done))
        ended = run_local(
            waiting,
            Job(out, data_dir, threads),
            jobs,
            lambda outcomes, running: live.update(board.table(outcomes, running)),
        )
    folders = [*done.values(), *(outcome.folder for outcome in ended if outcome.folder is not None)]
    if export is not None:
        write_records(export, experiment.name, folders)
    _print_end(experiment, folders, ended, as_json=as_json)
    if any(outcome.error for outcome in ended):
        raise typer.Exit(1)


class Board:
    """The live table: done, running, failed, waiting and the time left."""

    def __init__(self, experiment: Experiment, already: int):
        self.experiment = experiment
        self.already = already
        self.start = time.monotonic()

    def table(self, ended: list[Outcome], running: int) -> Table:
        failed = sum(outcome.error is not None for outcome in ended)
        total = len(self.experiment.configs)
        waiting = total - self.already - len(ended) - running
        elapsed = time.monotonic() - self.start
        left = elapsed / len(ended) * (waiting + running) if ended else float("nan")
        table = Table(title=self.experiment.name, title_justify="left")
        for heading in ("done", "running", "failed", "waiting", "elapsed", "time left"):
            table.add_column(heading, justify="right")
        table.add_row(
            str(self.already + len(ended) - failed),
            str(running),
            str(failed),
            str(waiting),
            _clock(elapsed),
            _clock(left) if ended else "…",
        )
        return table


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"


def _print_plan(experiment: Experiment, done: dict[RunConfig, Path], *, as_json: bool) -> None:
    rows = [{"run": config.label(), "done": config in done} for config in experiment.configs]
    if as_json:
        print_json({"experiment": experiment.name, "runs": rows})
        return
    for row in rows:
        STDOUT.print(f"{'done   ' if row['done'] else 'to do  '} {row['run']}", highlight=False, soft_wrap=True)
    counts = Counter(bool(row["done"]) for row in rows)
    STDOUT.print(f"{len(rows)} runs: {counts[True]} done, {counts[False]} to do", highlight=False)


def _print_end(experiment: Experiment, folders: list[Path], ended: list[Outcome], *, as_json: bool) -> None:
    failures = {outcome.config.label(): outcome.error for outcome in ended if outcome.error}
    if as_json:
        facts = {"experiment": experiment.name, "done": [str(folder) for folder in folders], "failed": failures}
        print_json(facts)
        return
    STDOUT.print(f"{experiment.name}: {len(folders)} runs done, {len(failures)} failed", highlight=False)
    for label, error in failures.items():
        STDOUT.print(f"failed: {label}: {error}", highlight=False, soft_wrap=True)
