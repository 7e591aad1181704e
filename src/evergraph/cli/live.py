"""The page of results while a grid runs, written every few seconds by a thread that the runs never wait for."""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evergraph.cli.console import note
from evergraph.cli.options import complete_settings
from evergraph.cli.report import published_results
from evergraph.errors import ConfigError
from evergraph.experiments.local import GridListener, Outcome
from evergraph.report.page import page, write_page
from evergraph.report.progress import Progress, RunProgress, State
from evergraph.results.groups import data_sets
from evergraph.results.load import Result, read_run, with_defaults
from evergraph.results.records import SmallRecord
from evergraph.runs.config import RunConfig
from evergraph.watch import LearnedTask

PAUSE_SECONDS = 5.0
"""The page is written at most this often."""
SHARE = 0.05
"""And at most so much of one processor's time is spent on it."""


class LivePage(GridListener):
    """Knows where every run is, and writes the page; an error of the page is a note.

    finished: folders of runs that are done already; exported: records of others that are done.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        configs: Sequence[RunConfig],
        finished: Mapping[RunConfig, Path],
        exported: Iterable[SmallRecord] = (),
    ):
        if path.suffix not in (".html", ".htm"):
            raise ConfigError(f"--watch must end in .html, got {path} instead")
        self.path, self.name = path, name
        self.start = time.monotonic()
        self.results = [Result.of("exported", record) for record in exported]
        self.folders = dict(finished)
        self.states = {
            config: RunProgress(config.label(), State.DONE if config in finished else State.WAITING)
            for config in configs
        }
        self.read: dict[RunConfig, Result] = {}
        self.lock, self.stop = threading.Lock(), threading.Event()
        self.thread = threading.Thread(target=self._write_again, name="evergraph-watch", daemon=True)
        self.told: set[str] = set()

    def __enter__(self) -> "LivePage":
        self._write(ended=False)  # a path that cannot be written is told before anything is learned
        note(f"the page is {self.path}; it loads itself again while the runs go on")
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop.set()
        self.thread.join()
        self._try(ended=True)

    def started(self, config: RunConfig) -> None:
        self._set(config, State.RUNNING, "begins")

    def learned(self, config: RunConfig, task: LearnedTask) -> None:
        following = f"task {task.index + 2} of {task.count}" if task.index + 1 < task.count else "ends"
        self._set(config, State.RUNNING, following)

    def ended(self, outcome: Outcome) -> None:
        if outcome.folder is not None:
            with self.lock:
                self.folders[outcome.config] = outcome.folder
        state = State.DONE if outcome.error is None else State.FAILED
        self._set(outcome.config, state, outcome.error or "")

    def _set(self, config: RunConfig, state: State, detail: str) -> None:
        with self.lock:
            self.states[config] = RunProgress(config.label(), state, detail)

    def _write_again(self) -> None:
        pause = PAUSE_SECONDS
        while not self.stop.wait(pause):
            begun = time.thread_time()
            self._try(ended=False)
            pause = max(PAUSE_SECONDS, (time.thread_time() - begun) / SHARE)

    def _try(self, *, ended: bool) -> None:
        try:
            self._write(ended=ended)
        except Exception as error:  # of the page, not of the runs
            message = f"the page {self.path} could not be written, the runs go on: {error}"
            if message not in self.told:
                note(message)
            self.told.add(message)

    def _write(self, *, ended: bool) -> None:
        with self.lock:
            runs, folders = tuple(self.states.values()), dict(self.folders)
        for config, folder in folders.items():
            if config not in self.read:
                self.read[config] = read_run(folder, complete_settings)
        results = with_defaults([*self.results, *self.read.values()])
        seconds = time.monotonic() - self.start
        progress = Progress(self.name, runs, seconds, round(PAUSE_SECONDS), ended)
        write_page(self.path, page(data_sets(results), (), published_results(), progress))
