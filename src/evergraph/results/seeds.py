"""Runs that differ only by their seeds: of each measure the mean and the deviation."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum

from evergraph.results.groups import Stat, stat
from evergraph.results.records import grouped_by
from evergraph.results.summary import Summary, summarise
from evergraph.runs.record import Record


@dataclass(frozen=True)
class Means:
    """A method over seeds; accuracies in percent, on test nodes."""

    method: str
    """Its name."""
    seeds: list[int]
    """Seeds of the initialisation."""
    aa: Stat
    """Average accuracy, in the protocol of the runs."""
    af: Stat
    """Average forgetting, in the protocol of the runs."""
    aa_local: Stat | None
    """AA tested in each task's own graph; null where a run was not."""
    aa_global: Stat | None
    """AA tested in the whole graph known by then; null where a run was not."""
    so_far: Stat
    """Accuracy on all test nodes so far after the last task."""
    area: Stat
    """Its area under the curve over the tasks."""
    area_local: Stat | None
    """The same, tested in each task's own graph."""
    area_global: Stat | None
    """The same, tested in the whole graph known by then."""
    forgetting: Stat
    """Final minus best of each class, mean over the classes."""
    seconds: Stat
    """Seconds of the clock without loading the data."""
    kept_bytes: Stat
    """Bytes kept of the past at the end."""


def by_settings(records: Sequence[Record]) -> list[list[Record]]:
    """Runs with the same settings but for seeds, in order of first appearance."""
    return list(grouped_by(records, lambda record: json.dumps({**record.config, "seeds": None})).values())


def means(records: Sequence[Record]) -> Means:
    """What runs with the same settings have measured."""
    found = [summarise(record) for record in records]

    def known(measure: Callable[[Summary], float | None]) -> Stat | None:
        values = [value for one in found if (value := measure(one)) is not None]
        return stat(values) if len(values) == len(found) else None

    return Means(
        method=str(records[0].config["method"]["name"]),
        seeds=[int(record.config["seeds"]["init"]) for record in records],
        aa=stat(one.aa for one in found),
        af=stat(one.af for one in found),
        aa_local=known(lambda one: one.aa_local),
        aa_global=known(lambda one: one.aa_global),
        so_far=stat(one.so_far.plain[-1] for one in found),
        area=stat(one.so_far.area_plain for one in found),
        area_local=known(lambda one: None if one.so_far_local is None else one.so_far_local.area_plain),
        area_global=known(lambda one: None if one.so_far_global is None else one.so_far_global.area_plain),
        forgetting=stat(one.so_far.forgetting for one in found),
        seconds=stat(fsum(value for phase, value in one.seconds.items() if phase != "load") for one in found),
        kept_bytes=stat(float(one.memory.bytes) for one in found),
    )
