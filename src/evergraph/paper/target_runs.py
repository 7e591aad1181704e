"""The finished runs that belong to a target, by row and backbone, with β chosen on validation."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evergraph.errors import ConfigError
from evergraph.paper.choice import Choice, choose_beta
from evergraph.paper.published import Published
from evergraph.paper.targets import FAST_EPOCHS, Request, Row, Target
from evergraph.results.groups import Group
from evergraph.results.load import Result
from evergraph.runs.config import RunConfig

NOTHING = "no run yet"


@dataclass(frozen=True)
class TargetRuns:
    """A target, what was asked for, and the runs by the digest of their configuration."""

    target: Target
    request: Request
    by_digest: Mapping[str, Result]

    @classmethod
    def of(cls, target: Target, request: Request, results: Sequence[Result]) -> "TargetRuns":
        known: dict[str, Result] = {}
        for result in results:
            with suppress(ConfigError):  # what is unknown here, such as a plug-in, belongs to no target
                known[RunConfig.from_values(result.record.config).digest()] = result
        wanted = {config.digest() for config in target.configs(request)}
        return cls(target, request, {digest: run for digest, run in known.items() if digest in wanted})

    @cached_property
    def rows(self) -> list[Row]:
        return self.target.rows(self.request)

    def runs(self, row: Row, backbone: str) -> dict[float | None, list[Result]]:
        """The runs of a row with each β."""
        found: dict[float | None, list[Result]] = {}
        for beta, settings in row.candidates():
            digests = [self.request.config(backbone, settings, seed).digest() for seed in self.request.seeds]
            found[beta] = [self.by_digest[digest] for digest in digests if digest in self.by_digest]
        return found

    def choice(self, row: Row, backbone: str) -> Choice | None:
        """The runs of a row that count."""
        return choose_beta(self.runs(row, backbone))

    @property
    def first(self) -> Result | None:
        return next(iter(self.by_digest.values()), None)

    @property
    def data_title(self) -> str:
        """The data set's name with what has to be known of it."""
        return self.first.title if self.first else self.request.dataset

    @property
    def heading(self) -> str:
        """What is shown, on which data, and that it was done fast where it was."""
        fast = f" (fast: {FAST_EPOCHS} epochs instead of 200)" if self.request.fast else ""
        return f"{self.target.title} on {self.data_title}{fast}"

    @property
    def file_name(self) -> str:
        """A name for the files that says all of that."""
        data = self.request.dataset.replace("/", "-") + (
            f"-{self.request.features}" if self.request.features else ""
        )
        return f"{self.target.name}-{data.replace(':', '')}{'-fast' if self.request.fast else ''}"

    @property
    def notes(self) -> list[str]:
        """What concerns every row."""
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


def numbers_of(label: str, backbone: str, choice: Choice, published: Published | None = None) -> dict[str, Any]:
    """The numbers of a row for CSV and JSON; `published` are the paper's."""
    line: dict[str, Any] = {"row": label, "backbone": backbone, "beta": choice.beta, "chosen": choice.how}
    line["seeds"] = len(choice.group.results)
    for measure in ("aa", "af", "val"):
        value = choice.group.stat(measure)
        line |= {f"{measure}_mean": value.mean, f"{measure}_std": value.std}
    for at, measure in enumerate(("aa", "af")):
        theirs = published[at] if published else None
        line |= {f"paper_{measure}_mean": theirs and theirs.mean, f"paper_{measure}_std": theirs and theirs.std}
    return line
