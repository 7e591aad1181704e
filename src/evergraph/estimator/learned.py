"""Learned: all that a classifier has learned, and the steps that change it, each as a whole or not at all."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import Features, GlobalIds, Graph, LocalIds
from evergraph.data.on_disk import as_arrays, is_on_disk
from evergraph.data.preprocess import preprocess
from evergraph.data.stream import HIDDEN, TaskView
from evergraph.errors import ConfigError, DataError
from evergraph.estimator.calibration import fitted_temperature, least_probability, probabilities
from evergraph.estimator.doubts import doubts, unlike_before, weighted
from evergraph.estimator.held_out import HeldOut, Outcome, degrees_of
from evergraph.estimator.history import Rejection, Step, class_accuracies
from evergraph.estimator.keys import chances, checksums, node_keys, row_keys
from evergraph.estimator.ledger import Ledger
from evergraph.estimator.names import Label, check_names, in_order, spelled
from evergraph.methods.base import Learner
from evergraph.methods.statistics_learner import StatisticsLearner
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.tables import Batch, FeatureSchema
from evergraph.watch import Watch

UNTRAINED_TEMPERATURE = 0.1
"""For scores of statistics learners, which lie between 0 and 1, until there are held-out nodes to fit one."""


@dataclass(frozen=True)
class Prepared:
    """A batch as learners see it: all labels hidden; came_in: which batch nodes without ids came in."""

    batch: Batch
    graph: Graph
    came_in: int
    remarks: tuple[str, ...]

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """A key for each node; a prediction does without."""
        if self.batch.named:
            return node_keys(self.batch.ids)
        assert self.graph.features is not None
        return row_keys(self.came_in, self.graph.features)


@dataclass(frozen=True)
class Plan:
    """What a batch brings: the classes after it, the rows and class indices to learn and those to keep aside.

    known: labelled nodes that were learned before and are context now.
    """

    classes: list[Label]
    train: NDArray[np.int64]
    labels: NDArray[np.int64]
    aside: NDArray[np.int64]
    aside_labels: NDArray[np.int64]
    known: int


@dataclass(frozen=True)
class Answers:
    """How held-out nodes are answered: the share kept aside, and when no answer is given."""

    holdout: float
    seed: int
    reject: float | None
    reject_below: float | None


@dataclass(frozen=True)
class Forgotten:
    """What `forget` did: how many nodes, whether it is as if they had never been seen, and that in a sentence."""

    nodes: int
    exact: bool
    statement: str


@dataclass
class Learned:
    """returns: whether classes may come back; not in classifiers that were saved by earlier versions."""

    config: RunConfig
    schema: FeatureSchema
    learner: Learner
    answers: Answers
    classes: list[Label] = field(default_factory=list)
    batches: int = 0
    ledger: Ledger = field(default_factory=Ledger)
    held_out: HeldOut = field(default_factory=HeldOut)
    temperature: float | None = None
    below: float = 0.0
    returns: bool = True
    history: list[Step] = field(default_factory=list)

    # from a batch to what learners see

    def prepare(self, batch: Batch, *, came_in: int | None = None) -> Prepared:
        """Features and keys; came_in: the batch in which nodes without ids came, where it is not a new one."""
        features, remarks = self.schema.encode_with_remarks(batch)
        if self.schema.width is not None:
            features = preprocess(features, self.config.stream.preprocessing, np.arange(batch.n_nodes))
        else:
            features = _with_constant(features)
        hidden = np.full(batch.n_nodes, HIDDEN, dtype=np.int64)
        graph = Graph(batch.adjacency, features, hidden, np.arange(batch.n_nodes), directed=batch.directed)
        if is_on_disk(graph) and not self.learner.reads_blocks:
            graph = as_arrays(graph)
        remarks = (*remarks, *unlike_before(batch, self.history))
        return Prepared(batch, graph, self.batches if came_in is None else came_in, (*batch.remarks, *remarks))

    def plan(self, prepared: Prepared) -> Plan:
        """Which nodes to learn; DataError where there are none or where one was learned as another class."""
        batch = prepared.batch
        labelled = np.flatnonzero(batch.labelled)
        if not len(labelled):
            raise DataError(f"nodes with labels are wanted, got none; {GIVE_LABELS}")
        names: list[Label] = spelled(batch.labels[labelled], self.classes).tolist()
        self._check_names(names)
        classes = [*self.classes, *in_order(set(names) - set(self.classes))]
        index = {name: place for place, name in enumerate(classes)}
        labels = np.fromiter((index[name] for name in names), dtype=np.int64, count=len(names))
        known = self._known(prepared, labelled, labels)
        rows, labels = labelled[~known], labels[~known]
        if not len(rows):
            raise DataError(
                f"nodes that were not learned before are wanted, got {len(known):,} that were; nothing has changed"
            )
        if not self.returns and labels.min() < len(self.classes):
            raise DataError(
                f"new classes only are wanted for a classifier that an earlier version saved, got "
                f"{classes[int(labels.min())]!r} again; learn it anew"
            )
        chance = chances(prepared.keys[rows], self.answers.seed)
        aside = self.held_out.chosen(chance, labels, self.answers.holdout)
        return Plan(classes, rows[~aside], labels[~aside], rows[aside], labels[aside], int(known.sum()))

    def _check_names(self, names: Sequence[Label]) -> None:
        rejecting = self.answers.reject is not None or self.answers.reject_below is not None
        check_names(names, self.classes, rejecting=rejecting)

    def _known(
        self, prepared: Prepared, labelled: NDArray[np.int64], labels: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Which labelled nodes were learned or kept aside before."""
        known = np.zeros(len(labelled), dtype=bool)
        for part in (self.ledger, self.held_out.as_ledger()):
            place = part.find(prepared.keys[labelled])
            here = place >= 0
            other = np.flatnonzero(here)[part.labels[place[here]] != labels[here]]
            if len(other):
                at, was = labelled[other[0]], self.classes[int(part.labels[place[other[0]]])]
                raise DataError(
                    f"node {prepared.batch.ids[at]!s} was learned as {was!r}, got {prepared.batch.labels[at]!r} "
                    f"instead ({len(other):,} such nodes); forget it first, or give its label as it was"
                )
            known |= here
        return known

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

    # the steps

    def learn(self, batch: Batch, watch: Watch) -> None:
        """Learn the new labelled nodes of a batch."""
        begun = time.perf_counter()
        prepared = self.prepare(batch)
        plan = self.plan(prepared)
        novel = self._novel(prepared, plan)
        with self._restored():
            self.learner.learn(self.view(prepared, plan.train, plan.labels), (), watch)
            checks = self._checks(prepared.graph, plan.train)
            inputs = self.learner.lasting_inputs(prepared.graph, plan.aside) if len(plan.aside) else None
        self.ledger.add(prepared.keys[plan.train], plan.labels, checks)
        degrees = degrees_of(prepared.graph, plan.aside)
        self.held_out.add(prepared.keys[plan.aside], plan.aside_labels, degrees, inputs)
        self.held_out.refresh(self.learner, prepared.graph, prepared.keys)
        old, self.classes = len(self.classes), plan.classes
        self.batches += 1
        returning = np.unique(plan.labels[plan.labels < old]).tolist()
        step = Step(
            kind="learn",
            nodes=batch.n_nodes,
            labelled=len(plan.train) + len(plan.aside) + plan.known,
            learned=len(plan.train),
            held_out=len(plan.aside),
            known=plan.known,
            new_classes=tuple(self.classes[old:]),
            returning_classes=tuple(self.classes[label] for label in returning),
            edges=batch.adjacency.nnz,
            weighted=weighted(batch),
            directed=batch.directed,
            remarks=(*prepared.remarks, *self._doubts(batch)),
        )
        self._record(step, prepared, begun, novel)

    def _doubts(self, batch: Batch) -> list[str]:
        columns = [column.name for column in self.schema.columns]
        return doubts(batch, columns, len(self.classes), len(self.ledger), self.batches)

    @contextmanager
    def _restored(self) -> Iterator[None]:
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

    def _checks(self, graph: Graph, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """A checksum of what was taken in of each row; zeros for methods that cannot take it out again."""
        if not isinstance(self.learner, StatisticsLearner):
            return np.zeros(len(rows), dtype=np.uint64)
        blocks = self.learner.features.on(graph).in_blocks(rows)
        found = [checksums(codes.transpose(1, 0, 2)) for _, codes in blocks]
        return np.concatenate([np.zeros(0, dtype=np.uint64), *found])

    def forget(self, batch: Batch, ids: Any, came_in: int | None) -> Forgotten:
        """Take nodes out; see `ContinualClassifier.forget`."""
        begun = time.perf_counter()
        if isinstance(ids, str | bytes) or np.ndim(ids) != 1:
            raise DataError(f"a list of ids is wanted to forget, got {ids!r} instead; put it into a list")
        rows = np.unique(batch.rows(ids))
        prepared = self.prepare(batch, came_in=came_in)
        keys = prepared.keys[rows]
        place, aside = self.ledger.find(keys), self.held_out.as_ledger().find(keys) >= 0
        strangers = np.flatnonzero((place < 0) & ~aside)
        if len(strangers):
            raise DataError(
                f"nodes that were learned are wanted, got {batch.ids[rows[strangers[0]]]!s}, which was not "
                f"({len(strangers):,} such nodes{'' if batch.named else '; is this the graph of that batch?'}); "
                "nothing has changed"
            )
        learned = place >= 0
        exact = isinstance(self.learner, StatisticsLearner) and self.learner.forgets_exactly
        if isinstance(self.learner, StatisticsLearner):
            self._check_unchanged(prepared, rows[learned], place[learned])
            labels = self.ledger.labels[place[learned]].astype(np.int64)
            with self._restored():
                self.learner.forget(self.view(prepared, rows[learned], labels))
            statement = EXACTLY if exact else ROUNDED
        else:
            dropped = self.learner.drop(keys)
            statement = f"{dropped:,} of them were kept for replay and are gone; {WEIGHTS}"
        self.ledger.remove(keys)
        self.held_out.remove(keys)
        step = Step(kind="forget", nodes=len(rows), remarks=(statement,))
        self._record(step, prepared, begun, None)
        return Forgotten(len(rows), exact, f"{len(rows):,} nodes forgotten; {statement}")

    def _check_unchanged(self, prepared: Prepared, rows: NDArray[np.int64], place: NDArray[np.int64]) -> None:
        other = np.flatnonzero(self._checks(prepared.graph, rows) != self.ledger.checks[place])
        if len(other):
            raise DataError(
                f"nodes as they were when they were learned are wanted, got other features or neighbours of "
                f"{prepared.batch.ids[rows[other[0]]]!s} ({len(other):,} of {len(rows):,} nodes); give the graph "
                "of the batch in which they came; nothing has changed"
            )

    def merge(self, other: "Learned") -> None:
        """Learn what another has learned; see `ContinualClassifier.merge`."""
        begun = time.perf_counter()
        mine, others = self.learner, other.learner
        if not isinstance(mine, StatisticsLearner) or not isinstance(others, StatisticsLearner):
            raise DataError(
                f"two classifiers that keep sums (analytic, slda, ncm) are wanted to merge, got "
                f"{self.config.method_name} and {other.config.method_name}"
            )
        if self.config != other.config or self.schema != other.schema:
            what = "settings" if self.config != other.config else "columns, scaling or categories"
            raise DataError(
                f"classifiers with the same settings and schema are wanted to merge, got other {what}; "
                "begin the second as a sibling of the first (learn --like)"
            )
        common = np.intersect1d(_keys(self), _keys(other))
        if len(common):
            raise DataError(
                f"classifiers that learned different nodes are wanted to merge, got {len(common):,} nodes that "
                "both have learned; forget them in one of them first"
            )
        if self.classes:
            self._check_names(other.classes)
        classes = [*self.classes, *(name for name in other.classes if name not in self.classes)]
        places = np.array([classes.index(name) for name in other.classes], dtype=np.int64)
        with self._restored():
            mine.merge(others, places)
        self.ledger.add(other.ledger.keys, places[other.ledger.labels], other.ledger.checks)
        aside = other.held_out
        self.held_out.add(aside.keys, places[aside.labels], aside.degrees, aside.inputs)
        again = tuple(name for name in other.classes if name in self.classes)
        new = tuple(classes[len(self.classes) :])
        self.classes = classes
        self.batches += other.batches
        learned = len(other.ledger)
        step = Step(kind="merge", nodes=learned, learned=learned, new_classes=new, returning_classes=again)
        self._record(step, None, begun, None)

    # measuring and answering

    def _record(self, step: Step, prepared: Prepared | None, begun: float, novel: tuple[int, float] | None) -> None:
        """Test the held-out nodes, calibrate, and close a step."""
        tested = self._tested(prepared)
        self.temperature = fitted_temperature(tested) or self.temperature
        self._set_below(tested)
        before = next((past.classes for past in reversed(self.history) if past.classes), ())
        classes = class_accuracies(tested, self.classes, before)
        measured = {
            "classes": classes,
            "accuracy": float(np.mean([entry.accuracy for entry in classes])) if classes else None,
            "untested": len(self.held_out) - len(tested.labels),
            "rejection": self._rejection(tested, novel),
            "temperature": self.temperature,
            "bytes": self.nbytes,
            "seconds": time.perf_counter() - begun,
        }
        self.history.append(step.model_copy(update=measured))

    def _tested(self, prepared: Prepared | None) -> Outcome:
        """The held-out nodes that can be tested, where there is a graph also in it."""
        if not len(self.ledger) and self.returns:
            return Outcome(np.zeros(0, dtype=np.int64), np.zeros((0, 0)))
        return self.held_out.tested(
            self.learner,
            None if prepared is None else prepared.graph,
            np.zeros(0, dtype=np.int64) if prepared is None else prepared.keys,
        )

    def _set_below(self, tested: Outcome) -> None:
        """The probability below which there is no answer; as it was where no node can be tested."""
        if self.answers.reject and len(tested.labels):
            self.below = least_probability(tested, self.used_temperature, self.answers.reject)
        elif not self.answers.reject:
            self.below = self.answers.reject_below or 0.0

    def answer_as(self, answers: Answers) -> None:
        """Withhold answers in another way from now on."""
        if answers == self.answers:
            return
        tested = self._tested(None)
        if answers.reject and not len(tested.labels):
            raise ConfigError(
                f"reject={answers.reject} needs held-out nodes that can be tested without their graph, got none; "
                "set reject before learning, or reject_below"
            )
        self.answers = answers
        self._set_below(tested)

    def _rejection(self, tested: Outcome, novel: tuple[int, float] | None) -> Rejection | None:
        if not self.below or not len(tested.labels):
            return None
        found = probabilities(tested.logits, self.used_temperature)
        answered = found.max(axis=1) >= self.below
        right = found.argmax(axis=1) == tested.labels
        return Rejection(
            below=self.below,
            share=float(1 - answered.mean()),
            accuracy=float(right[answered].mean()) if answered.any() else 0.0,
            novel=0 if novel is None else novel[0],
            novel_share=None if novel is None else novel[1],
        )

    def _novel(self, prepared: Prepared, plan: Plan) -> tuple[int, float] | None:
        """The nodes of new classes, and the share of them that gets no answer before these are learned."""
        rows = plan.train[plan.labels >= len(self.classes)]
        if not self.below or not len(rows) or not self.classes:
            return None
        return len(rows), float((self.probabilities(prepared.graph, rows).max(axis=1) < self.below).mean())

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


GIVE_LABELS = "name their column (--label-column, label_column), fill y and train_mask of a PyG Data, or give y"
WEIGHTS = "what the weights learned from them stays, and only learning anew without them removes it"
EXACTLY = "exactly: the sums are as if they had never been learned; neighbours keep what they had from them"
ROUNDED = "their rows are subtracted from sums that are rounded, so traces below the rounding stay"


def n_inputs(schema: FeatureSchema) -> int:
    """The columns that learners see."""
    return schema.n_features + (schema.width is None)


def _with_constant(features: Features) -> Features:
    """One more column of ones: methods that look at directions only then see lengths, too."""
    ones = np.ones((features.shape[0], 1), dtype=np.float32)
    if isinstance(features, np.ndarray):
        return np.hstack([features, ones])
    return sparse.csr_array(sparse.hstack([features, sparse.csr_array(ones)]))


def _keys(learned: Learned) -> NDArray[np.int64]:
    return np.concatenate([learned.ledger.keys, learned.held_out.keys])
