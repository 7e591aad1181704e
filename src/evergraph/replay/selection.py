"""From scores to chosen nodes: min-max normalisation, the mix of two scores, and the selection per class."""

from enum import Enum

import numpy as np
from numpy.typing import NDArray

TINY = 1e-12
"""The weight of a node with score zero in a draw: it is drawn only when no other node is left."""


class Selection(Enum):
    """How nodes are selected by a score."""

    DETERMINISTIC = "det"
    PROBABILISTIC = "prob"


def normalised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(S - min S) / (max S - min S); a constant vector becomes zeros."""
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def mix(loss: NDArray[np.float64], topology: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """(1 - β) norm(S_loss) + β norm(S_topo), for the training nodes of one class."""
    return (1 - beta) * normalised(loss) + beta * normalised(topology)


def select(scores: NDArray[np.float64], budget: int, how: Selection, rng: np.random.Generator) -> NDArray[np.int64]:
    """The positions of the nodes to keep, ascending; all of them if the budget allows it.

    DETERMINISTIC takes the highest scores, equal ones in the given order. PROBABILISTIC draws without replacement,
    each time with probabilities proportional to the scores of the remaining nodes (Gumbel-top-k).
    """
    if budget >= len(scores):
        return np.arange(len(scores))
    keys = scores
    if how is Selection.PROBABILISTIC:
        keys = np.log(np.maximum(scores, TINY)) + rng.gumbel(size=len(scores))
    return np.sort(np.argsort(-keys, kind="stable")[:budget])


def select_per_class(
    scores: NDArray[np.float64], labels: NDArray[np.int64], budget: int, how: Selection, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The positions of the nodes to keep, ascending: at most `budget` of each class."""
    kept = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        kept.append(members[select(scores[members], budget, how, rng)])
    return np.sort(np.concatenate(kept))
