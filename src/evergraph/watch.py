"""Watch: where a run reports its progress and its times by phase."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple


class Times(NamedTuple):
    """By phase: seconds of the clock, and of the processor, which other work on the machine hardly changes."""

    seconds: dict[str, float]
    processor: dict[str, float]


@dataclass(frozen=True)
class LearnedTask:
    """A task that was learned, measured and stored: task `index` of `count`.

    accuracies: by test (local, global), on the test nodes of each task so far, class-balanced, in percent,
    None where a task has none; seconds: by phase.
    """

    index: int
    count: int
    accuracies: dict[str, list[float | None]]
    seconds: dict[str, float]


class Watch:
    """Adds up the times of each phase; a subclass that tells somebody overrides what it wants."""

    def __init__(self) -> None:
        self.times = Times({}, {})

    def on_disk(self, plan: str) -> None:
        """The graph stays on disk, and this is how it is read."""

    def task(self, index: int, count: int) -> None:
        """Task `index` of `count` begins."""

    def epoch(self, epoch: int, loss: float) -> None:
        """An epoch has ended."""

    def learned(self, task: LearnedTask) -> None:
        """A task has been learned and is stored."""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what happens inside as part of a phase."""
        start = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            stop = time.perf_counter(), time.process_time()
            for times, begun, ended in zip(self.times, start, stop, strict=True):
                times[name] = times.get(name, 0.0) + ended - begun

    def take(self) -> Times:
        """The times by phase since the last call."""
        times, self.times = self.times, Times({}, {})
        return times
