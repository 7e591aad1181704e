"""Where a grid of runs is, as its page shows it."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What became of a run so far."""

    FAILED = "failed"
    RUNNING = "running"
    DONE = "done"
    WAITING = "to do"


@dataclass(frozen=True)
class RunProgress:
    """A run by its label; detail: the task that it is at, or why it failed."""

    label: str
    state: State
    detail: str = ""


@dataclass(frozen=True)
class Progress:
    """A grid while it runs, or when it has ended.

    seconds: since it began; refresh: after how many seconds to look again.
    """

    name: str
    runs: tuple[RunProgress, ...]
    seconds: float
    refresh: int
    ended: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """How many runs are in each state."""
        found = Counter(run.state for run in self.runs)
        return {state.value: found[state] for state in (State.DONE, State.RUNNING, State.FAILED, State.WAITING)}

    def in_state(self, state: str) -> list[RunProgress]:
        return [run for run in self.runs if run.state == state]

    @property
    def clock(self) -> str:
        seconds = int(self.seconds)
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
