"""Settings are chosen on validation accuracy only, in one way everywhere."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

TUNED = "method.beta"
"""The one setting that is chosen among several values; all others are fixed beforehand."""


def best_on_validation(accuracies: Mapping[T, Sequence[float]]) -> tuple[T, dict[T, float]]:
    """The candidate with the best mean validation AA over seeds, the first of equal ones, and the means compared.

    Candidates with fewer seeds than others are left out: a mean over other seeds cannot be compared.
    """
    seeds = max(map(len, accuracies.values()))
    means = {name: statistics.mean(values) for name, values in accuracies.items() if len(values) == seeds}
    return max(means, key=lambda name: means[name]), means
