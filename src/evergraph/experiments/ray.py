"""The Ray executor: the same runs on a cluster, each in a process of its own; what dies is gone on with elsewhere.

The driver, which is the process that calls `run_ray`, keeps the folders of the runs; no other machine needs to see
them. A worker gets the finished tasks of its run, goes on with it in a folder of its own, and sends what is new after
every task. So whichever worker or node dies, the driver has all finished tasks and hands them to the next worker. Data
sets are looked for where the worker is and never sent.
"""

import os
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from evergraph.errors import ConfigError, StoreError
from evergraph.experiments.local import Job, Outcome, reason
from evergraph.run import run
from evergraph.runconfig import RunConfig
from evergraph.store import RunStore
from evergraph.watch import Watch

DEATHS = 3
"""How often a run's process may die in the same task before the run counts as failed."""
QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SECONDS = 5.0
"""How long to wait for an answer from an address, and for runs to stop when they are interrupted."""

Files = dict[str, bytes]


def run_ray(
    configs: Sequence[RunConfig],
    job: Job,
    jobs: int,
    address: str | None,
    on_change: Callable[[list[Outcome], int], None],
) -> list[Outcome]:
    """Do all runs, `jobs` at a time, on the cluster at `address`, or without one on a Ray of this machine alone."""
    if not configs:
        return []
    with connected(address, jobs * job.threads) as scratch:
        return Driver(job, scratch).work(configs, jobs, on_change)


@contextmanager
def connected(address: str | None, cpus: int) -> Iterator[Path | None]:
    """A connection to a cluster; the folder is where its workers may write, None means where they choose."""
    ray = _import_ray(address)
    with ExitStack() as cleanup:
        folder = None
        if address is None:
            # Ray puts sockets below this folder, whose paths must be short
            parent = "/tmp" if os.path.isdir("/tmp") else None
            folder = cleanup.enter_context(
                TemporaryDirectory(prefix="evergraph-", dir=parent, ignore_cleanup_errors=True)
            )
            ray.init("local", num_cpus=cpus, include_dashboard=False, _temp_dir=folder, **QUIET)
        else:
            _connect(ray, address)
        cleanup.callback(ray.shutdown)
        yield None if folder is None else Path(folder)


def _import_ray(address: str | None) -> Any:
    """Ray, told before it is imported what it reads only then."""
    if address is None:
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # on any system: listen on 127.0.0.1 only
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    else:
        os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "2")  # what is no cluster is given up in a minute
    try:
        import ray
    except ImportError:
        raise ConfigError(
            '--executor ray needs Ray, which is not installed; pip install "evergraph[ray]" brings it'
        ) from None
    return ray


def _connect(ray: Any, address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigError(f"--ray-address must look like HOST:PORT, got {address!r} instead")
    if host in LOOPBACK and not address.startswith("ray://"):
        host = ray.util.get_node_ip_address()  # as Ray takes it
    try:
        socket.create_connection((host, int(port)), timeout=SECONDS).close()
        ray.init(address, **QUIET)
    except (OSError, OverflowError, RuntimeError, ValueError, ImportError) as error:
        why = " ".join(str(error).split())
        raise ConfigError(
            f"a Ray cluster is wanted at {address}, got no answer of one ({why}); "
            f"`ray start --head` starts one and prints its address"
        ) from None


class Driver:
    """Hands out runs to the workers of a cluster, keeps what they send, and hands out again what died."""

    def __init__(self, job: Job, scratch: Path | None):
        import ray
        from ray.util.queue import Queue
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self.ray = ray
        self.job = job
        self.place = Place(job, os.getcwd(), scratch)
        self.mail = Queue(actor_options={"num_cpus": 0, "scheduling_strategy": here})
        self.remote = ray.remote(max_calls=1, max_retries=0)(work)  # a process that has done a run does no other
        self.most = largest_node(ray)
        self.deaths: Counter[tuple[RunConfig, int]] = Counter()
        self.running: dict[Any, Kept] = {}

    def work(
        self, configs: Sequence[RunConfig], jobs: int, on_change: Callable[[list[Outcome], int], None]
    ) -> list[Outcome]:
        waiting, ended = list(configs), list[Outcome]()
        try:
            while waiting or self.running:
                while waiting and len(self.running) < jobs:
                    ended += self.begin(waiting.pop(0))
                on_change(ended, len(self.running))
                ready, _ = self.ray.wait(list(self.running), timeout=1.0)
                self.read_mail()
                for task in ready:
                    ended += self.end(task)
        finally:
            self.stop()
        on_change(ended, 0)
        return ended
