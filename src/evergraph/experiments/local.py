"""The local executor: each run in a process of its own, several at a time; a failure stops nothing else."""

import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from evergraph.runs.config import RunConfig
from evergraph.runs.plugins import PluginFile, load_plugins, plugin_at_fault


@dataclass(frozen=True)
class Outcome:
    """How a run of a grid ended: its folder, or the reason why there is none."""

    config: RunConfig
    folder: Path | None = None
    error: str | None = None


@dataclass(frozen=True)
class Job:
    """Where a grid's runs go, where their data are, how many threads each gets, and the plug-ins they may need."""

    out: Path
    data_dir: Path | None
    threads: int
    plugins: tuple[PluginFile, ...] = ()


def run_local(
    configs: Sequence[RunConfig], job: Job, jobs: int, on_change: Callable[[list[Outcome], int], None]
) -> list[Outcome]:
    """Do all runs, `jobs` at a time; `on_change(ended, running)` is called whenever one starts or ends."""
    context = _context()
    waiting, ended = list(configs), list[Outcome]()
    running: dict[Connection, tuple[RunConfig, BaseProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                ours, theirs = context.Pipe(duplex=False)
                values = waiting[0].to_values()
                started = context.Process(target=_work, args=(values, job, theirs), daemon=True)
                started.start()
                theirs.close()
                running[ours] = (waiting.pop(0), started)
            on_change(ended, len(running))
            ready = set(wait(list(running)))
            for connection in [connection for connection in running if connection in ready]:
                ended.append(_outcome(*running.pop(connection), connection))
    finally:
        for _, process in running.values():
            process.terminate()
    on_change(ended, 0)
    return ended


def _context() -> ForkServerContext | SpawnContext:
    """New processes that inherit nothing but the imported package, where the platform can fork."""
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["evergraph.runs.execute"])
    return context


def _outcome(config: RunConfig, process: BaseProcess, ready: Connection) -> Outcome:
    try:
        folder, error = ready.recv()
    except EOFError:
        process.join()
        return Outcome(config, error=f"the process died (exit code {process.exitcode})")
    process.join()
    return Outcome(config, Path(folder) if folder else None, error)


def _work(values: dict[str, Any], job: Job, answer: Connection) -> None:
    """The body of a run's process: do the run or resume it, and say how it ended."""
    import torch

    from evergraph.runs.execute import run
    from evergraph.runs.process import keep_freed_memory

    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    torch.set_num_threads(job.threads)
    keep_freed_memory()
    try:
        load_plugins(job.plugins)
        result = run(RunConfig.from_values(values), job.out, data_dir=job.data_dir, resume=True)
    except Exception as error:  # whatever it is, it belongs to this run only and is recorded with it
        answer.send((None, reason(error)))
    else:
        answer.send((str(result.folder), None))


def reason(error: BaseException) -> str:
    """Why a run failed, as it is recorded."""
    plugin = plugin_at_fault(error)
    return f"{type(error).__name__}: {error}" + (f" (in the plug-in {plugin})" if plugin else "")
