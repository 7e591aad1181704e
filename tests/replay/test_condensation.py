"""Condensed rows: the loss is the formula, it falls, and the class means match."""

import numpy as np
import pytest
import torch

from evergraph.backbones.layers import glorot
from evergraph.replay.condensation import Condensation, class_means, encoded

RNG = np.random.default_rng(0)
LABELS = np.repeat([2, 3, 5], (40, 25, 30))
ROWS = (RNG.random((95, 12)) + 2 * np.eye(12)[LABELS]).astype(np.float32)
START = np.array([0, 7, 41, 50, 70, 90])


def gap(made: np.ndarray, labels: np.ndarray, weight: torch.Tensor) -> float:
    """Σ_c ‖mean φ(x) - mean φ(x̃)‖² with loops and float64."""
    total = 0.0
    for label in set(labels.tolist()):
        means = []
        for rows, of in ((ROWS, LABELS), (made, labels)):
            codes = [np.maximum(row.astype(np.float64) @ weight.double().numpy(), 0) for row in rows[of == label]]
            means.append(np.mean([code / np.linalg.norm(code) for code in codes], axis=0))
        total += float(((means[0] - means[1]) ** 2).sum())
    return total


def test_the_first_loss_is_the_formula_with_the_rows_it_begins_with() -> None:
    _, losses = Condensation(1, 1, 32, 1e-3).fit(ROWS, LABELS, START, torch.Generator().manual_seed(3))
    weight = glorot(12, 32, torch.Generator().manual_seed(3))
    assert losses == [pytest.approx(gap(ROWS[START], LABELS[START], weight), rel=1e-4)]


def test_the_loss_falls_and_class_means_match_for_encoders_that_were_not_used() -> None:
    made, losses = Condensation(60, 10, 64, 0.01).fit(ROWS, LABELS, START, torch.Generator().manual_seed(0))
    assert len(losses) == 600
    assert np.mean(losses[-50:]) < 0.2 * np.mean(losses[:5])
    fresh = glorot(12, 64, torch.Generator().manual_seed(99))
    assert gap(made, LABELS[START], fresh) < 0.2 * gap(ROWS[START], LABELS[START], fresh)


def test_the_rows_given_stay_as_they_are() -> None:
    before = ROWS.copy()
    made, _ = Condensation(2, 2, 8, 0.1).fit(ROWS, LABELS, START, torch.Generator().manual_seed(0))
    np.testing.assert_array_equal(ROWS, before)
    assert np.abs(made - ROWS[START]).max() > 0.01


def test_means_are_of_the_classes_that_occur() -> None:
    found = class_means(LABELS, np.unique(LABELS)) @ torch.as_tensor(ROWS)
    expected = np.stack([ROWS[label == LABELS].mean(axis=0) for label in (2, 3, 5)])
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_row_that_no_unit_sees_stays_finite() -> None:
    rows = torch.zeros(2, 3, requires_grad=True)
    encoded(rows, torch.ones(3, 4)).sum().backward()  # type: ignore[no-untyped-call]
    assert rows.grad is not None
    assert rows.grad.isfinite().all()
