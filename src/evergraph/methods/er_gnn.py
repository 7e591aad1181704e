"""ER-GNN: replay of single nodes, without edges, chosen by their features (Zhou and Cao, 2021)."""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

import numpy as np
from pydantic import Field
from scipy import sparse

from evergraph.config import Settings
from evergraph.data.graph import Graph
from evergraph.data.stream import TaskView
from evergraph.methods.base import Learner, MethodEntry
from evergraph.replay.buffer import ReplayBuffer
from evergraph.replay.selection import Chosen, Selection, choose_per_class
from evergraph.scores import SCORES, ScoreContext, Space
from evergraph.seeding import Purpose, numpy_generator
from evergraph.training.net import Net
from evergraph.watch import Watch


class NodeScore(Enum):
    """MF: closest to the mean of the class; CM: fewest nodes of other classes within `distance`."""

    MF = "mf"
    CM = "cm"


class Moment(Enum):
    """When a task's nodes are chosen: before it is learned, as the field's public benchmark does, or after.

    Nodes that are chosen before are replayed from then on, so while their own task is learned, too.
    """

    BEFORE = "before"
    AFTER = "after"


class ERGNNConfig(Settings):
    """budget: nodes of each class; space: where nodes are compared; moment: when they are chosen."""

    budget: int = Field(60, ge=1)
    score: NodeScore = NodeScore.MF
    space: Space = Space.FEATURES
    moment: Moment = Moment.AFTER
    distance: float = Field(0.5, gt=0)


class ERGNNCoverageConfig(ERGNNConfig):
    """The same, choosing by coverage."""

    score: NodeScore = NodeScore.CM


class ERGNN(Learner):
    """β_e · loss + (1 - β_e) · replay loss, with β_e = |B| / (|B| + |V_t|); the first task has the loss alone."""

    def __init__(self, net: Net, config: ERGNNConfig):
        self.config = config
        self.buffer = ReplayBuffer()
        super().__init__(net, self.buffer)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)
        first = self.buffer.graph is None
        if self.config.moment is Moment.BEFORE:
            self.store(task, watch)
        stored = self.buffer.memory().nodes
        share = 1.0 if first else stored / (stored + len(task.train))
        current = self.net.batch(task.graph, task.train, task.train_labels, share)
        replayed = [] if first else self.buffer.batches(self.net, 1 - share)
        self.net.fit(task, [current, *replayed], watch)
        if self.config.moment is Moment.AFTER:
            self.store(task, watch)

    def store(self, task: TaskView, watch: Watch) -> None:
        """Choose nodes of a task and keep them."""
        with watch.phase("select"):
            chosen = self.buffer.admit(task, self.chosen(task), self.config.budget)
            self.buffer.store(task, chosen, graph=without_edges(task.graph))

    def chosen(self, task: TaskView) -> Chosen:
        """The training nodes to keep: the budget's worth of each class with the highest score."""
        config = self.config
        rng = numpy_generator(self.net.seed, Purpose.SELECTION, task.index)
        context = ScoreContext(task, self.net, rng, space=config.space, distance=config.distance)
        scores = SCORES[config.score.value].score(context).value
        return choose_per_class(scores, task.train_labels, config.budget, Selection.DETERMINISTIC, rng)


def without_edges(graph: Graph) -> Graph:
    """The same nodes in a graph in which none has a neighbour."""
    return replace(graph, adjacency=sparse.csr_array(graph.adjacency.shape, dtype=np.float32))


PAPER = "Zhou and Cao, AAAI 2021"
MEAN_FEATURE = MethodEntry("replays nodes near the mean of their class, no edges", PAPER, ERGNNConfig, ERGNN)
COVERAGE = MethodEntry("replays nodes far from other classes, no edges", PAPER, ERGNNCoverageConfig, ERGNN)
