"""The finished runs of a target, by row and backbone, with β chosen on validation."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from matplotlib.figure import Figure

from evergraph.errors import ConfigError
from evergraph.paper.choice import Choice, choose_beta
from evergraph.paper.exhibit import Exhibit
from evergraph.paper.published import Published
from evergraph.paper.targets import FAST_EPOCHS, Request, Row, Target
from evergraph.results.groups import Group
from evergraph.results.load import Result
from evergraph.runs.config import RunConfig

NOTHING = "no run yet"


@dataclass(frozen=True)
class TargetRuns:
    """A target, the request, and its runs by the digest of their configuration."""

    target: Target
    request: Request
    by_digest: Mapping[str, Result]

    @classmethod
    def of(cls, target: Target, request: Request, results: Sequence[Result]) -> "TargetRuns":
        known: dict[str, Result] = {}
        for result in results:
            with suppress(ConfigError):  # unknown settings, such as those of a plug-in, belong to no target
                known[RunConfig.from_values(result.record.config).digest()] = result
        wanted = {config.digest() for config in target.configs(request)}
        return cls(target, request, {digest: run for digest, run in known.items() if digest in wanted})

    @cached_property
    def rows(self) -> list[Row]:
        return self.target.rows(self.request)

    @property
    def cases(self) -> list[tuple[Row, str, str]]:
        """Each row with each backbone, and its label, which names the backbone if there are several."""
        several = len(self.request.backbones) > 1
        return [
            (row, backbone, f"{row.label}, {backbone}" if several else row.label)
            for backbone in self.request.backbones
            for row in self.rows
        ]

    def runs(self, row: Row, backbone: str) -> dict[float | None, list[Result]]:
        """The runs of a row with each β."""
        found: dict[float | None, list[Result]] = {}
        for beta, settings in row.candidates():
            digests = [self.request.config(backbone, settings, seed).digest() for seed in self.request.seeds]
            found[beta] = [self.by_digest[digest] for digest in digests if digest in self.by_digest]
        return found

    def choice(self, row: Row, backbone: str) -> Choice | None:
        """The runs of a row with the chosen β."""
        return choose_beta(self.runs(row, backbone))

    @property
    def heading(self) -> str:
        """The target, the data, and whether it was fast."""
        titles = [result.title for result in self.by_digest.values()]
        fast = f" (fast: {FAST_EPOCHS} epochs instead of 200)" if self.request.fast else ""
        return f"{self.target.title} on {titles[0] if titles else self.request.dataset}{fast}"

    def exhibit(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[str]],
        notes: Iterable[str],
        numbers: Sequence[dict[str, Any]],
        figure: Figure,
    ) -> Exhibit:
        """A table and a figure under the heading and file name of this target; the general notes come first."""
        features = f"-{self.request.features}" if self.request.features else ""
        data = (self.request.dataset.replace("/", "-") + features).replace(":", "")
        name = f"{self.target.name}-{data}{'-fast' if self.request.fast else ''}"
        return Exhibit(name, self.heading, header, rows, [*self.notes, *notes], numbers, figure)

    @property
    def notes(self) -> list[str]:
        """Notes that concern every row."""
        notes = [
            "AA and AF in percent, class-balanced, on test nodes; mean ± standard deviation over seeds; "
            "a single seed has no deviation",
        ]
        if self.request.fast:
            notes.append(
                f"fast: {FAST_EPOCHS} epochs a task, seeds: {len(self.request.seeds)} (the paper: 200 and 5), a "
                "coarser grid of β; not to be compared with the paper's values, though they are printed beside it"
            )
        remarks = dict.fromkeys(remark for run in self.by_digest.values() for remark in run.remarks)
        missing = len(self.target.configs(self.request)) - len(self.by_digest)
        if missing:
            notes.append(f"{missing} of {missing + len(self.by_digest)} runs are not there yet")
        return [*notes, *remarks]


def text(group: Group) -> str:
    """AA / AF."""
    return f"{group.stat('aa')} / {group.stat('af')}"


def measured(group: Group) -> dict[str, Any]:
    """Seeds, means and deviations of a group for CSV and JSON."""
    line: dict[str, Any] = {"seeds": len(group.results)}
    for measure in ("aa", "af", "val"):
        value = group.stat(measure)
        line |= {f"{measure}_mean": value.mean, f"{measure}_std": value.std}
    return line


def numbers_of(label: str, backbone: str, choice: Choice, published: Published | None = None) -> dict[str, Any]:
    """The numbers of a row for CSV and JSON, with the paper's."""
    line = {"row": label, "backbone": backbone, "beta": choice.beta, "chosen": choice.how, **measured(choice.group)}
    for at, measure in enumerate(("aa", "af")):
        theirs = published[at] if published else None
        line |= {f"paper_{measure}_mean": theirs and theirs.mean, f"paper_{measure}_std": theirs and theirs.std}
    return line
