"""The connection to a Ray cluster: an existing one by its address, or one that is started here and ends with us."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evergraph.errors import ConfigError

QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
LOOPBACK = ("127.0.0.1", "localhost")
PATIENCE = 5.0
"""Seconds to wait for an answer from an address."""


@contextmanager
def ray_cluster(address: str | None, cpus: int) -> Iterator[Path | None]:
    """Be connected to the cluster at `address`, or to one that is started here; yields its folder in that case."""
    ray = _import_ray(address)
    if address is not None:
        _connect(ray, address)
        try:
            yield None
        finally:
            ray.shutdown()
        return
    parent = "/tmp" if os.path.isdir("/tmp") else None  # Ray puts sockets below it, whose paths must be short
    with TemporaryDirectory(prefix="evergraph-", dir=parent, ignore_cleanup_errors=True) as folder:
        try:
            ray.init("local", num_cpus=cpus, include_dashboard=False, _temp_dir=folder, **QUIET)
            yield Path(folder)
        finally:
            ray.shutdown()


def most_cpus() -> int:
    """The CPUs of the largest node: what a run can ask for and still be placed."""
    import ray

    most = max((int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]), default=0)
    if most == 0:
        raise ConfigError("a Ray cluster with CPUs is wanted, got one without; add a node that has some")
    return most


def _import_ray(address: str | None) -> Any:
    """Ray, which reads some of its settings when it is imported."""
    if address is None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # everywhere: listen on 127.0.0.1 only
    else:
        os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "2")  # not a quarter of an hour for what is no cluster
    try:
        import ray
    except ImportError:
        raise ConfigError(
            '--executor ray needs Ray, got a Python without it; install it with: pip install "evergraph[ray]"'
        ) from None
    return ray


def _connect(ray: Any, address: str) -> None:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigError(f"--ray-address must look like HOST:PORT, got {address!r} instead")
    if host in LOOPBACK and not address.startswith("ray://"):
        host = ray.util.get_node_ip_address()  # what Ray takes it for; without this look it would wait for minutes
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
        ray.init(address, **QUIET)
    except (OSError, OverflowError, RuntimeError, ValueError, ImportError) as error:
        raise ConfigError(
            f"a running Ray cluster is wanted at --ray-address {address}, got none ({error}); "
            "`ray start --head` starts one and prints its address"
        ) from None
