"""Scores: functions from a task and a model to one number for each training node."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evergraph.data.graph import Features
from evergraph.data.stream import TaskView
from evergraph.errors import ConfigError
from evergraph.hodge import Orientation, Solving

if TYPE_CHECKING:  # only some scores look at a model, and only those need torch
    from evergraph.training.net import Net


class Space(Enum):
    """Where distances between nodes are measured."""

    FEATURES = "features"
    HIDDEN = "hidden"


class Scope(Enum):
    """Whether topology scores use the task's graph or the whole graph."""

    TASK = "task"
    FULL = "full"


@dataclass(frozen=True)
class ScoreContext:
    """The arguments of a score."""

    task: TaskView
    """The task whose training nodes are scored."""
    net: "Net | None"
    """The model, which has learned the task; None where `evergraph score` asks a score without `needs_model`."""
    rng: np.random.Generator
    """The only source of randomness."""
    orientation: Orientation = Orientation.PAPER
    """Of the Hodge potential: its sign."""
    space: Space = Space.FEATURES
    """Of scores that compare nodes: where."""
    distance: float = 0.5
    """Of scores that compare nodes: how near is near."""
    scope: Scope = Scope.TASK
    """Of the Hodge potential: in which graph."""
    solving: Solving = field(default_factory=Solving)
    """Of the Hodge potential: how it is computed."""

    @property
    def trained(self) -> "Net":
        """The network that has learned the task."""
        if self.net is None:
            raise ConfigError(
                "a model is wanted, got none; the entry of a score that looks at one has needs_model=True"
            )
        return self.net

    def vectors(self) -> Features:
        """The training nodes as points: their features, or the input of the model's head."""
        features = self.task.graph.features
        if self.space is Space.FEATURES and features is not None:
            return features[self.task.train]
        hidden: NDArray[np.float32] = (
            self.trained.outputs(self.task.graph, self.task.train, head=False)().cpu().numpy()
        )
        return hidden


@dataclass(frozen=True)
class NodeScores:
    """The scores of a task's training nodes."""

    value: NDArray[np.float64]
    """(training nodes,) float64, finite, higher is kept first."""
    certificate: Mapping[str, Any] = field(default_factory=dict)
    """How exact it is, if known."""


Score = Callable[[ScoreContext], NodeScores]


@dataclass(frozen=True)
class ScoreEntry:
    """A score's entry in the table."""

    summary: str
    """One line on what it measures."""
    paper: str
    """Where it was published."""
    score: Score
    """From a ScoreContext to NodeScores."""
    needs_model: bool = False
    """Whether it looks at a trained model."""
    needs_features: bool = False
    """Whether it looks at features."""
    on_disk: str = ""
    """What it reads of a graph that stays on disk; where this is empty, it is refused there."""
