"""CaT: each task is condensed to a few made-up rows, and the model is trained on these alone (Liu et al., 2023).

Matched and classified are the same rows: the features are propagated as often as the model looks (2 hops), and the
classifier is an MLP on them. In the paper the rows match one hop, while a GCN of two layers predicts.
"""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from evergraph.data.stream import TaskView
from evergraph.methods.base import MethodEntry
from evergraph.methods.decoupled import Decoupled, DecoupledConfig
from evergraph.replay.condensation import Condensation
from evergraph.replay.propagation import Aggregation
from evergraph.replay.selection import Selection, choose_per_class
from evergraph.seeding import Purpose, numpy_generator, torch_generator
from evergraph.watch import Watch


class CaTConfig(DecoupledConfig):
    """The condensation; the budget counts made-up rows of each class."""

    aggregation: Aggregation = Aggregation.SGC
    encoders: int = Field(100, ge=1)
    """Random encoders in which made-up and real rows are matched, one after the other."""
    steps: int = Field(10, ge=1)
    """Steps of the optimiser for each encoder."""
    width: int = Field(512, ge=1)
    """Outputs of an encoder."""
    feature_lr: float = Field(1e-3, gt=0)
    """Learning rate of the made-up features."""


class CaT(Decoupled):
    """Condenses a task, then trains in memory: on the made-up rows of all tasks so far, this one included."""

    config: CaTConfig
    in_batches = False  # there are few rows

    def learn(self, task: TaskView, past: Sequence[TaskView], watch: Watch) -> None:
        self.begin(task)
        with watch.phase("select"):
            self.condense(task)
        self.net.fit(task, self.net.planned(self.buffer.parts(task, 1.0), self.config), watch)

    def condense(self, task: TaskView) -> list[float]:
        """Keep made-up rows of a task, which begin as different nodes of each class; the losses on the way.

        Where a class comes back, its budget is divided in proportion to the nodes: the rows of earlier tasks and
        the new ones compete in the draw of the nodes that they began as.
        """
        config, labels = self.config, task.train_labels
        rng = numpy_generator(self.net.seed, Purpose.SELECTION, task.index)
        chance = rng.random(len(labels))
        start = choose_per_class(chance, labels, config.budget, Selection.DETERMINISTIC, rng)
        start = self.buffer.admit(task, start, config.budget)
        if not len(start.at):
            return []
        rows = self.embedded(task.graph, task.train)
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        condensation = Condensation(config.encoders, config.steps, config.width, config.feature_lr)
        generator = torch_generator(self.net.seed, Purpose.SELECTION, task.index)
        made, losses = condensation.fit(dense, labels, start.at, generator)
        self.buffer.store(task, start, made)
        return losses


ENTRY = MethodEntry("trains an MLP on condensed tasks only", "Liu et al., ICDM 2023", CaTConfig, CaT)
