"""MF: how close a node is to the mean of its class (Zhou and Cao, 2021, ER-GNN)."""

import numpy as np
from numpy.typing import NDArray

from evergraph.scores.base import NodeScores, ScoreContext, ScoreEntry

ALL_FEATURES = "the features of all nodes at once, whatever the budget"


def mean_feature_score(context: ScoreContext) -> NodeScores:
    """Minus the distance to the mean of the node's class, in features or in the hidden layer."""
    vectors, labels = context.vectors(), context.task.train_labels
    result = np.empty(len(labels))
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        points = vectors[members]
        mean = np.asarray(points.mean(axis=0), dtype=np.float64)
        result[members] = -np.sqrt(np.maximum(squared_norms(points) - 2 * (points @ mean) + mean @ mean, 0))
    return NodeScores(result)


def squared_norms(points: NDArray[np.float32]) -> NDArray[np.float64]:
    """|x|² of each row of a dense or sparse matrix."""
    if isinstance(points, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", points, points, dtype=np.float64))
    return np.asarray(points.multiply(points).sum(axis=1), dtype=np.float64)


MEAN_FEATURE = ScoreEntry(
    "closest to the mean of the class (MF)",
    "Zhou and Cao, AAAI 2021",
    mean_feature_score,
    needs_features=True,
    on_disk=ALL_FEATURES,
)
