"""Watch: where a run reports its progress and its times by phase."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Watch:
    """Adds up the seconds of each phase; a subclass that shows progress overrides `task` and `epoch`."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def task(self, index: int, count: int) -> None:
        """Task `index` of `count` begins."""

    def epoch(self, epoch: int, loss: float) -> None:
        """An epoch has ended."""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what happens inside as part of a phase."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def take(self) -> dict[str, float]:
        """The seconds by phase since the last call."""
        seconds, self.seconds = self.seconds, {}
        return seconds
