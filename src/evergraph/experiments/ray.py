"""The Ray executor: runs on a cluster, each in its own process; a run whose process dies is resumed elsewhere.

The run folders belong to the driver, the process that calls `run_ray`; other machines need no access to them. A
worker gets the files of a run's finished tasks, resumes it in a temporary folder, and sends the files after every
task. So the driver has all finished tasks for the next worker. Data sets are never sent: workers read their own.
"""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from evergraph.errors import ConfigError, StoreError
from evergraph.experiments.local import GridListener, Job, Outcome, reason
from evergraph.experiments.ray_cluster import most_cpus, ray_cluster
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import create_run, find_run, run
from evergraph.runs.plugins import load_plugins
from evergraph.runs.process import keep_freed_memory
from evergraph.runs.store import RunStore
from evergraph.watch import LearnedTask, Watch

DEATHS = 3
"""The run fails when its process has died this often in the same task."""
POLL_SECONDS, CANCEL_SECONDS = 0.5, 5.0
"""Interval between polls of the cluster, and time for cancelled runs to end."""

Files = dict[str, bytes]
OnChange = Callable[[list[Outcome], int], None]


def run_ray(
    configs: Sequence[RunConfig],
    job: Job,
    jobs: int,
    address: str | None,
    on_change: OnChange,
    listener: GridListener | None = None,
) -> list[Outcome]:
    """Like `run_local`, on the cluster at `address`, or on a new local one."""
    if not configs:
        return []
    with ray_cluster(address, jobs * job.threads) as folder:
        return _Driver(Place(job, os.getcwd(), folder), listener or GridListener()).do(configs, jobs, on_change)


@dataclass(frozen=True)
class Place:
    """What a worker needs besides its run; folders that its machine does not have are not used."""

    job: Job
    working_folder: str
    scratch: Path | None


class _Driver:
    """Sends runs to workers, stores the files they send, and sends runs again whose process died."""

    def __init__(self, place: Place, listener: GridListener):
        import ray
        from ray.util.queue import Queue
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        if most_cpus() == 0:
            raise ConfigError("a Ray cluster with CPUs is wanted, got one without; add a node that has some")
        self.place, self.listener = place, listener
        self.queue = Queue(actor_options={"num_cpus": 0, "scheduling_strategy": here})
        self.remote = ray.remote(max_calls=1, max_retries=0)(work)  # one process for each run
        self.running: dict[Any, _Kept] = {}
        self.deaths: Counter[tuple[RunConfig, int]] = Counter()

    def do(self, configs: Sequence[RunConfig], jobs: int, on_change: OnChange) -> list[Outcome]:
        waiting, ended = list(configs), list[Outcome]()
        try:
            while waiting or self.running:
                while waiting and len(self.running) < jobs:
                    ended += self._begin(waiting.pop(0))
                on_change(ended, len(self.running))
                ended += self._ended()
        finally:
            self._stop()
        on_change(ended, 0)
        return ended

    def _begin(self, config: RunConfig) -> list[Outcome]:
        try:
            self._send(_Kept(self.place.job.out, config))
        except StoreError as error:
            failed = Outcome(config, error=reason(error))
            self.listener.ended(failed)
            return [failed]
        return []

    def _send(self, kept: "_Kept") -> None:
        """Start a run on a node with a CPU for each thread, or else on a largest node."""
        threads = kept.config.train.threads or self.place.job.threads
        remote = self.remote.options(num_cpus=max(1, min(threads, most_cpus())))
        self.running[remote.remote(kept.config.to_values(), kept.files(), self.place, self.queue)] = kept
        self.listener.started(kept.config)

    def _ended(self) -> list[Outcome]:
        """Wait for one poll, store the files sent, and handle the runs that ended or died."""
        import ray

        ready, _ = ray.wait(list(self.running), timeout=POLL_SECONDS) if self.running else ([], [])
        self._read_queue()
        return [outcome for task in ready for outcome in self._end(task, self.running.pop(task))]

    def _read_queue(self) -> None:
        """Store the files of finished tasks; a failed write is repeated and reported when the run ends."""
        runs = {kept.config.digest(): kept for kept in self.running.values()}
        for digest, sent in self.queue.get_nowait_batch(self.queue.qsize()):
            if digest not in runs:  # a process believed dead still works on a run that has ended
                continue
            if isinstance(sent, str):
                self.listener.on_disk(runs[digest].config, sent)
                continue
            if isinstance(sent, LearnedTask):
                self.listener.learned(runs[digest].config, sent)
                continue
            with suppress(OSError, StoreError):
                runs[digest].add(sent)

    def _end(self, task: Any, kept: "_Kept") -> list[Outcome]:
        import ray
        from ray.exceptions import RayError, RayTaskError

        try:
            files, error = ray.get(task)
            if error is None:
                kept.add(files)
        except RayTaskError as failure:  # before the run began, for example a worker without this package
            error = reason(failure.cause)
        except RayError as death:
            self.deaths[kept.place] += 1
            if self.deaths[kept.place] < DEATHS:
                self._send(kept)
                return []
            error = f"the process died {DEATHS} times in the same task ({type(death).__name__})"
        except (OSError, StoreError) as failure:
            error = reason(failure)
        kept.lock.close()
        outcome = Outcome(kept.config, None if error else kept.folder, error)
        self.listener.ended(outcome)
        return [outcome]

    def _stop(self) -> None:
        """Cancel the runs that are still running, after an interrupt."""
        import ray

        for task in self.running:
            ray.cancel(task)
        if self.running:
            ray.wait(list(self.running), num_returns=len(self.running), timeout=CANCEL_SECONDS)
        for kept in self.running.values():
            kept.lock.close()


class _Kept:
    """The folder of a run on a worker: created with its first files, locked until it ends."""

    def __init__(self, out: Path, config: RunConfig):
        self.out, self.config = out, config
        self.lock = ExitStack()
        self.store = find_run(out, config)
        if self.store is not None:
            self.lock.enter_context(self.store.locked())

    @property
    def folder(self) -> Path | None:
        return None if self.store is None else self.store.folder

    @property
    def place(self) -> tuple[RunConfig, int]:
        """The run and the index of its current task."""
        return self.config, 0 if self.store is None else self.store.tasks_done

    def files(self) -> Files:
        return {} if self.store is None else self.store.files()

    def add(self, files: Files) -> None:
        if self.store is None:
            self.store = create_run(self.out, self.config)
            self.lock.enter_context(self.store.locked())
        self.store.add_files(files)


def work(values: dict[str, Any], files: Files, place: Place, queue: Any) -> tuple[Files, str | None]:
    """The process of a run: resume after the tasks in `files`; return all files, or why it failed."""
    if os.path.isdir(place.working_folder):
        os.chdir(place.working_folder)
    torch.set_num_threads(place.job.threads)
    keep_freed_memory()
    with TemporaryDirectory(prefix="evergraph-run-", dir=place.scratch) as folder:
        try:
            load_plugins(place.job.plugins)
            config, out = RunConfig.from_values(values), Path(folder)
            store = create_run(out, config)
            store.add_files(files)
            watch = _Sending(store, config.digest(), queue)
            with place.job.budget():
                result = run(config, out, data_dir=place.job.data_dir, resume=True, watch=watch)
            if result.folder != store.folder:
                raise StoreError(
                    f"{store.folder} was begun on other data than this machine has; copy the same there"
                )
        except Exception as error:  # concerns this run only and is recorded with it
            return {}, reason(error).replace(folder, str(place.job.out))
        return store.files(), None


class _Sending(Watch):
    """Sends the files of a run when a task begins: then the task before is on disk."""

    def __init__(self, store: RunStore, digest: str, queue: Any):
        super().__init__()
        self.store, self.digest, self.queue = store, digest, queue

    def task(self, index: int, count: int) -> None:
        self.queue.put((self.digest, self.store.files()))

    def on_disk(self, plan: str) -> None:
        self.queue.put((self.digest, plan))

    def learned(self, task: LearnedTask) -> None:
        self.queue.put((self.digest, task))
