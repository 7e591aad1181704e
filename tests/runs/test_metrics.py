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


# classes that come back


@settings(max_examples=40)
@given(data=st.data(), tasks=st.integers(1, 4), classes=st.integers(1, 4))
def test_measures_by_cell_are_their_formulas(data: st.DataObject, tasks: int, classes: int) -> None:
    """Cells of tasks and classes, some without nodes, against loops; every task has nodes."""
    cells = [(t, k) for t in range(tasks) for k in range(classes) if k == t % classes or data.draw(st.booleans())]
    total = [data.draw(st.integers(1 if k == t % classes else 0, 9)) for t, k in cells]
    correct = np.full((tasks, len(cells)), -1)
    for now in range(tasks):
        for at, (t, _) in enumerate(cells):
            if t <= now:
                correct[now, at] = data.draw(st.integers(0, total[at]))
    first = np.array([next(at for at, (t, _) in enumerate(cells) if t == task) for task in range(tasks)])
    label = np.array([k for _, k in cells])
    counts = Counts(correct, np.array(total), np.append(first, len(cells)), label)
    with np.errstate(invalid="raise"):
        balanced, plain, per_class = counts.balanced(), counts.plain(), counts.per_class()
        so_far, by_class = counts.plain_so_far(), counts.balanced_so_far()
    for now in range(tasks):
        for task in range(now + 1):
            own = [at for at, (t, _) in enumerate(cells) if t == task and total[at]]
            shares = [correct[now, at] / total[at] for at in own]
            assert math.isclose(balanced[now, task], sum(shares) / len(shares), abs_tol=1e-12)
            right, every = sum(correct[now, at] for at in own), sum(total[at] for at in own)
            assert math.isclose(plain[now, task], right / every, abs_tol=1e-12)
        seen = [at for at, (t, _) in enumerate(cells) if t <= now]
        everything = sum(total[at] for at in seen)
        assert math.isclose(so_far[now], sum(correct[now, at] for at in seen) / everything, abs_tol=1e-12)
        accuracies = []
        for k in range(label.max() + 1):
            own = [at for at in seen if cells[at][1] == k and total[at]]
            if own:
                accuracies.append(sum(correct[now, at] for at in own) / sum(total[at] for at in own))
                assert math.isclose(per_class[now, k], accuracies[-1], abs_tol=1e-12)
            else:
                assert np.isnan(per_class[now, k])
        assert math.isclose(by_class[now], sum(accuracies) / len(accuracies), abs_tol=1e-12)
    assert math.isclose(metrics.area(so_far), sum(so_far) / tasks, abs_tol=1e-12)
    lost = metrics.forgetting_from_best(per_class)
    for k in range(label.max() + 1):
        values = [value for value in per_class[:, k] if not np.isnan(value)]
        assert np.isnan(lost[k]) if not values else math.isclose(lost[k], values[-1] - max(values), abs_tol=1e-12)


def test_accuracy_so_far_where_no_class_comes_back() -> None:
    counts = Counts(np.array([[2, 1, -1], [0, 1, 4]]), np.array([2, 2, 4]), np.array([0, 2, 3]))
    assert counts.plain_so_far().tolist() == [0.75, 0.625]
    assert counts.balanced_so_far().tolist() == [0.75, 0.5]
    assert metrics.forgetting_from_best(counts.per_class()).tolist() == [-1.0, 0.0, 0.0]
