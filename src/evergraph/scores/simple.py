"""Two baseline scores: random, and the degree."""

import numpy as np

from evergraph.data.on_disk import row_counts
from evergraph.scores.base import NodeScores, ScoreContext, ScoreEntry


def random_score(context: ScoreContext) -> NodeScores:
    """Uniform numbers: the top of them is a sample without replacement."""
    return NodeScores(context.rng.random(len(context.task.train)))


def degree_score(context: ScoreContext) -> NodeScores:
    """The number of neighbours in the task's graph."""
    degrees = row_counts(context.task.graph.adjacency)
    return NodeScores(degrees[context.task.train].astype(np.float64))


RANDOM = ScoreEntry("uniformly at random", "", random_score, on_disk="labels alone")
DEGREE = ScoreEntry("number of neighbours in the task's graph", "", degree_score, on_disk="edges in blocks")
