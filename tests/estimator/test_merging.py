"""Merging is learning both, by name and by node."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph import ContinualClassifier
from evergraph.errors import ConfigError, DataError
from helpers import assert_same_bits, tiny_graph

from .growing import FAST, GRAPH, SUMS, batch, state


def test_merging_is_learning_both() -> None:
    rows = np.random.default_rng(0).permutation(np.flatnonzero(GRAPH.labels < 6))
    first, second = batch(rows[:400]), batch(rows[400:])
    later = second.with_labels([None if label == "digit 0" else label for label in second.labels])
    one, other = (ContinualClassifier(**FAST).partial_fit(part) for part in (first, later))
    both = ContinualClassifier(**FAST).partial_fit(first).partial_fit(later)
    one.merge(other)
    assert_same_bits(state(one, *SUMS), state(both, *SUMS))
    assert set(one._learned.held_out.keys) == set(both._learned.held_out.keys)
    assert one.history_[-1].kind == "merge"
    with pytest.raises(DataError, match="nodes that both have learned"):
        one.merge(other)


def test_classes_in_another_order_merge_by_name() -> None:
    low, high = (
        batch(np.flatnonzero(GRAPH.labels < 2)),
        batch(np.flatnonzero((GRAPH.labels > 1) & (GRAPH.labels < 4))),
    )
    one = ContinualClassifier(**FAST).partial_fit(high)
    one.merge(ContinualClassifier(**FAST).partial_fit(low))
    assert one.classes_.tolist() == ["digit 2", "digit 3", "digit 0", "digit 1"]
    assert min(one.score(low), one.score(high)) > 0.95


def test_models_without_ids_merge_and_each_forgets_by_its_own_batches() -> None:
    one, other = tiny_graph((20, 20), seed=1), tiny_graph((20, 20), seed=2)
    pairs = [(graph.adjacency, graph.features) for graph in (one, other)]
    first, second = (
        ContinualClassifier(**FAST, holdout=0).partial_fit(pair, graph.labels)
        for pair, graph in zip(pairs, (one, other), strict=True)
    )
    first.merge(second)
    assert len(first._fitted.ledger) == 80
    for number, pair in enumerate(pairs):
        assert first.forget(pair, [1, 2], batch=number).exact
        with pytest.raises(DataError, match=r"is this the graph of that batch\?"):
            first.forget(pair, [5], batch=1 - number)
    with pytest.raises(DataError, match="38 nodes that both have learned"):
        first.merge(second)


def test_batches_of_a_merged_model_follow_and_are_forgotten_by_their_numbers(tmp_path: Path) -> None:
    graphs = [tiny_graph((20, 20), seed=seed) for seed in range(5)]
    pairs = [(graph.adjacency, graph.features) for graph in graphs]

    def learned(*which: int, without: int | None = None) -> ContinualClassifier:
        model = ContinualClassifier(**FAST, holdout=0)
        for at in which:
            labels = graphs[at].labels.copy()
            labels[[1, 2]] = -1 if at == without else labels[[1, 2]]
            model.partial_fit(pairs[at], labels)
        return model

    whole = learned(0, 1).merge(learned(2, 3))
    whole.save(tmp_path / "model")
    whole = ContinualClassifier.load(tmp_path / "model")
    whole.partial_fit(pairs[4], graphs[4].labels)
    assert whole.n_batches_ == 5
    for number, pair in enumerate(pairs):
        model = deepcopy(whole)
        for other in set(range(5)) - {number}:
            with pytest.raises(DataError, match=r"is this the graph of that batch\?"):
                model.forget(pair, [1, 2], batch=other)
        assert_same_bits(state(model), state(whole))
        assert model.forget(pair, [1, 2], batch=number).exact
        never = learned(*range(5), without=number)
        assert_same_bits(state(model, "learner.statistics"), state(never, "learner.statistics"))
    wrong: tuple[Any, ...] = (-1, 5, True, "0")
    for number in wrong:
        with pytest.raises(ConfigError, match="the number of one of the 5 batches, from 0, is wanted, got batch="):
            whole.forget(pairs[0], [1], batch=number)


def test_the_step_of_a_merge_has_the_sums_of_the_other_model() -> None:
    rows = np.flatnonzero(GRAPH.labels < 4)
    parts = [batch(rows[start::3], np.arange(len(rows[start::3])) % 4 > 0) for start in range(3)]
    one = ContinualClassifier(**FAST).partial_fit(parts[0])
    other = ContinualClassifier(**FAST).partial_fit(parts[1]).partial_fit(parts[2])
    learned = other.history_
    one.merge(other)
    step = one.history_[-1]
    for name in ("nodes", "labelled", "learned", "held_out", "known", "edges"):
        assert getattr(step, name) == sum(getattr(past, name) for past in learned), name
    assert step.held_out == len(other._learned.held_out) > 0
    assert step.labelled < step.nodes
    other.forget(parts[1], parts[1].ids[parts[1].labelled][:7])
    again = ContinualClassifier(**FAST).partial_fit(parts[0]).merge(other).history_[-1]
    assert again.learned + again.held_out == step.learned + step.held_out - 7
    assert again.nodes == step.nodes


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"random_state": 3}, "got other settings"),
        ({"method": "ssm", "epochs": 1, "settings": None}, "that keep sums"),
    ],
)
def test_classifiers_that_cannot_merge_say_so(arguments: dict[str, Any], says: str) -> None:
    low, high = batch(np.flatnonzero(GRAPH.labels < 2)), batch(np.flatnonzero(GRAPH.labels == 5))
    one = ContinualClassifier(**FAST).partial_fit(low)
    with pytest.raises(DataError, match=says):
        one.merge(ContinualClassifier(**{**FAST, **arguments}).partial_fit(high))
    with pytest.raises(ConfigError, match="another ContinualClassifier is wanted, got int instead"):
        one.merge(3)  # type: ignore[arg-type]
