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
    """The arguments of a score. `net` has learned the task; `rng` is the only source of randomness.

    net: None where `evergraph score` asks a score whose entry has not `needs_model`; `trained` is never None.

    orientation, scope, solving: of the Hodge potential; space, distance: of scores that compare nodes.
    """

    task: TaskView
    net: "Net | None"
    rng: np.random.Generator
    orientation: Orientation = Orientation.PAPER
    space: Space = Space.FEATURES
    distance: float = 0.5
    scope: Scope = Scope.TASK
    solving: Solving = field(default_factory=Solving)

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
    """value: (training nodes,) float64, finite, higher is kept first; certificate: how exact it is, if known."""

    value: NDArray[np.float64]
    certificate: Mapping[str, Any] = field(default_factory=dict)


Score = Callable[[ScoreContext], NodeScores]


@dataclass(frozen=True)
class ScoreEntry:
    """A score's entry in the table."""

    summary: str
    paper: str
    score: Score
    needs_model: bool = False
    needs_features: bool = False
