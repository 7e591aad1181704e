"""partial_fit on a growing graph: returning classes, known nodes, and what a batch must have."""

from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from evergraph import ContinualClassifier
from evergraph.errors import DataError
from evergraph.methods.analytic import Analytic
from evergraph.tables import to_batch
from helpers import assert_same_bits, tiny_graph

from .growing import FAST, GRAPH, SUMS, batch, months, noisy, state


def test_classes_come_back_and_what_is_known_is_said_after_every_batch(grown: ContinualClassifier) -> None:
    first, second, third = grown.history_
    assert first.new_classes == tuple(f"digit {digit}" for digit in range(4))
    assert second.returning_classes == first.new_classes
    assert second.new_classes == tuple(f"digit {digit}" for digit in range(4, 10))
    assert third.new_classes == ()
    assert grown.classes_.tolist() == [f"digit {digit}" for digit in range(10)]
    for step in grown.history_:
        assert step.labelled == step.learned + step.held_out
        assert {entry.label for entry in step.classes} >= set(step.new_classes)
        assert step.accuracy is not None
        assert step.accuracy > 0.9
    assert all(entry.change is None for entry in first.classes)
    assert all((entry.change is None) == (entry.label not in first.new_classes) for entry in second.classes)


def test_months_are_as_good_as_everything_at_once(grown: ContinualClassifier) -> None:
    every = np.arange(GRAPH.n_nodes)
    shown = np.random.default_rng(3).random(len(every)) < 0.6
    at_once = ContinualClassifier(**FAST).partial_fit(batch(every, shown))
    assert grown.score(batch(every)) > at_once.score(batch(every, ~shown)) - 0.03


def test_nodes_that_were_learned_before_are_context(grown: ContinualClassifier) -> None:
    model, parts = deepcopy(grown), months()
    again = batch(np.arange(GRAPH.n_nodes))
    with pytest.raises(DataError, match=r"were not learned before are wanted, got 1,797 that were; nothing has"):
        model.partial_fit(again)
    assert_same_bits(state(model), state(grown))
    known = ContinualClassifier(**FAST).partial_fit(parts[0])
    learned = dict(zip(parts[0].ids, parts[0].labels, strict=True))
    labels = [learned.get(node, label) for node, label in zip(parts[1].ids, parts[1].labels, strict=True)]
    step = known.partial_fit(parts[1].with_labels(labels)).history_[-1]
    assert step.known == parts[0].labelled.sum()
    assert step.learned + step.held_out == parts[1].labelled.sum()


@pytest.mark.parametrize("method", ["analytic", "analytic-small", "ncm", "slda"])
def test_checksums_are_those_of_what_is_taken_in_again(method: str) -> None:
    model = ContinualClassifier(**{**FAST, "method": method, "holdout": 0.0})
    for part in months():
        model.partial_fit(part)
        learned = model._learned
        prepared = learned.prepare(part)
        rows = np.flatnonzero(part.labelled)
        place = learned.ledger.find(prepared.keys[rows])
        assert_array_equal(learned.ledger.checks[place], learned.checks(prepared.graph, rows))


def test_another_label_for_a_learned_node_is_refused(grown: ContinualClassifier) -> None:
    part = months()[0]
    row = int(np.flatnonzero(part.labelled)[0])
    labels = part.labels.copy()
    labels[row] = "digit 9"
    with pytest.raises(DataError, match=rf"node {part.ids[row]} was learned as 'digit \d', got 'digit 9' instead"):
        deepcopy(grown).partial_fit(part.with_labels(labels.tolist()))


def test_graphs_without_ids_are_new_every_time() -> None:
    graph = tiny_graph((20, 20))
    model = ContinualClassifier(**FAST)
    for _ in range(2):
        model.partial_fit((graph.adjacency, graph.features), graph.labels)
    assert [step.known for step in model.history_] == [0, 0]
    assert len(model._learned.ledger) + len(model._learned.held_out) == 80


def test_the_order_of_batches_leaves_the_sums_as_they_are() -> None:
    rows = np.random.default_rng(0).permutation(np.flatnonzero(GRAPH.labels < 3))
    parts = [batch(rows[:200]), batch(rows[200:400]), batch(rows[400:])]
    one, other = (ContinualClassifier(**FAST, holdout=0) for _ in range(2))
    for part in parts:
        one.partial_fit(part)
    for part in (parts[0], parts[2], parts[1]):
        other.partial_fit(part)
    assert_same_bits(state(one, *SUMS), state(other, *SUMS))


@pytest.mark.parametrize("method", ["ftf-er-prob", "tem", "ewc"])
def test_methods_that_train_learn_returning_classes(method: str) -> None:
    model = ContinualClassifier(method, epochs=25)
    for part in months()[:2]:
        model.partial_fit(part)
    last = model.history_[-1]
    assert last.returning_classes
    assert last.accuracy is not None
    assert last.untested == 0


def test_more_of_an_old_month_does_not_change_the_choice(grown: ContinualClassifier) -> None:
    """A small old graph has too few nodes of the past to choose hops by, so the last choice stays."""
    model = deepcopy(grown)
    learner = model._learned.learner
    assert isinstance(learner, Analytic)
    before = learner.choice
    assert before.by == "anchors"
    old = np.flatnonzero(GRAPH.labels < 2)[:40]
    part = batch(old)
    fresh = to_batch((part.adjacency, part.attributes), part.labels.tolist(), ids=[f"new {row}" for row in old])
    model.partial_fit(fresh)
    assert (learner.choice.hops, learner.choice.strength) == (before.hops, before.strength)


def test_labels_in_another_order_than_the_nodes_are_refused() -> None:
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    frame = pandas.DataFrame({"id": [f"n{row}" for row in range(60)], "age": noisy()[1][:, 0]})
    y = pandas.Series(["a", "b"] * 30, index=frame["id"])
    ContinualClassifier(**FAST).partial_fit(frame, y)
    with pytest.raises(DataError, match="labels must be in the order of the nodes"):
        ContinualClassifier(**FAST).partial_fit(frame, y.iloc[::-1])
