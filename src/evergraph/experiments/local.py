"""The local executor: each run in its own process, several at a time; a failed run does not stop the others."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from evergraph.budget import Budget, memory_budget
from evergraph.runs.config import RunConfig
from evergraph.runs.plugins import PluginFile, load_plugins, plugin_at_fault
from evergraph.watch import LearnedTask, Watch


@dataclass(frozen=True)
class Outcome:
    """The folder of a finished run, or why it failed."""

    config: RunConfig
    folder: Path | None = None
    error: str | None = None


@dataclass(frozen=True)
class Job:
    """What all runs of a grid share: output folder, data folder, threads of each run, plug-ins, its budget."""

    out: Path
    data_dir: Path | None
    threads: int
    plugins: tuple[PluginFile, ...] = ()
    memory: int | None = None
    scratch: Path | None = None

    def budget(self) -> AbstractContextManager[Budget]:
        """That of a run, on a machine that may have another folder for what does not fit."""
        here = self.scratch is not None and self.scratch.is_dir()
        return memory_budget(self.memory, self.scratch if here else None)


class GridListener:
    """Hears, in the process that does a grid, what becomes of its runs; a subclass overrides what it wants."""

    def started(self, config: RunConfig) -> None:
        """A run has been given to a process; one whose process died may start again."""

    def on_disk(self, config: RunConfig, plan: str) -> None:
        """The graph of a run stays on disk, and this is how it is read."""

    def learned(self, config: RunConfig, task: LearnedTask) -> None:
        """A run has learned a task."""

    def ended(self, outcome: Outcome) -> None:
        """A run has finished or failed."""


def run_local(
    configs: Sequence[RunConfig],
    job: Job,
    jobs: int,
    on_change: Callable[[list[Outcome], int], None],
    listener: GridListener | None = None,
) -> list[Outcome]:
    """Do all runs, `jobs` at a time; `on_change(ended, running)` is called whenever one starts or ends."""
    listener = listener or GridListener()
    context = _context()
    waiting, ended = list(configs), list[Outcome]()
    running: dict[Connection, tuple[RunConfig, BaseProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                config = waiting.pop(0)
                ours, theirs = context.Pipe(duplex=False)
                started = context.Process(target=_work, args=(config.to_values(), job, theirs), daemon=True)
                started.start()
                theirs.close()
                running[ours] = (config, started)
                listener.started(config)
            on_change(ended, len(running))
            ready = set(wait(list(running)))
            for connection in [connection for connection in running if connection in ready]:
                answer = _received(connection)
                if isinstance(answer, str):
                    listener.on_disk(running[connection][0], answer)
                    continue
                if isinstance(answer, LearnedTask):
                    listener.learned(running[connection][0], answer)
                    continue
                ended.append(_outcome(*running.pop(connection), answer))
                listener.ended(ended[-1])
    finally:
        for _, process in running.values():
            process.terminate()
    on_change(ended, 0)
    return ended


def _context() -> ForkServerContext | SpawnContext:
    """Processes that inherit only the imported package, if the platform can fork."""
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["evergraph.runs.execute"])
    return context


def _received(connection: Connection) -> Any:
    """What the process of a run has sent: how it reads its graph, a learned task, or folder and error at its end;
    None if it died."""
    try:
        return connection.recv()
    except (EOFError, OSError):
        return None


def _outcome(config: RunConfig, process: BaseProcess, answer: tuple[Path | None, str | None] | None) -> Outcome:
    process.join()
    if answer is None:
        return Outcome(config, error=f"the process died (exit code {process.exitcode})")
    return Outcome(config, *answer)


class _Telling(Watch):
    """Sends how the graph is read and every learned task to the process that does the grid."""

    def __init__(self, answer: Connection):
        super().__init__()
        self.answer = answer

    def on_disk(self, plan: str) -> None:
        self.answer.send(plan)

    def learned(self, task: LearnedTask) -> None:
        self.answer.send(task)


def _work(values: dict[str, Any], job: Job, answer: Connection) -> None:
    """The process of a run: do or resume it, and send how it ended."""
    import torch

    from evergraph.runs.execute import run
    from evergraph.runs.process import keep_freed_memory

    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    torch.set_num_threads(job.threads)
    keep_freed_memory()
    try:
        load_plugins(job.plugins)
        with job.budget():
            watch = _Telling(answer)
            result = run(RunConfig.from_values(values), job.out, data_dir=job.data_dir, resume=True, watch=watch)
    except Exception as error:  # concerns this run only and is recorded with it
        answer.send((None, reason(error)))
    else:
        answer.send((result.folder, None))


def reason(error: BaseException) -> str:
    """Why a run failed, as it is recorded."""
    plugin = plugin_at_fault(error)
    return f"{type(error).__name__}: {error}" + (f" (in the plug-in {plugin})" if plugin else "")
