"""FTF-ER: replay of the nodes with the highest fused feature and topology score (Pang et al., ACM MM 2024).

Algorithm 1 of the paper is `learn`, line by line.
"""

from collections.abc import Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from evergraph.data.stream import TaskView
from evergraph.hodge import Orientation
from evergraph.methods.base import Learner, MethodEntry
from evergraph.replay.selection import Chosen, Selection, choose_per_class, mix
from evergraph.replay.storage import StorageConfig, empty_buffer, keep
from evergraph.scores import SCORES, Scope, ScoreContext, Space
from evergraph.scores.base import Score
from evergraph.scores.gradient_norm import absolute_score
from evergraph.scores.hps import misread_score
from evergraph.seeding import Purpose, numpy_generator
from evergraph.training.balance import BalanceConfig
from evergraph.training.net import Net, Parameters, Part
from evergraph.watch import Watch


class FeatureScore(Enum):
    """What ranks the nodes of a class by their features.

    GRAND: the norm of the gradient of a node's loss. GRAND_L1 sums absolute values, as the public code does.
    MF: closest to the mean of the class. CM: fewest nodes of other classes within `distance`. RANDOM: chance.
    NONE: the topology score alone decides.
    """

    GRAND = "grand"
    GRAND_L1 = "grand-l1"
    RANDOM = "random"
    MF = "mf"
    CM = "cm"
    NONE = "none"


class TopologyScore(Enum):
    """What ranks the nodes of a class by their place in the graph.

    HPS: the Hodge potential. MISREAD reproduces a mistake of the public code, by which every node gets the
    potential of another node. DEGREE: the number of neighbours. RANDOM: chance. NONE: the feature score alone
    decides.
    """

    HPS = "hps"
    MISREAD = "misread"
    RANDOM = "random"
    DEGREE = "degree"
    NONE = "none"


class FTFERConfig(StorageConfig, BalanceConfig):
    """The paper's settings and all of its ablations."""

    budget: int = Field(60, ge=1)
    """Nodes kept of each class."""
    beta: float = Field(0.5, ge=0, le=1)
    """β, the weight of the topology score in the fused score; 1 - β is that of the feature score."""
    selection: Selection = Selection.DETERMINISTIC
    """The nodes with the highest scores (det), or nodes drawn in proportion to the score (prob)."""
    feature_score: FeatureScore = FeatureScore.GRAND
    """What ranks the nodes of a class by their features."""
    topology_score: TopologyScore = TopologyScore.HPS
    """What ranks the nodes of a class by their place in the graph."""
    orientation: Orientation = Orientation.PAPER
    """The sign of the Hodge potential score."""
    scope: Scope = Scope.TASK
    """Whether topology scores use the task's graph or the whole graph."""
    space: Space = Space.FEATURES
    """For mf and cm: where nodes are compared, by their features or by the model's hidden layer."""
    distance: float = Field(0.5, gt=0)
    """Of cm: how close a node of another class must be to count."""
    snapshots: int = Field(1, ge=1)
    """Moments of training over which the feature score is averaged; 1 is its end."""
    replay_weight: float = Field(1.0, ge=0)
    """λ of loss + λ · replay loss."""

    @model_validator(mode="after")
    def _something_to_choose_by(self) -> "FTFERConfig":
        if self.feature_score is FeatureScore.NONE and self.topology_score is TopologyScore.NONE:
            raise ValueError("a feature score or a topology score is wanted, got none; for chance take random")
        return self


class FTFERProbConfig(FTFERConfig):
    """The same, drawing in proportion to the score."""

    selection: Selection = Selection.PROBABILISTIC


class FTFER(Learner):
    """Trains on the current task and the buffer, then scores the task's nodes and keeps some of each class."""

    def __init__(self, net: Net, config: FTFERConfig):
        self.config = config
        self.buffer = empty_buffer(config.storage)
        super().__init__(net, self.buffer)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        rng = numpy_generator(self.net.seed, Purpose.SELECTION, task.index)
        self.net.grow(task)
        batches = self.net.planned(
            [Part.of(task), *self.buffer.parts(task, self.config.replay_weight)], self.config
        )
        snapshots = self.net.fit(task, batches, watch, snapshots=self.config.snapshots)
        with watch.phase("score"):
            mixed = self.mixed_scores(task, snapshots, rng)
        with watch.phase("select"):
            keep(self.buffer, task, self.chosen(task, mixed, rng), self.config, self.config.budget, rng)

    def mixed_scores(
        self, task: TaskView, snapshots: Sequence[Parameters], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """S_mix of every training node, min-max normalised within its class; the loss score averaged over θ."""
        config = self.config
        context = ScoreContext(task, self.net, rng, config.orientation, config.space, config.distance, config.scope)
        zero = np.zeros(len(task.train))
        loss = topology = zero
        beta = config.beta
        if config.feature_score is FeatureScore.NONE:
            beta = 1.0
        else:
            score = _score(config.feature_score)
            loss = np.mean([score(context).value for _ in self.net.at_each(snapshots)], axis=0)
        if config.topology_score is TopologyScore.NONE:
            beta = 0.0
        else:
            topology = _score(config.topology_score)(context).value
        mixed = zero.copy()
        for label in task.classes:
            members = task.train_labels == label
            mixed[members] = mix(loss[members], topology[members], beta)
        return mixed

    def chosen(self, task: TaskView, mixed: NDArray[np.float64], rng: np.random.Generator) -> Chosen:
        """The training nodes to keep: the budget's worth of each class."""
        config = self.config
        return choose_per_class(mixed, task.train_labels, config.budget, config.selection, rng)


def _score(name: FeatureScore | TopologyScore) -> Score:
    """A score by its name in the settings; those of the public code are no scores of their own."""
    of_public_code: dict[Enum, Score] = {
        FeatureScore.GRAND_L1: absolute_score,
        TopologyScore.MISREAD: misread_score,
    }
    return of_public_code[name] if name in of_public_code else SCORES[name.value].score


PAPER = "Pang et al., ACM MM 2024"
DETERMINISTIC = MethodEntry("replays the nodes with the highest fused score", PAPER, FTFERConfig, FTFER)
PROBABILISTIC = MethodEntry("replays nodes drawn in proportion to the fused score", PAPER, FTFERProbConfig, FTFER)
