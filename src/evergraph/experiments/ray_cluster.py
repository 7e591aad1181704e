"""The connection to a Ray cluster: an existing one by its address, or a new local one."""

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evergraph.errors import ConfigError

QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
LOOPBACK = ("127.0.0.1", "localhost")
PATIENCE = 5.0
"""Timeout of a connection, in seconds."""


def ray_cluster(address: str | None, cpus: int) -> AbstractContextManager[Path | None]:
    """Connect to the cluster at `address`, or start a local one; the value is the local one's folder."""
    return _own_cluster(cpus) if address is None else _existing_cluster(address)


@contextmanager
def _own_cluster(cpus: int) -> Iterator[Path]:
    settings = {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # listen on 127.0.0.1 only, on every system
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": _token(),  # else Ray writes one to the home folder
    }
    parent = "/tmp" if os.path.isdir("/tmp") else None  # Ray puts sockets there, whose paths must be short
    with (
        _environment(settings),
        TemporaryDirectory(prefix="evergraph-", dir=parent, ignore_cleanup_errors=True) as folder,
    ):
        ray = _import_ray()
        try:
            ray.init("local", num_cpus=cpus, include_dashboard=False, _temp_dir=folder, **QUIET)
            yield Path(folder)
        finally:
            ray.shutdown()


@cache
def _token() -> str:
    """One for all clusters of this process: Ray reads it only once."""
    return secrets.token_hex(32)


@contextmanager
def _existing_cluster(address: str) -> Iterator[None]:
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigError(f"--ray-address must look like HOST:PORT, got {address!r} instead")
    with _environment({"RAY_NUM_REDIS_GET_RETRIES": "2"}):  # else it retries for 15 minutes
        ray = _import_ray()
        if host in LOOPBACK and not address.startswith("ray://"):
            host = ray.util.get_node_ip_address()  # the address that Ray uses instead
        try:
            socket.create_connection((host, int(port)), PATIENCE).close()
            ray.init(address, **QUIET)
        except (OSError, OverflowError, RuntimeError, ValueError, ImportError) as error:
            raise ConfigError(
                f"a running Ray cluster is wanted at --ray-address {address}, got none ({error}); "
                "`ray start --head` starts one and prints its address; RAY_AUTH_MODE=token is for one with a token"
            ) from None
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _environment(defaults: dict[str, str]) -> Iterator[None]:
    """Set environment variables that are not set yet, and unset them afterwards."""
    missing = {name: value for name, value in defaults.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            os.environ.pop(name, None)


def _import_ray() -> Any:
    """Ray; it reads some settings from the environment on import."""
    try:
        import ray
    except ImportError:
        raise ConfigError(
            '--executor ray needs Ray, got a Python without it; install it with: pip install "evergraph[ray]"'
        ) from None
    return ray


def most_cpus() -> int:
    """The CPUs of the largest node; Ray never starts a task that asks for more."""
    import ray

    return max((int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]), default=0)
