"""Merging is learning both, by name and by node."""

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
    for pair in pairs:
        assert first.forget(pair, [1, 2], batch=0).exact
    with pytest.raises(DataError, match=r"is this the graph of that batch\?"):
        first.forget(pairs[0], [5], batch=1)
    with pytest.raises(DataError, match="38 nodes that both have learned"):
        first.merge(second)


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
