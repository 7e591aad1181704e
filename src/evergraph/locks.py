"""Locks between processes: one at a time works in a folder; a lock goes with its process, however it ends."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evergraph.errors import StoreError

try:
    import fcntl
except ImportError:  # not on every platform; there two processes must not work in the same folder
    fcntl = None  # type: ignore[assignment]

POLL_SECONDS = 0.02
WORK = fcntl is not None
"""Whether a lock keeps other processes out on this platform."""


@contextmanager
def locked(path: Path, timeout: float = 0.0, *, keep: bool = True) -> Iterator[None]:
    """Hold the lock file `path`, after waiting at most `timeout` seconds for another process; else StoreError.

    keep: whether the file stays when the lock goes.
    """
    file = _acquired(path, time.monotonic() + timeout)
    try:
        yield
    finally:
        if not keep:
            with suppress(OSError):
                path.unlink()
        os.close(file)


def _acquired(path: Path, deadline: float) -> int:
    """A descriptor of the lock file that holds the lock."""
    while True:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            raise StoreError(f"{path.parent} cannot be written: {error.strerror or error}") from None
        if _is_ours(file, path):
            return file
        os.close(file)
        if time.monotonic() >= deadline:
            raise StoreError(f"another process is working on {path.parent}; wait for it or stop it")
        time.sleep(POLL_SECONDS)


def _is_ours(file: int, path: Path) -> bool:
    """Whether the lock is free, and its file still the one at `path`: another process may have removed it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file), os.stat(path))
    except OSError:
        return False
