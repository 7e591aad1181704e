"""Probabilities from logits: a temperature, and the least probability of an answer, both from held-out nodes."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from evergraph.estimator.held_out import Outcome

ENOUGH = 20
"""Held-out nodes from which on a temperature is fitted."""
RANGE = (-7.0, 7.0)
"""Of the logarithm of the temperature."""


def fitted_temperature(tested: Outcome) -> float | None:
    """The T that makes softmax(logits / T) of held-out nodes most likely, every class alike; None for too few.

    As in Platt's scaling, of n nodes one is taken to have any class: else T would be 0 where all are right.
    """
    n = len(tested.labels)
    if n < ENOUGH:
        return None
    weight = 1 / np.bincount(tested.labels)[tested.labels]
    rows = np.arange(n)

    def loss(log_temperature: float) -> float:
        likely = log_softmax(tested.logits / np.exp(log_temperature), axis=1)
        own = n * likely[rows, tested.labels] + likely.mean(axis=1)
        return float(-np.average(own, weights=weight))

    return float(np.exp(minimize_scalar(loss, bounds=RANGE, method="bounded").x))


def probabilities(logits: NDArray[np.floating], temperature: float) -> NDArray[np.float64]:
    """softmax(logits / T): (rows, classes)."""
    return np.asarray(softmax(np.asarray(logits, dtype=np.float64) / temperature, axis=1))


def least_probability(tested: Outcome, temperature: float, share: float) -> float:
    """The probability below which a share of held-out nodes gets no answer; 0 where there are none."""
    if not len(tested.labels):
        return 0.0
    return float(np.quantile(probabilities(tested.logits, temperature).max(axis=1), share))
