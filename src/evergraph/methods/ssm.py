"""SSM: replay of nodes at random with a sample of their neighbourhood (Zhang et al., 2022)."""

from collections.abc import Sequence

from pydantic import Field

from evergraph.data.stream import TaskView
from evergraph.methods.base import Learner, MethodEntry
from evergraph.replay.buffer import ReplayBuffer
from evergraph.replay.neighbours import NeighbourStorage, neighbour_budget, sample_neighbours
from evergraph.replay.selection import Selection, choose_per_class
from evergraph.seeding import Purpose, numpy_generator
from evergraph.training.balance import BalanceConfig
from evergraph.training.net import Net, Part
from evergraph.watch import Watch


class SSMConfig(BalanceConfig):
    """How many nodes and neighbours are kept, and their weight in the loss."""

    budget: int = Field(60, ge=1)
    """Centre nodes kept of each class."""
    neighbours: NeighbourStorage = NeighbourStorage.DEGREE
    """Which neighbours are kept beside them."""
    neighbour_budget: int = Field(60, ge=1)
    """Neighbours kept for each class and hop."""
    hops: int = Field(2, ge=1)
    """How far neighbours may be from the centre nodes."""
    replay_weight: float = Field(1.0, ge=0)
    """λ of loss + λ · replay loss."""


class SSMRandomConfig(SSMConfig):
    """The same, drawing neighbours uniformly."""

    neighbours: NeighbourStorage = NeighbourStorage.RANDOM


class SSM(Learner):
    """Loss + λ · loss of the centre nodes in the sparsified subgraphs; their neighbours only send messages."""

    def __init__(self, net: Net, config: SSMConfig):
        self.config = config
        self.buffer = ReplayBuffer()
        super().__init__(net, self.buffer)

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.net.grow(task)
        replayed = self.buffer.parts(task, self.config.replay_weight)
        self.net.fit(task, self.net.planned([Part.of(task), *replayed], self.config), watch)
        with watch.phase("select"):
            self._store(task)

    def _store(self, task: TaskView) -> None:
        """Add the subgraph of centres and sampled neighbours; a neighbour is stored without its label."""
        config = self.config
        rng = numpy_generator(self.net.seed, Purpose.SELECTION, task.index)
        chance = rng.random(len(task.train))
        centres = choose_per_class(chance, task.train_labels, config.budget, Selection.DETERMINISTIC, rng)
        centres = self.buffer.admit(task, centres, config.budget, config.hops)
        budget = neighbour_budget(task, len(centres.at), config.neighbour_budget, config.budget)
        nodes = task.train[centres.at]
        extra = sample_neighbours(task.graph, nodes, config.neighbours, budget, config.hops, rng)
        self.buffer.store(task, centres, extra)


PAPER = "Zhang et al., ICDM 2022"
DEGREE = MethodEntry("replays random nodes with neighbours drawn by degree", PAPER, SSMConfig, SSM)
RANDOM = MethodEntry("replays random nodes with neighbours drawn uniformly", PAPER, SSMRandomConfig, SSM)
