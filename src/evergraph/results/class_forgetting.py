"""Forgetting of each class from its best, where classes come back: of a run, and over the seeds of a group."""

from collections.abc import Sequence
from typing import TypeAlias

from evergraph.results.groups import Group, Stat, stat
from evergraph.results.summary import SoFar, class_names
from evergraph.runs.record import Record

Forgotten: TypeAlias = Sequence[tuple[str, Stat | None]]
"""The name of each class and how many points it lies below its best; None where it has no test nodes."""
SEEN = 0.05
"""Less than this is 0.0 where it is printed."""


def forgotten_in(record: Record) -> Forgotten:
    """That of a run, in its own protocol, in order of arrival."""
    lost = SoFar.of(record.counts()).class_forgetting
    names = class_names(record.data) or [str(at + 1) for at in range(len(lost))]
    return [(name, None if value is None else stat([value])) for name, value in zip(names, lost, strict=False)]


def forgotten_by(group: Group) -> Forgotten:
    """That of the runs of a group, in the order of the labels or, where they are unknown, of arrival.

    Empty where classes do not come back.
    """
    names: dict[int, str] = {}
    values: dict[int, list[float]] = {}
    for result in group.results:
        lost = () if result.so_far is None else result.so_far.class_forgetting
        classes = result.classes or [(at, str(at + 1)) for at in range(len(lost))]
        for (label, name), value in zip(classes, lost, strict=False):
            names[label] = name
            values.setdefault(label, []).extend([] if value is None else [value])
    return [(names[label], stat(values[label]) if values[label] else None) for label in sorted(names)]


def in_words(forgotten: Forgotten) -> str:
    """What was forgotten most comes first."""
    tested = sorted(((name, lost) for name, lost in forgotten if lost is not None), key=lambda one: one[1].mean)
    kept = [name for name, lost in tested if lost.mean > -SEEN]
    untested = [name for name, lost in forgotten if lost is None]
    parts = [
        ", ".join(f"{name}: {lost}" for name, lost in tested if lost.mean <= -SEEN),
        f"none of {', '.join(kept)}" if kept else "",
        f"not tested: {', '.join(untested)}" if untested else "",
    ]
    return "; ".join(part for part in parts if part)
