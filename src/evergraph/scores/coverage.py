"""CM: how few nodes of other classes are near a node (Zhou and Cao, 2021, ER-GNN)."""

import numpy as np
from numpy.typing import NDArray

from evergraph.data.graph import Features
from evergraph.scores.base import NodeScores, ScoreContext, ScoreEntry
from evergraph.scores.mean_feature import ALL_FEATURES, squared_norms

BLOCK = 2048


def coverage_score(context: ScoreContext) -> NodeScores:
    """Minus the number of training nodes of other classes within `distance`."""
    vectors, labels = context.vectors(), context.task.train_labels
    result = np.empty(len(labels))
    norms = squared_norms(vectors)
    for start in range(0, len(labels), BLOCK):
        rows = slice(start, start + BLOCK)
        squared = norms[rows, None] + norms[None, :] - 2 * _products(vectors[rows], vectors)
        near = (squared <= context.distance**2) & (labels[rows, None] != labels[None, :])
        result[rows] = -near.sum(axis=1)
    return NodeScores(result)


def _products(rows: Features, every: Features) -> NDArray[np.float64]:
    products = rows @ every.T
    return np.asarray(products if isinstance(products, np.ndarray) else products.toarray(), dtype=np.float64)


COVERAGE = ScoreEntry(
    "fewest nodes of other classes nearby (CM)",
    "Zhou and Cao, AAAI 2021",
    coverage_score,
    needs_features=True,
    on_disk=ALL_FEATURES,
)
