"""Min-max, mixing and choosing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evergraph.replay.selection import Selection, choose_per_class, mix, normalised, select, select_per_class, top

scores = arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e6, 1e6))


@given(scores)
def test_normalised_spans_zero_to_one_and_keeps_the_order(values: np.ndarray) -> None:
    result = normalised(values)
    if values.max() > values.min():
        assert result.min() == 0
        assert result.max() == 1
        order = np.argsort(values, kind="stable")
        assert np.all(np.diff(result[order]) >= 0)
    else:
        assert not result.any()


def test_mix_is_the_papers_weighted_average() -> None:
    loss, topology = np.array([1.0, 3.0, 2.0]), np.array([10.0, 0.0, 20.0])
    np.testing.assert_allclose(mix(loss, topology, 0.25), [0.125, 0.75, 0.625])
    np.testing.assert_allclose(mix(loss, topology, 0), normalised(loss))
    np.testing.assert_allclose(mix(loss, topology, 1), normalised(topology))


@given(scores, st.integers(1, 50), st.integers(0, 5))
def test_deterministic_choice_is_the_top_with_ties_by_position(
    values: np.ndarray,
    budget: int,
    seed: int,
) -> None:
    chosen = select(values, budget, Selection.DETERMINISTIC, np.random.default_rng(seed))
    brute = sorted(range(len(values)), key=lambda position: (-values[position], position))[:budget]
    assert chosen.tolist() == sorted(brute)


@given(scores, st.integers(1, 50), st.integers(0, 5))
def test_a_draw_has_no_repeats_and_is_the_same_for_the_same_seed(
    values: np.ndarray,
    budget: int,
    seed: int,
) -> None:
    draws = [select(np.abs(values), budget, Selection.PROBABILISTIC, np.random.default_rng(seed)) for _ in range(2)]
    assert draws[0].tolist() == draws[1].tolist()
    assert len(set(draws[0].tolist())) == min(budget, len(values))


def test_draws_follow_the_probabilities_of_sequential_sampling() -> None:
    """Two draws without replacement from weights 1, 2, 3 (and 0), against the exact probabilities."""
    weights = np.array([1.0, 2.0, 3.0, 0.0])
    rng = np.random.default_rng(0)
    rounds = 20_000
    counts = np.zeros(4)
    for _ in range(rounds):
        counts[select(weights, 2, Selection.PROBABILISTIC, rng)] += 1
    p = weights / weights.sum()
    exact = [p[i] + sum(p[j] * p[i] / (1 - p[j]) for j in range(3) if j != i) for i in range(3)]
    np.testing.assert_allclose(counts[:3] / rounds, exact, atol=0.015)
    assert counts[3] == 0


@pytest.mark.parametrize("low", [1e-3, 1.0])
def test_a_node_with_score_zero_is_drawn_only_when_nothing_else_is_left(low: float) -> None:
    """Of five nodes two have a score: they are in every draw of two or more, and what is left is drawn evenly."""
    weights = np.array([0.0, low, 0.0, 1.0, 0.0])
    rng = np.random.default_rng(0)
    rounds = 3000
    for budget, zeros in ((1, 0), (2, 0), (3, 1), (4, 2)):
        counts = np.zeros(5)
        for _ in range(rounds):
            counts[select(weights, budget, Selection.PROBABILISTIC, rng)] += 1
        assert counts[[0, 2, 4]].sum() == zeros * rounds
        np.testing.assert_allclose(counts[[0, 2, 4]] / rounds, zeros / 3, atol=0.03)
        if budget > 1:
            assert counts[[1, 3]].tolist() == [rounds, rounds]


def test_nodes_without_any_score_are_drawn_evenly() -> None:
    rng = np.random.default_rng(0)
    counts = np.zeros(4)
    for _ in range(4000):
        counts[select(np.zeros(4), 2, Selection.PROBABILISTIC, rng)] += 1
    np.testing.assert_allclose(counts / 4000, 0.5, atol=0.03)


@pytest.mark.parametrize("how", list(Selection))
def test_a_budget_above_the_class_keeps_the_class(how: Selection) -> None:
    assert select(np.array([3.0, 1.0]), 5, how, np.random.default_rng(0)).tolist() == [0, 1]


@given(scores, st.integers(1, 6), st.data())
def test_the_budget_holds_for_each_class(values: np.ndarray, budget: int, data: st.DataObject) -> None:
    labels = data.draw(arrays(np.int64, len(values), elements=st.integers(2, 5)))
    rng = np.random.default_rng(0)
    chosen = select_per_class(values, labels, budget, Selection.DETERMINISTIC, rng).tolist()
    brute: list[int] = []
    for label in range(2, 6):
        members = [i for i in range(len(values)) if labels[i] == label]
        brute += sorted(members, key=lambda i: (-values[i], i))[:budget]
    assert chosen == sorted(brute)
    drawn = select_per_class(np.abs(values), labels, budget, Selection.PROBABILISTIC, rng)
    assert np.array_equal(np.bincount(labels[drawn]), np.minimum(np.bincount(labels), budget))
    assert (np.diff(drawn) > 0).all()


# keys: what is chosen of several groups, one after the other


def test_a_class_that_is_kept_as_a_whole_takes_nothing_from_the_generator() -> None:
    """So that a draw of other nodes does not depend on it, and its keys are drawn all the same."""
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    chosen = choose_per_class(np.array([1.0, 2.0]), np.array([0, 0]), 2, Selection.PROBABILISTIC, rng)
    assert rng.random() == other.random()
    again = choose_per_class(
        np.array([1.0, 2.0]), np.array([0, 0]), 2, Selection.PROBABILISTIC, np.random.default_rng(0)
    )
    assert chosen.keys.tolist() == again.keys.tolist()
    assert not np.array_equal(chosen.keys, np.log([1.0, 2.0]))


def test_the_best_keys_of_two_draws_are_a_draw_from_all() -> None:
    """Weights 1, 2 in one group and 3, 4 in another, two kept: against the exact probabilities of one draw."""
    weights, rounds = np.array([1.0, 2.0, 3.0, 4.0]), 20_000
    rng = np.random.default_rng(0)
    counts = np.zeros(4)
    for _ in range(rounds):
        parts = [
            choose_per_class(weights[own], np.zeros(2, dtype=np.int64), 2, Selection.PROBABILISTIC, rng)
            for own in (slice(0, 2), slice(2, 4))
        ]
        counts[top(np.concatenate([part.keys for part in parts]), 2)] += 1
    p = weights / weights.sum()
    exact = [p[i] + sum(p[j] * p[i] / (1 - p[j]) for j in range(4) if j != i) for i in range(4)]
    np.testing.assert_allclose(counts / rounds, exact, atol=0.015)
