"""From scores to chosen nodes: min-max normalisation, the mix of two scores, and the selection per class."""

from dataclasses import dataclass
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
    return top(sort_keys(scores, how, rng), budget)


def sort_keys(scores: NDArray[np.float64], how: Selection, rng: np.random.Generator) -> NDArray[np.float64]:
    """The keys by whose order nodes are chosen: the score, or its logarithm plus Gumbel noise.

    The b highest keys of several groups together are what a choice of b from all of them would be.
    """
    if how is Selection.DETERMINISTIC:
        return scores
    noisy: NDArray[np.float64] = np.log(np.maximum(scores, TINY)) + rng.gumbel(size=len(scores))
    return noisy


def top(keys: NDArray[np.float64], budget: int) -> NDArray[np.int64]:
    """The positions of the highest keys, ascending; of equal ones, those that come first."""
    return np.sort(np.argsort(-keys, kind="stable")[:budget])


@dataclass(frozen=True)
class Chosen:
    """Chosen nodes: their positions, ascending, and the keys by which they were chosen."""

    at: NDArray[np.int64]
    keys: NDArray[np.float64]


def choose_per_class(
    scores: NDArray[np.float64],
    labels: NDArray[np.int64],
    budget: int,
    how: Selection,
    rng: np.random.Generator,
) -> Chosen:
    """The nodes to keep: the budget's worth of each class.

    A class that is kept as a whole needs no draw from `rng`; its keys come from a generator of their own.
    """
    keys = np.empty(len(scores))
    (spare,) = rng.spawn(1)
    kept = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        keys[members] = sort_keys(scores[members], how, rng if budget < len(members) else spare)
        kept.append(members[top(keys[members], budget)])
    at = np.sort(np.concatenate(kept))
    return Chosen(at, keys[at])


def select_per_class(
    scores: NDArray[np.float64], labels: NDArray[np.int64], budget: int, how: Selection, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The positions of the nodes to keep, ascending: at most `budget` of each class."""
    return choose_per_class(scores, labels, budget, how, rng).at


def winners(labels: NDArray[np.int64], keys: NDArray[np.float64], budget: int) -> NDArray[np.bool_]:
    """Which nodes have the `budget` highest keys of their class, of equal ones the first: (nodes,)."""
    wins = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        wins[members[top(keys[members], budget)]] = True
    return wins
