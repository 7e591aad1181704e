"""TEM: replay of topology-aware embeddings, rows that stand for whole neighbourhoods (Zhang et al., KDD 2024)."""

from collections.abc import Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from evergraph.data.stream import TaskView
from evergraph.methods.base import MethodEntry
from evergraph.methods.decoupled import Decoupled, DecoupledConfig, rows_part
from evergraph.replay.propagation import neighbourhood_sizes
from evergraph.replay.selection import Chosen, Selection, choose_per_class
from evergraph.seeding import Purpose, numpy_generator
from evergraph.watch import Watch


class Sampling(Enum):
    """In proportion to what nodes of a class are drawn.

    COVERAGE: the number of nodes within L hops, which training on the row reaches too. DEGREE: those within one
    hop, the surrogate of the public code. RANDOM: all alike.
    """

    COVERAGE = "coverage"
    DEGREE = "degree"
    RANDOM = "random"


class TEMConfig(DecoupledConfig):
    """Which rows are kept, and their weight in the loss."""

    sampling: Sampling = Sampling.COVERAGE
    """In proportion to what nodes of a class are drawn."""
    replay_weight: float = Field(1.0, ge=0)
    """λ of loss + λ · replay loss."""


class TEM(Decoupled):
    """Loss of the task's aggregated rows + λ · loss of the kept ones; then some of each class are kept."""

    config: TEMConfig

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.begin(task)
        rows = self.embedded(task.graph, task.train)
        replayed = self.buffer.parts(task, self.config.replay_weight)
        self.net.fit(task, self.net.planned([rows_part(rows, task.train_labels), *replayed], self.config), watch)
        with watch.phase("select"):
            chosen = self.buffer.admit(task, self.chosen(task), self.config.budget)
            self.buffer.store(task, chosen, rows[chosen.at])

    def chosen(self, task: TaskView) -> Chosen:
        """The training nodes to keep: the budget's worth of each class, drawn without replacement."""
        rng = numpy_generator(self.net.seed, Purpose.SELECTION, task.index)
        scores = self.sizes(task).astype(np.float64)
        return choose_per_class(scores, task.train_labels, self.config.budget, Selection.PROBABILISTIC, rng)

    def sizes(self, task: TaskView) -> NDArray[np.int64]:
        """What the chance of each training node is in proportion to."""
        if self.config.sampling is Sampling.RANDOM:
            return np.ones(len(task.train), dtype=np.int64)
        hops = self.config.hops if self.config.sampling is Sampling.COVERAGE else 1
        return neighbourhood_sizes(task.graph, task.train, hops)


ENTRY = MethodEntry("replays rows that stand for neighbourhoods; an MLP", "Zhang et al., KDD 2024", TEMConfig, TEM)
