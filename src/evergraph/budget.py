"""The budget of memory: how much a computation may hold at a time, and where it may put what does not fit.

It belongs to the process, not to a run: what is computed in blocks has the same bits as what is computed at once.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from evergraph.errors import ConfigError

LEAST = 50_000_000
"""Bytes of the smallest budget."""
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


@dataclass(frozen=True)
class Budget:
    """memory: bytes besides those of the program itself; scratch: a folder for what does not fit.

    given: whether a person asked for it.
    """

    memory: int
    scratch: Path
    given: bool = True


_CURRENT: ContextVar[Budget | None] = ContextVar("budget", default=None)


def current_budget() -> Budget:
    """The budget in force; where none was given, half of the memory that is free now."""
    return _CURRENT.get() or Budget(free_memory() // 2, Path(tempfile.gettempdir()), given=False)


@contextmanager
def memory_budget(memory: int | None, scratch: Path | None = None) -> Iterator[Budget]:
    """Compute within so many bytes inside; None leaves the budget as it is."""
    if memory is not None and memory < LEAST:
        raise ConfigError(f"--memory must be at least {LEAST // 10**6} MB, got {memory:,} bytes instead")
    before = current_budget()
    now = Budget(
        before.memory if memory is None else memory, scratch or before.scratch, before.given or memory is not None
    )
    token = _CURRENT.set(now)
    try:
        yield now
    finally:
        _CURRENT.reset(token)


def free_memory() -> int:
    """Bytes that can be had without swapping; all memory where the system does not say."""
    try:
        with open("/proc/meminfo") as lines:
            found = dict(line.split(":", 1) for line in lines)
        return int(found["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 4 * 10**9


def parse_memory(text: str) -> int:
    """Bytes of text such as 2GB, 500 MB or 1.5GiB."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"--memory must be a size such as 2GB or 500MB, got {text!r} instead")
    number, prefix, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix.lower() or " "))
