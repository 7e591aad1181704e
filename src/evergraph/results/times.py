"""The times of runs: of the processor where it is known, else of the clock, and whether the machine was shared."""

import statistics
from collections.abc import Callable
from math import fsum
from typing import Literal

from evergraph.results.groups import DataSet, Group

Kind = Literal["seconds", "processor_seconds"]
SHARED = 1.1
"""From this ratio of the clock to the processor on, runs have waited for others."""


def by_phase(group: Group, kind: Kind) -> dict[str, float] | None:
    """Seconds by phase but for loading the data, of the seed with the middle total; None where a run lacks them.

    The phases of one run add up, and a run that was slowed down by others does not count.
    """
    times: list[dict[str, float]] = [getattr(result.record, kind) for result in group.results]
    if not all(times):
        return None
    runs = [{phase: value for phase, value in one.items() if phase != "load"} for one in times]
    return sorted(runs, key=lambda one: fsum(one.values()))[(len(runs) - 1) // 2]


def learning(phases: dict[str, float]) -> float:
    """The part of these seconds without loading the data and without evaluation."""
    return fsum(value for phase, value in phases.items() if phase not in ("load", "evaluate"))


def told(data: DataSet) -> Kind:
    """Which time of a data set is told: that of the processor where all runs know it."""
    known = all(by_phase(group, "processor_seconds") for group in data.groups)
    return "processor_seconds" if known else "seconds"


def learning_time(data: DataSet) -> tuple[str, Callable[[Group], float]]:
    """What the time of learning is called, and that of a group."""
    kind = told(data)
    name = "learning, processor s" if kind == "processor_seconds" else "learning, s"
    return name, lambda group: learning(by_phase(group, kind) or {})


def waited(data: DataSet) -> float | None:
    """How many times as long as the processor worked the clock ran; the median of the runs that know both."""
    records = [result.record for group in data.groups for result in group.results]
    both = [(learning(one.seconds), learning(one.processor_seconds)) for one in records if one.processor_seconds]
    ratios = [clock / processor for clock, processor in both if processor > 0]
    return statistics.median(ratios) if ratios else None


def times_note(data: DataSet) -> str:
    """Which time is shown, and what the records say of a shared machine."""
    ratio, kind = waited(data), told(data)
    if ratio is None:
        return "Times are seconds of the clock; whether others used the machine is not recorded."
    if ratio < SHARED:
        return f"Times are seconds of the {'processor' if kind == 'processor_seconds' else 'clock'}."
    if kind == "processor_seconds":
        return (
            "Times are seconds of the processor, because the machine was shared: "
            f"the clock ran {ratio:.1f} times as long."
        )
    known = sum(by_phase(group, "processor_seconds") is not None for group in data.groups)
    rows = f"{known} of {len(data.groups)} rows"
    return (
        "Times are seconds of the clock on a shared machine, good for a rough comparison only: where both are "
        f"known ({rows}), the clock ran {ratio:.1f} times as long as the processor worked."
    )


def seconds_text(seconds: float) -> str:
    """Seconds with two digits that count, and as whole numbers from 10 on."""
    if 0 < seconds < 0.01:
        return "<0.01"
    return f"{seconds:,.0f}" if seconds >= 9.95 else f"{seconds:.2g}"
