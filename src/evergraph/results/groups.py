"""Runs that differ only by their seeds, grouped, by data set."""

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.results.load import FACTS, Result
from evergraph.results.records import grouped_by
from evergraph.results.summary import backbone_of
from evergraph.results.validation import TUNED, best_on_validation

USUAL = 0.75
"""A value that at least this share of the rows has is left out of their labels."""


MB = 2**20 / 1e6
"""Measures of memory are in units of 2**20 bytes; people see MB."""


@dataclass(frozen=True)
class Stat:
    """Mean and sample standard deviation over seeds; None for a single seed."""

    mean: float
    """Mean over seeds."""
    std: float | None
    """Sample standard deviation; null for a single seed."""

    def __str__(self) -> str:
        return self.text(1)

    def text(self, digits: int) -> str:
        return f"{self.mean:.{digits}f}" + ("" if self.std is None else f" ± {self.std:.{digits}f}")


def stat(values: Iterable[float]) -> Stat:
    numbers = list(values)
    return Stat(statistics.mean(numbers), statistics.stdev(numbers) if len(numbers) > 1 else None)


@dataclass(frozen=True)
class Group:
    """Runs with the same settings and different seeds.

    differing: the settings that are not the same in all groups; usual: names that the label leaves out.
    """

    results: tuple[Result, ...]
    differing: dict[str, Any]
    usual: frozenset[str]

    @property
    def first(self) -> Result:
        return self.results[0]

    @cached_property
    def setup(self) -> dict[str, Any]:
        return self.first.setup

    @property
    def method(self) -> str:
        return str(self.setup["method.name"])

    @property
    def backbone(self) -> str | None:
        """None where the method uses none."""
        return backbone_of(self.method, str(self.setup["backbone.name"]))

    @property
    def settings(self) -> str:
        """The settings in which rows differ, without the usual ones."""
        shown = {key: value for key, value in self.differing.items() if key not in self.usual}
        return ", ".join(f"{_name(key)} {value_text(value)}" for key, value in shown.items())

    @property
    def label(self) -> str:
        """Method and its unusual settings."""
        return " · ".join(part for part in (self.method, self.settings) if part)

    def stat(self, measure: str) -> Stat:
        return stat(result.measures[measure] for result in self.results)

    def tested(self, where: str) -> Stat | None:
        """AA in local or global testing; None where not all runs were tested so."""
        values = [result.both_tests[where] for result in self.results]
        known = [value for value in values if value is not None]
        return stat(known) if len(known) == len(values) else None

    def so_far(self, measure: str) -> Stat | None:
        """A measure of the accuracy on all nodes so far; None where classes do not come back."""
        found = [result.so_far for result in self.results]
        known = [so_far for so_far in found if so_far is not None]
        return stat(getattr(one, measure) for one in known) if len(known) == len(found) else None

    @property
    def validation(self) -> list[float]:
        return [result.measures["val"] for result in self.results]

    @property
    def tuned(self) -> float | None:
        """The value of the tuned setting; None if the method has none."""
        value = self.setup.get(TUNED)
        return float(value) if isinstance(value, int | float) else None

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The mean accuracy matrix over seeds, NaN above the diagonal."""
        matrices = np.array([result.record.matrix for result in self.results], dtype=np.float64)
        mean: NDArray[np.float64] = matrices.mean(axis=0)
        return mean

    @property
    def curve(self) -> list[Stat]:
        return [stat(values) for values in zip(*(result.curve for result in self.results), strict=True)]

    @property
    def total_seconds(self) -> float:
        """The median time of a run without loading the data."""
        return statistics.median(
            fsum(result.record.seconds.values()) - result.record.seconds.get("load", 0.0) for result in self.results
        )

    @property
    def remarks(self) -> list[str]:
        return list(dict.fromkeys(remark for result in self.results for remark in result.remarks))


def _name(key: str) -> str:
    return "β" if key == TUNED else key.partition(".")[2].replace("_", " ")


def value_text(value: Any) -> str:
    return value if isinstance(value, str) else "none" if value is None else json.dumps(value)


@dataclass(frozen=True)
class DataSet:
    """All groups on the same data."""

    title: str
    data: dict[str, int]
    groups: tuple[Group, ...]

    @property
    def remarks(self) -> list[str]:
        """The remarks that all groups share."""
        return [
            remark for remark in self.groups[0].remarks if all(remark in group.remarks for group in self.groups)
        ]

    @property
    def all_remarks(self) -> list[str]:
        """All remarks; those that not all groups share name their groups."""
        shared = self.remarks
        others = dict.fromkeys(remark for group in self.groups for remark in group.remarks if remark not in shared)
        named = {remark: [group.label for group in self.groups if remark in group.remarks] for remark in others}
        return shared + [f"{remark} ({'; '.join(labels)})" for remark, labels in named.items()]

    def name(self, group: Group) -> str:
        """The label of a group, with its backbone if the data set has several."""
        shown = len(self.by_backbone) > 1 and group.backbone
        return f"{group.label} · {group.backbone}" if shown else group.label

    @property
    def by_backbone(self) -> dict[str, list[Group]]:
        """The groups that are compared in one chart; methods without a backbone are beside every backbone."""
        found = list(dict.fromkeys(group.backbone for group in self.groups if group.backbone)) or ["none"]
        return {name: [group for group in self.groups if group.backbone in (name, None)] for name in found}


def best_of_methods(groups: Sequence[Group]) -> list[Group]:
    """The group of each method that is best on validation, among those with the most seeds; best method first."""
    best = []
    for members in grouped_by(groups, lambda group: group.method).values():
        at, _ = best_on_validation({at: group.validation for at, group in enumerate(members)})
        best.append(members[at])
    return sorted(best, key=lambda group: -group.stat("val").mean)


BOUNDS = ("joint",)
"""Methods that are given all data again: what they keep is not comparable."""


def families(groups: Sequence[Group]) -> list[dict[float, Group]]:
    """Groups that differ only in the tuned setting, by its value, ascending; at least two in each family."""
    found: dict[str, dict[float, Group]] = {}
    for group in groups:
        if group.tuned is not None:
            others = {name: value for name, value in group.setup.items() if name != TUNED}
            key = json.dumps([others, len(group.first.record.matrix)], sort_keys=True)
            found.setdefault(key, {})[group.tuned] = group
    return [dict(sorted(family.items())) for family in found.values() if len(family) > 1]


def how_chosen(group: Group, groups: Sequence[Group]) -> str:
    """Whether the tuned setting of a group was chosen on validation, or fixed."""
    for family in families(groups):
        if group in family.values():
            best, compared = best_on_validation({value: other.validation for value, other in family.items()})
            if group.tuned == best:
                return "chosen"
            return "not chosen" if group.tuned in compared else "not compared"
    return "fixed"


def data_sets(results: Sequence[Result]) -> list[DataSet]:
    """Results by data set and settings; groups by descending AA.

    Files of the same name and size are told apart by their content, and in the title by a part of its checksum.
    """
    marked = [one for one in results if one.record.data.source and one.record.data.fingerprint]
    same = {one.record.data.fingerprint: one.content for one in marked}  # earlier runs know no source
    contents = [same.get(one.record.data.fingerprint, one.content) for one in results]
    keys = [json.dumps([one.title, one.size, content]) for one, content in zip(results, contents, strict=True)]
    by_title: dict[str, set[str | None]] = {}
    for one, content in zip(results, contents, strict=True):
        by_title.setdefault(one.title, set()).add(content)
    found = []
    for members in grouped_by(zip(keys, contents, results, strict=True), lambda member: member[0]).values():
        _, content, first = members[0]
        facts = {key: getattr(first.record.data, key) for key in FACTS}
        told = f" [{(content or 'unknown')[:8]}]" if len(by_title[first.title]) > 1 else ""
        found.append(DataSet(first.title + told, facts, _groups([member for _, _, member in members])))
    return found


def _groups(results: Sequence[Result]) -> tuple[Group, ...]:
    found = grouped_by(
        results, lambda result: json.dumps([result.setup, len(result.record.matrix)], sort_keys=True)
    ).values()
    setups = [members[0].setup for members in found]
    groups = []
    for members in found:
        setup = members[0].setup
        shares = {key: _share(key, setup, setups) for key in setup}
        differing = {key: setup[key] for key, share in shares.items() if share < 1}
        usual = frozenset(key for key, share in shares.items() if share >= USUAL and key != TUNED)
        members.sort(key=lambda result: [str(seed).zfill(12) for seed in result.seeds.values()])
        groups.append(Group(tuple(members), differing, usual))
    return tuple(sorted(groups, key=lambda group: -group.stat("aa").mean))


def _share(key: str, setup: dict[str, Any], setups: Sequence[dict[str, Any]]) -> float:
    """The share of set-ups with the same value, among those with the same method, backbone or data set."""
    owner = key.partition(".")[0]
    if key in ("method.name", "backbone.name"):
        return 1.0
    named = f"{owner}.name" if owner in ("method", "backbone") else "dataset.name"
    peers = [json.dumps(other.get(key)) for other in setups if other[named] == setup[named]]
    return Counter(peers)[json.dumps(setup[key])] / len(peers)
