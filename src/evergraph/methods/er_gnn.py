"""ER-GNN: replay of single nodes, by default without edges, chosen by their features (Zhou and Cao, 2021)."""

from collections.abc import Sequence
from enum import Enum

from pydantic import Field

from evergraph.data.stream import TaskView
from evergraph.methods.base import Learner, MethodEntry
from evergraph.replay.selection import Chosen, Selection, choose_per_class
from evergraph.replay.storage import Storage, StorageConfig, empty_buffer, keep
from evergraph.scores import SCORES, ScoreContext, Space
from evergraph.seeding import Purpose, numpy_generator
from evergraph.training.balance import BalanceConfig
from evergraph.training.net import Net, Part
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


class ERGNNConfig(StorageConfig, BalanceConfig):
    """Which nodes are kept, when they are chosen and how they are stored."""

    storage: Storage = Storage.NODES
    budget: int = Field(60, ge=1)
    """Nodes kept of each class."""
    score: NodeScore = NodeScore.MF
    """What nodes are chosen by."""
    space: Space = Space.FEATURES
    """Where nodes are compared: by their features, or by the model's hidden layer."""
    moment: Moment = Moment.AFTER
    """When a task's nodes are chosen."""
    distance: float = Field(0.5, gt=0)
    """Of cm: how close a node of another class must be to count."""


class ERGNNCoverageConfig(ERGNNConfig):
    """The same, choosing by coverage."""

    score: NodeScore = NodeScore.CM


class ERGNN(Learner):
    """β_e · loss + (1 - β_e) · replay loss, with β_e = |B| / (|B| + |V_t|); the first task has the loss alone."""

    def __init__(self, net: Net, config: ERGNNConfig):
        self.config = config
        self.buffer = empty_buffer(config.storage)
        super().__init__(net, self.buffer)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)
        first = not self.buffer.n_replayed
        if self.config.moment is Moment.BEFORE:
            self.store(task, watch)
        stored = self.buffer.n_replayed
        share = 1.0 if first else stored / (stored + len(task.train))
        replayed = [] if first else self.buffer.parts(task, 1 - share)
        self.net.fit(task, self.net.planned([Part.of(task, share), *replayed], self.config), watch)
        if self.config.moment is Moment.AFTER:
            self.store(task, watch)

    def store(self, task: TaskView, watch: Watch) -> None:
        """Choose nodes of a task and keep them."""
        with watch.phase("select"):
            rng = numpy_generator(self.net.seed, Purpose.SELECTION, task.index)
            keep(self.buffer, task, self.chosen(task), self.config, self.config.budget, rng)

    def chosen(self, task: TaskView) -> Chosen:
        """The training nodes to keep: the budget's worth of each class with the highest score."""
        config = self.config
        rng = numpy_generator(self.net.seed, Purpose.SELECTION, task.index)
        context = ScoreContext(task, self.net, rng, space=config.space, distance=config.distance)
        scores = SCORES[config.score.value].score(context).value
        return choose_per_class(scores, task.train_labels, config.budget, Selection.DETERMINISTIC, rng)


PAPER = "Zhou and Cao, AAAI 2021"
MEAN_FEATURE = MethodEntry("replays nodes near the mean of their class, no edges", PAPER, ERGNNConfig, ERGNN)
COVERAGE = MethodEntry("replays nodes far from other classes, no edges", PAPER, ERGNNCoverageConfig, ERGNN)
