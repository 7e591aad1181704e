"""What bench and reproduce share: many runs, those that are done left alone, the others shown while they run."""

import os
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from rich.live import Live
from rich.table import Table

from evergraph.cli.console import STDERR, NotesOnce, note
from evergraph.cli.options import ExecutorName, budgeted
from evergraph.data.datasets import DatasetConfig, source_digest
from evergraph.errors import ConfigError
from evergraph.experiments.events import Listeners
from evergraph.experiments.local import GridListener, Job, Outcome, run_local
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import find_run
from evergraph.runs.plugins import loaded_plugins


@dataclass(frozen=True)
class GridOutcome:
    """What became of many runs: the folders of the finished ones and the reasons of the failed ones."""

    folders: dict[RunConfig, Path]
    failures: dict[RunConfig, str]


def do_runs(
    name: str,
    configs: Sequence[RunConfig],
    *,
    out: Path,
    data_dir: Path | None,
    jobs: int,
    memory: str | None = None,
    scratch: str | None = None,
    executor: ExecutorName = ExecutorName.LOCAL,
    ray_address: str | None = None,
    listener: GridListener | None = None,
) -> GridOutcome:
    """Do every run that is not done yet, with a live table on stderr; folders come in the order of the runs.

    memory, scratch: the budget of each run as --memory and --scratch give it, None for the usual one;
    listener: hears what becomes of the runs.
    """
    if ray_address is not None and executor is not ExecutorName.RAY:
        raise ConfigError(f"--ray-address goes with --executor ray, got --executor {executor.value} instead")
    with budgeted(memory, scratch) as budget:
        asked = (None if memory is None else budget.memory), (None if scratch is None else budget.scratch)
    folders = finished_runs(configs, out)
    waiting = [config for config in dict.fromkeys(configs) if config not in folders]
    job = Job(out, data_dir, max(1, (os.cpu_count() or 1) // jobs), loaded_plugins(), *asked)
    told = Listeners([_Plans(), *([] if listener is None else [listener])], note)
    # Ray reports nodes that died on stdout, where only the result belongs
    with redirect_stdout(sys.stderr), ProgressTable(name, len(folders), len(folders) + len(waiting)) as progress:
        if executor is ExecutorName.RAY:
            from evergraph.experiments.ray import run_ray

            ended = run_ray(waiting, job, jobs, ray_address, progress.show, told)
        else:
            ended = run_local(waiting, job, jobs, progress.show, told)
    folders |= {outcome.config: outcome.folder for outcome in ended if outcome.folder is not None}
    failures = {outcome.config: outcome.error for outcome in ended if outcome.error is not None}
    return GridOutcome({config: folders[config] for config in configs if config in folders}, failures)


def finished_runs(configs: Sequence[RunConfig], out: Path) -> dict[RunConfig, Path]:
    """The folders of those runs that are done already."""
    digests: dict[str, str | None] = {}

    def source_of(dataset: DatasetConfig) -> str | None:
        """Each file is read once, however many runs it has."""
        key = dataset.model_dump_json()
        if key not in digests:
            digests[key] = source_digest(dataset)
        return digests[key]

    stores = {config: find_run(out, config, source_of) for config in configs}
    return {config: store.folder for config, store in stores.items() if store is not None and store.finished}


class _Plans(GridListener):
    """Says how graphs on disk are read, each plan once."""

    def __init__(self) -> None:
        self.note = NotesOnce()

    def on_disk(self, config: RunConfig, plan: str) -> None:
        self.note(plan)


class ProgressTable:
    """The live table: done, running, failed, waiting and the time left."""

    def __init__(self, name: str, already: int, total: int):
        self.name = name
        self.already = already
        self.total = total
        self.start = time.monotonic()
        self.live = Live(console=STDERR, refresh_per_second=2, transient=True)

    def __enter__(self) -> "ProgressTable":
        return self

    def __exit__(self, *error: object) -> None:
        self.live.stop()

    def show(self, ended: list[Outcome], running: int) -> None:
        """Show where the runs are; there is nothing to see before the first call."""
        self.live.start()
        self.live.update(self.table(ended, running))

    def table(self, ended: list[Outcome], running: int) -> Table:
        failed = sum(outcome.error is not None for outcome in ended)
        waiting = self.total - self.already - len(ended) - running
        elapsed = time.monotonic() - self.start
        left = elapsed / len(ended) * (waiting + running) if ended else float("nan")
        table = Table(title=self.name, title_justify="left")
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
