"""Little memory, and a measure of what was taken of it."""

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

LITTLE = 64 << 20
"""Bytes of memory that the machine of these tests seems to have."""


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> int:
    """Let the machine seem to have LITTLE bytes free, so that an attack need not be large to be one."""
    names = "limits", "tables.reading", "tables.parquet", "data.datasets.ogb", "models.legacy", "cli.forget"
    for module in names:
        monkeypatch.setattr(f"evergraph.{module}.free_memory", lambda: LITTLE)
    return LITTLE


@pytest.fixture
def within() -> Callable[[int], AbstractContextManager[None]]:
    """Fail where more than so many bytes are taken inside at a time."""

    @contextmanager
    def measured(most: int) -> Iterator[None]:
        tracemalloc.start()
        try:
            yield
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < most, f"{peak:,} bytes were taken, {most:,} at most are wanted"

    return measured
