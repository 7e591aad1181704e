"""The table of scores; each is one function of a task and a model."""

from evergraph.registry import Registry
from evergraph.scores.base import NodeScores, Scope, ScoreContext, ScoreEntry, Space
from evergraph.scores.coverage import COVERAGE
from evergraph.scores.gradient_norm import GRAND
from evergraph.scores.hps import HPS
from evergraph.scores.mean_feature import MEAN_FEATURE
from evergraph.scores.simple import DEGREE, RANDOM

__all__ = ["SCORES", "NodeScores", "Scope", "ScoreContext", "ScoreEntry", "Space"]

SCORES: Registry[ScoreEntry] = Registry(
    "score",
    {"grand": GRAND, "hps": HPS, "random": RANDOM, "mf": MEAN_FEATURE, "cm": COVERAGE, "degree": DEGREE},
    entry_type=ScoreEntry,
    plugins="evergraph.scores",
)
"""Scores by name; `SCORES[name].score` is the function."""
