"""Analytic: ridge regression on random features of propagated node features; its sums do not forget.

After any sequence of tasks the weights are those of the same regression on all training nodes at once, each
with the features that it had when it arrived. The sets of hops stand side by side in the sums, each
with a Gram matrix of its own, so that hops and λ are chosen anew from training data alone:

- where nodes learned before are found again in the graph (`anchors`), by the mistakes made on them there, each left
  out of its fit: neighbours that came later have changed them, and the choice sees how much each set suffers;
- in a graph without them as it was chosen last;
- where they were never found, by generalised cross-validation, from the sums alone.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator
from torch import Tensor

from evergraph.config import Settings
from evergraph.data.stream import TaskView
from evergraph.errors import ConvergenceError
from evergraph.methods.anchors import Anchors
from evergraph.methods.base import MethodEntry
from evergraph.methods.hop_features import Codes, HopFeatures, HopSet, fingerprints
from evergraph.methods.low_rank import LowRankStatistics
from evergraph.methods.ridge import Fit, Moments, Spectrum
from evergraph.methods.statistics import Blocks, ClassStatistics, Matrix, Precision, Statistics
from evergraph.methods.statistics_learner import StatisticsLearner, checked_hops
from evergraph.replay.usage import MemoryUsage
from evergraph.threads import in_threads
from evergraph.training.net import Net
from evergraph.watch import Watch
from evergraph.workers import current_workers

LOG = logging.getLogger(__name__)
AUTO: tuple[HopSet, ...] = ((0,), (2,), (0, 1), (0, 2), (0, 1, 2), ((0,), (1,), (2,)))
"""The sets of hops that are tried where none are given."""
AUTO_BEFORE: dict[int, tuple[HopSet, ...]] = {
    4: ((0,), (2,), (0, 1), (0, 1, 2)),
    5: ((0,), (2,), (0, 1), (0, 2), (0, 1, 2)),
}
"""The same by their number in learners that were stored by earlier versions, which go on with them."""
EXPLAINED = 0.99
"""Of generalised cross-validation the largest λ is taken that explains so much of what the best one does: by the
squared error, which is not what predictions are judged by, less shrinkage is wanted than by mistakes."""
NONE = (-1, -1)
"""No positions of hops and strength: they are chosen from the sums."""
SCOUT = 512
"""So many features of each set choose hops and λ, which is relative; the fit then has all of them."""


class AnalyticConfig(Settings):
    """The size of the random features, what is chosen from, and how the sums are kept."""

    width: int = Field(2048, ge=1)
    """Random features of each set of hops."""
    hops: Literal["auto"] | tuple[HopSet, ...] = "auto"
    """The sets of hops to choose from: [0, 1, 2] adds hops up, [[0], [1], [2]] has them side by side; auto tries
    [0], [2], [0, 1], [0, 2], [0, 1, 2] and [[0], [1], [2]]."""
    strengths: tuple[float, ...] = (1e-4, 1e-3, 1e-2, 1e-1, 3e-1)
    """λ over tr(B)/D to choose from."""
    anchors: int = Field(64, ge=0)
    """Nodes of each class that are known again by a hash, for the choice of hops and λ."""
    precision: Precision = Precision.EXACT
    """How the Gram matrix is kept."""
    rank: int = Field(0, ge=0)
    """Rank to which the within-class scatter is kept, a byte a number; 0 keeps the whole Gram matrix."""

    @model_validator(mode="after")
    def _low_rank_sums_have_one_precision(self) -> "AnalyticConfig":
        if self.rank and self.precision is not Precision.EXACT:
            raise ValueError(
                f"precision is that of the whole Gram matrix (rank=0), got rank={self.rank} and "
                f"precision={self.precision.value} together; set one of them"
            )
        if self.rank > self.width:
            raise ValueError(
                f"a rank of at most width={self.width} is wanted, got {self.rank} instead; rank=0 keeps all"
            )
        return self

    @field_validator("hops", mode="before")
    @classmethod
    def _hops_are_sets(cls, value: object) -> object:
        sets = value if isinstance(value, list | tuple) else [value]
        if value != "auto" and not all(_is_sum(one) or (_is_list(one) and all(map(_is_sum, one))) for one in sets):
            raise ValueError(
                f'sets of hops are wanted, such as [[2], [0, 1, 2], [[0], [1]]], or "auto", got {value!r} instead'
            )
        return value

    @field_validator("hops")
    @classmethod
    def _sets_of_hops(cls, value: Literal["auto"] | tuple[HopSet, ...]) -> Literal["auto"] | tuple[HopSet, ...]:
        if value == "auto":
            return value
        sets = tuple(checked_hops(hops) for hops in value)
        if not sets or len(set(sets)) < len(sets):
            raise ValueError(
                f"different sets of hops are wanted, such as [[2], [0, 1, 2]], got {list(value)} instead"
            )
        return sets

    @field_validator("strengths")
    @classmethod
    def _strengths_are_positive(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if not value or min(value) <= 0 or len(set(value)) < len(value):
            raise ValueError(f"at least one number above 0 is wanted, all different, got {list(value)} instead")
        return tuple(sorted(value))


def _is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    return isinstance(value, list | tuple)


def _is_sum(value: object) -> bool:
    """Whether these are numbers alone: hops that are added up."""
    return _is_list(value) and not any(_is_list(one) for one in value)


class SmallConfig(AnalyticConfig):
    """The same with few bytes: sums of low rank, which tell sets of hops apart less well, so more anchors do it."""

    anchors: int = Field(256, ge=0)
    """Nodes of each class that are known again by a hash, for the choice of hops and λ."""
    rank: int = Field(64, ge=0)
    """Rank to which the within-class scatter is kept, a byte a number; 0 keeps the whole Gram matrix."""


@dataclass(frozen=True)
class Choice:
    """The hops and the strength of λ in use, what they were chosen by and its value."""

    hops: HopSet
    strength: float
    by: str
    error: float


class _Chosen:
    """A choice that cannot be made again from the sums: positions of hops and strength, or NONE."""

    def __init__(self) -> None:
        self.place = NONE
        self.error = 0.0

    def memory(self) -> MemoryUsage:
        return MemoryUsage(bytes=24)

    def state(self) -> dict[str, Tensor]:
        place = torch.tensor(self.place, dtype=torch.int64)
        return {"choice.place": place, "choice.error": torch.tensor(self.error, dtype=torch.float64)}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        first, second = state["choice.place"].tolist()
        self.place, self.error = (first, second), float(state["choice.error"])


class Analytic(StatisticsLearner):
    """Keeps sums, anchors and a seed; the fit is made when a prediction is asked for."""

    def __init__(self, net: Net, config: AnalyticConfig):
        self.config = config
        sets = AUTO if config.hops == "auto" else config.hops
        features = HopFeatures(sets, config.width, net.seed)
        statistics: Statistics = ClassStatistics(len(sets), config.width, precision=config.precision)
        if config.rank:
            statistics = LowRankStatistics(len(sets), config.width, config.rank)
        open_choice = len(sets) > 1 or len(config.strengths) > 1
        self.anchors = Anchors(config.anchors if open_choice else 0)
        self._chosen = _Chosen()
        self._fitted: tuple[Choice, int, Fit] | None = None
        super().__init__(net, features, statistics, self.anchors, self._chosen)

    @property
    def choice(self) -> Choice:
        """What is in use now."""
        return self._fit()[0]

    @property
    def used_map(self) -> int:
        return self._fit()[1]

    def choices(self) -> dict[str, Any]:
        choice = self.choice
        return {
            "hops": [list(one) if isinstance(one, tuple) else one for one in choice.hops],
            "strength": choice.strength,
            "by": choice.by,
            "error": round(choice.error, 6),
        }

    def changed(self) -> None:
        self._fitted = None

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        sums = state["statistics.means" if self.config.rank else "statistics.sums"]
        if self.config.hops == "auto" and len(sums) in AUTO_BEFORE:
            self.features = HopFeatures(AUTO_BEFORE[len(sums)], self.config.width, self.features.seed)
        super().load_state(state)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        with watch.phase("statistics"):
            hashes = fingerprints(task.graph)
            old, old_labels = self.anchors.find(hashes)
            again = self.anchors.again(hashes)
            self.anchors.add(hashes[task.train], task.train_labels)
            here = np.flatnonzero(np.isin(task.train, self.anchors.find(hashes)[0]))  # the new ones
            tested: list[Codes] = []
            if again and current_workers() is None:
                self.statistics.add(self._seen(self._passing(task, old, here, tested)))
            else:
                self.add(task)
                tested += [self.features(task.graph, np.concatenate([task.train[here], old]))] if again else []
            self.statistics.widen(max(task.classes) + 1)
            self.changed()
        with watch.phase("choose"):
            if again:
                self._choose(np.concatenate(tested, axis=1), np.concatenate([task.train_labels[here], old_labels]))

    def _passing(
        self, task: TaskView, old: NDArray[np.int64], here: NDArray[np.int64], tested: list[Codes]
    ) -> Blocks:
        """The training rows in blocks; on the way φ of the rows at `here` and of the old ones go into `tested`."""
        rows, n_new = np.concatenate([task.train, old]), len(task.train)
        wanted = np.concatenate([here, np.arange(n_new, len(rows))])
        for part, codes in self.features.on(task.graph).in_blocks(rows):
            tested.append(codes[:, wanted[(wanted >= part.start) & (wanted < part.stop)] - part.start])
            yield codes[:, : max(n_new - part.start, 0)], task.train_labels[part]

    def forget(self, task: TaskView) -> None:
        """As for all sums; a choice made on anchors is made again without the forgotten ones, in this graph."""
        super().forget(task)
        hashes = fingerprints(task.graph)
        self.anchors.remove(hashes[task.train])
        if self._chosen.place != NONE and self.anchors.again(hashes):
            rows, labels = self.anchors.find(hashes)
            self._choose(self.features(task.graph, rows), labels)

    def merge(self, other: StatisticsLearner, places: NDArray[np.int64] | None = None) -> None:
        super().merge(other, places)
        if isinstance(other, Analytic):
            self.anchors.merge(other.anchors, places)
            if self._chosen.place == NONE:
                self._chosen.place, self._chosen.error = other._chosen.place, other._chosen.error

    @property
    def linear(self) -> tuple[NDArray[Any], Matrix]:
        weights = self._fit()[2].weights.astype(np.float32)
        return weights, np.zeros(weights.shape[1])

    def _fit(self) -> tuple[Choice, int, Fit]:
        """The choice, the position of its hops and its fit."""
        if self._fitted is None:
            by, (index, place), error = "anchors", self._chosen.place, self._chosen.error
            if (index, place) == NONE:
                by = "generalised cross-validation"
                classes = np.count_nonzero(self.statistics.counts)
                index, place, error = self._best(
                    lambda _, scout: scout.generalised_error,
                    lambda least: least + (1 - EXPLAINED) * max(classes - least, 0.0),
                )
            strength = self.config.strengths[place]
            (fit,) = in_threads(lambda at: Moments.of(self.statistics, at).fit(strength), [index])
            if not np.isfinite(fit.weights).all():
                raise ConvergenceError(
                    f"finite weights are wanted, got others with λ = {fit.penalty:.3g}; raise method.strengths"
                )
            self._fitted = Choice(self.features.hops[index], fit.strength, by, error), index, fit
            LOG.info("analytic: %s", self._fitted[0])
        return self._fitted

    def _choose(self, codes: Codes, labels: NDArray[np.int64]) -> None:
        """Choose by the mistakes on rows of known label in the graph of today."""

        def error(index: int, scout: Spectrum) -> Callable[[float], float]:
            turned = scout.turned(codes[index, :, : len(scout.values)].astype(np.float64))
            return lambda strength: scout.mistakes(turned, labels, strength)

        index, place, self._chosen.error = self._best(error, lambda least: least)
        self._chosen.place = (index, place)

    def _best(
        self, error: Callable[[int, Spectrum], Callable[[float], float]], near: Callable[[float], float]
    ) -> tuple[int, int, float]:
        """The positions of the hops of least error and of the largest λ whose error is as good, and that error.

        error: from the position of a set of hops and its spectrum to the error at a strength. near: from the least
        error to the largest that is as good.
        """
        strengths = self.config.strengths

        def of(index: int) -> list[float]:
            at = error(index, Spectrum(Moments.of(self.statistics, index, SCOUT)))
            return [at(strength) for strength in strengths]

        errors = np.array(in_threads(of, range(len(self.features.hops))))
        errors[np.isnan(errors)] = np.inf
        index = int(errors.min(axis=1).argmin())
        place = int(np.flatnonzero(errors[index] <= near(float(errors[index].min())))[-1])
        return index, place, float(errors[index, place])


PAPER = "McDonnell et al., NeurIPS 2023; Zhuang et al., NeurIPS 2024"
ENTRY = MethodEntry("ridge regression on random features of propagated features", PAPER, AnalyticConfig, Analytic)
SMALL = MethodEntry("analytic with sums of low rank: a fiftieth of the bytes", PAPER, SmallConfig, Analytic)
