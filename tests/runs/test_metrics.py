"""Metrics against their formulas written out in loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from evergraph.runs import metrics
from evergraph.runs.metrics import Counts


@st.composite
def matrices(draw: st.DrawFn) -> NDArray[np.float64]:
    """Lower triangular accuracies, NaN above the diagonal."""
    size = draw(st.integers(1, 6))
    full = draw(npst.arrays(np.float64, (size, size), elements=st.floats(0, 1)))
    full[np.triu_indices(size, 1)] = np.nan
    return full


@settings(max_examples=60)
@given(matrix=matrices())
def test_each_metric_is_its_formula(matrix: NDArray[np.float64]) -> None:
    a, last = matrix.tolist(), len(matrix) - 1
    assert math.isclose(metrics.average_accuracy(matrix), sum(a[last][j] for j in range(last + 1)) / (last + 1))
    forgetting = sum(a[last][j] - a[j][j] for j in range(last)) / last if last else 0.0
    assert math.isclose(metrics.average_forgetting(matrix), forgetting, abs_tol=1e-12)
    assert math.isclose(metrics.backward_transfer(matrix), forgetting, abs_tol=1e-12)
    curve = [sum(a[i][j] for j in range(i + 1)) / (i + 1) for i in range(last + 1)]
    assert np.allclose(metrics.accuracy_curve(matrix), curve)
    assert math.isclose(metrics.learning_accuracy(matrix), sum(a[j][j] for j in range(last + 1)) / (last + 1))


def test_a_class_without_nodes_has_none_right() -> None:
    counts = Counts(np.array([[0, 2, -1]]), np.array([0, 4, 0]), np.array([0, 2, 3]))
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(counts.per_class(), [[0.0, 0.5, np.nan]])


def test_a_single_task_forgets_nothing() -> None:
    assert metrics.average_forgetting(np.array([[0.7]])) == 0


def test_forgetting_is_negative_and_the_last_task_does_not_count() -> None:
    matrix = np.array([[1.0, np.nan, np.nan], [0.5, 0.8, np.nan], [0.2, 0.4, 0.1]])
    assert metrics.average_forgetting(matrix) == pytest.approx(((0.2 - 1.0) + (0.4 - 0.8)) / 2)


@settings(max_examples=40)
@given(data=st.data(), groups=st.lists(st.integers(1, 3), min_size=1, max_size=4))
def test_balanced_and_plain_count_classes_and_nodes(data: st.DataObject, groups: list[int]) -> None:
    first = np.concatenate([[0], np.cumsum(groups)])
    total = np.array(data.draw(st.lists(st.integers(1, 9), min_size=sum(groups), max_size=sum(groups))))
    correct = np.full((len(groups), first[-1]), -1)
    for row in range(len(groups)):
        for k in range(first[row + 1]):
            correct[row, k] = data.draw(st.integers(0, int(total[k])))
    counts = Counts(correct, total, first)
    balanced, plain = counts.balanced(), counts.plain()
    assert balanced.shape == plain.shape == (len(groups), len(groups))
    for row in range(len(groups)):
        for task in range(len(groups)):
            own = range(first[task], first[task + 1])
            if task > row:
                assert np.isnan(balanced[row, task])
                assert np.isnan(plain[row, task])
            else:
                shares = [correct[row, k] / total[k] for k in own]
                assert math.isclose(balanced[row, task], sum(shares) / len(shares), abs_tol=1e-12)
                right, every = sum(correct[row, k] for k in own), sum(total[k] for k in own)
                assert math.isclose(plain[row, task], right / every, abs_tol=1e-12)
    for row, k in np.ndindex(correct.shape):
        accuracy = counts.per_class()[row, k]
        assert np.isnan(accuracy) if correct[row, k] < 0 else accuracy == correct[row, k] / total[k]
