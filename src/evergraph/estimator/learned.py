"""Learned: all that a classifier has learned; the steps that change it are learning, forgetting and merging."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evergraph.data.graph import GlobalIds, Graph, LocalIds
from evergraph.data.on_disk import as_arrays, is_on_disk
from evergraph.data.preprocess import Preprocessing, preprocess
from evergraph.data.stream import HIDDEN, TaskView
from evergraph.errors import ConfigError, DataError
from evergraph.estimator.calibration import probabilities
from evergraph.estimator.doubts import LENGTHS_UNSEEN, unlike_before
from evergraph.estimator.held_out import HeldOut
from evergraph.estimator.history import Step
from evergraph.estimator.keys import Origin, checksums
from evergraph.estimator.ledger import Ledger
from evergraph.estimator.names import Label, check_names
from evergraph.estimator.prepared import Prepared, n_inputs, with_constant
from evergraph.estimator.settings import Answers
from evergraph.methods.base import Learner
from evergraph.methods.hop_features import Codes
from evergraph.methods.statistics_learner import StatisticsLearner
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.tables import Batch, FeatureSchema
from evergraph.watch import Watch

UNTRAINED_TEMPERATURE = 0.1
"""For scores of statistics learners, which lie between 0 and 1, until there are held-out nodes to fit one."""
Checks: TypeAlias = NDArray[np.uint64]


@dataclass
class Learned:
    """returns: whether classes may come back; not in classifiers that were saved by earlier versions.

    origins: of each batch, in the order of its number; those of a merged classifier follow.
    """

    config: RunConfig
    schema: FeatureSchema
    learner: Learner
    answers: Answers
    classes: list[Label] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    held_out: HeldOut = field(default_factory=HeldOut)
    temperature: float | None = None
    below: float = 0.0
    returns: bool = True
    history: list[Step] = field(default_factory=list)

    def prepare(self, batch: Batch, *, came_in: int | None = None) -> Prepared:
        """Features and keys; came_in: the batch in which nodes without ids came, where it is not a new one."""
        features, remarks = self.schema.encode_with_remarks(batch)
        if self.schema.width is not None:
            features = preprocess(features, self.config.stream.preprocessing, np.arange(batch.n_nodes))
        else:
            features = with_constant(features)
        hidden = np.full(batch.n_nodes, HIDDEN, dtype=np.int64)
        graph = Graph(batch.adjacency, features, hidden, np.arange(batch.n_nodes), directed=batch.directed)
        if is_on_disk(graph) and not self.learner.reads_blocks:
            graph = as_arrays(graph)
        remarks = (*remarks, *unlike_before(batch, self.history))
        if self.schema.width is not None and not self.history and self._sees_directions:
            remarks = (*remarks, LENGTHS_UNSEEN)
        return Prepared(batch, graph, self.batches if came_in is None else came_in, (*batch.remarks, *remarks))

    @property
    def _sees_directions(self) -> bool:
        """Whether features that are numbers already lose their lengths."""
        scaled = self.config.stream.preprocessing in (Preprocessing.ROW_L1, Preprocessing.ROW_L2)
        return scaled or isinstance(self.learner, StatisticsLearner)

    @property
    def batches(self) -> int:
        """How many were learned."""
        return len(self.origins)

    def origin(self, batch: int) -> Origin:
        """A batch by its number; ConfigError for one that there is not."""
        if isinstance(batch, bool) or not isinstance(batch, int | np.integer) or not 0 <= batch < self.batches:
            raise ConfigError(
                f"the number of one of the {self.batches} batches, from 0, is wanted, got batch={batch!r}"
            )
        return self.origins[batch]

    def view(self, prepared: Prepared, rows: NDArray[np.int64], labels: NDArray[np.int64]) -> TaskView:
        shown = prepared.graph.labels.copy()
        shown[rows] = labels
        return TaskView(
            self.batches,
            tuple(np.unique(labels).tolist()),
            replace(prepared.graph, labels=shown),
            GlobalIds(prepared.keys),
            LocalIds(rows),
            classes_return=self.returns,
            forgettable=self.returns,
        )

    def check_names(self, names: Sequence[Label]) -> None:
        rejecting = self.answers.reject is not None or self.answers.reject_below is not None
        check_names(names, self.classes, rejecting=rejecting)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Whatever goes wrong inside leaves the learner as it was."""
        before = {name: value.clone() for name, value in self.learner.state().items()} if self.batches else None
        try:
            yield
        except BaseException:
            self.learner = make_learner(self.config, self.n_features)
            if before is not None:
                self.learner.load_state(before)
            raise

    @property
    def n_features(self) -> int:
        return n_inputs(self.schema)

    def learn(self, prepared: Prepared, rows: NDArray[np.int64], labels: NDArray[np.int64], watch: Watch) -> Checks:
        """Let the learner learn rows; the checksum of each, taken on the way where this process adds them up."""
        found: list[Checks] = []
        task, learner = self.view(prepared, rows, labels), self.learner
        if not isinstance(learner, StatisticsLearner):
            learner.learn(task, (), watch)
            return self.checks(prepared.graph, rows)
        with learner.witnessed(lambda codes: found.append(_checksums(codes))):
            learner.learn(task, (), watch)
        if sum(map(len, found)) < len(rows):  # workers have added them up
            return self.checks(prepared.graph, rows)
        return np.concatenate([np.zeros(0, dtype=np.uint64), *found])

    def checks(self, graph: Graph, rows: NDArray[np.int64]) -> Checks:
        """A checksum of what was taken in of each row; zeros for methods that cannot take it out again."""
        if not isinstance(self.learner, StatisticsLearner):
            return np.zeros(len(rows), dtype=np.uint64)
        blocks = self.learner.features.on(graph).in_blocks(rows)
        found = [_checksums(codes) for _, codes in blocks]
        return np.concatenate([np.zeros(0, dtype=np.uint64), *found])

    @property
    def used_temperature(self) -> float:
        if self.temperature is not None:
            return self.temperature
        return UNTRAINED_TEMPERATURE if isinstance(self.learner, StatisticsLearner) else 1.0

    def logits(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """One number for each row and each class; -inf for a class of which no learned node is left."""
        if self.returns and not len(self.ledger):
            raise DataError("a model that knows at least one node is wanted, got one that forgot all; learn first")
        logits: NDArray[np.float32] = self.learner.logits(graph, rows).cpu().numpy()
        empty = self.ledger.counts(len(self.classes)) == 0
        if len(self.ledger) and empty.any():
            logits = logits.copy()
            logits[:, empty] = -np.inf
        return logits

    def probabilities(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """Calibrated where there are held-out nodes."""
        return probabilities(self.logits(graph, rows), self.used_temperature)

    def check_outputs(self) -> None:
        """ValueError where the learner does not have an output for each class."""
        learner = self.learner
        came = learner.statistics.n_classes if isinstance(learner, StatisticsLearner) else learner.net.n_classes
        if came != len(self.classes):
            raise ValueError(f"{len(self.classes)} classes are wanted, got {came} instead")

    @property
    def nbytes(self) -> int:
        return sum(self.memory().values())

    def memory(self) -> dict[str, int]:
        """Bytes of what is kept of the past, by part."""
        return {
            "learner": self.learner.memory().bytes,
            "ledger": self.ledger.nbytes,
            "held_out": self.held_out.nbytes,
        }


def _checksums(codes: Codes) -> Checks:
    return checksums(codes.transpose(1, 0, 2))
