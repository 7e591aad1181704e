"""The fit from sums against least squares on all rows at once."""

import numpy as np
import pytest
from numpy.typing import NDArray

from evergraph.methods.hop_features import Codes
from evergraph.methods.ridge import Moments, Spectrum
from evergraph.methods.statistics import ClassStatistics, Matrix

WIDTH = 9


def rows(sizes: tuple[int, ...], seed: int = 0) -> tuple[Codes, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    centres = rng.integers(20, 90, (len(sizes), WIDTH))
    codes = np.clip(centres[labels] + rng.normal(0, 15, (len(labels), WIDTH)), 0, 127).astype(np.uint8)
    return codes[None], labels


def moments_of(codes: Codes, labels: NDArray[np.int64]) -> Moments:
    statistics = ClassStatistics(1, WIDTH)
    statistics.add([(codes, labels)])
    return Moments.of(statistics, 0)


def least_squares(inputs: Matrix, targets: Matrix, penalty: float) -> Matrix:
    """min ‖targets - inputs W‖² + penalty ‖W‖², by rows of its own for the penalty."""
    ridge = np.vstack([inputs, np.sqrt(penalty) * np.eye(WIDTH)])
    wanted = np.vstack([targets, np.zeros((WIDTH, targets.shape[1]))])
    return np.asarray(np.linalg.lstsq(ridge, wanted, rcond=None)[0])


@pytest.mark.parametrize("strength", [1e-4, 0.1])
def test_equal_classes_give_the_ridge_regression_of_all_rows(strength: float) -> None:
    codes, labels = rows((20, 20, 20))
    fit = moments_of(codes, labels).fit(strength)
    joint = least_squares(codes[0].astype(np.float64) / np.sqrt(20), np.eye(3)[labels] / np.sqrt(20), fit.penalty)
    np.testing.assert_allclose(fit.weights, joint, rtol=0, atol=1e-8 * np.abs(joint).max())


def test_unequal_classes_count_alike() -> None:
    """Rows around their class mean towards no score, class means towards their own."""
    codes, labels = rows((5, 50, 20))
    fit = moments_of(codes, labels).fit(0.01)
    dense = codes[0].astype(np.float64)
    means = np.stack([dense[labels == label].mean(axis=0) for label in range(3)])
    inputs = np.vstack([(dense - means[labels]) * np.sqrt(3 / 75), means])
    joint = least_squares(inputs, np.vstack([np.zeros((75, 3)), np.eye(3)]), fit.penalty)
    np.testing.assert_allclose(fit.weights, joint, rtol=0, atol=1e-8 * np.abs(joint).max())


def test_the_generalised_error_is_that_of_the_dense_formula() -> None:
    codes, labels = rows((20, 20, 20))
    moments = moments_of(codes, labels)
    spectrum = Spectrum(moments)
    dense = codes[0].astype(np.float64)
    hat = dense @ np.linalg.inv(dense.T @ dense + 20 * moments.fit(0.05).penalty * np.eye(WIDTH)) @ dense.T
    off = np.eye(3)[labels] - hat @ np.eye(3)[labels]
    assert spectrum.freedom(0.05) == pytest.approx(np.trace(hat))
    assert spectrum.generalised_error(0.05) == pytest.approx((off**2).sum() / 20 / (1 - np.trace(hat) / 60) ** 2)


def test_mistakes_are_near_those_of_fits_without_the_row() -> None:
    codes, labels = rows((30, 30, 30), seed=3)
    noisy = np.clip(codes.astype(int) + np.random.default_rng(4).normal(0, 40, codes.shape), 0, 127).astype(
        np.uint8
    )
    spectrum = Spectrum(moments_of(noisy, labels))
    wrong = []
    for row in range(90):
        others = np.arange(90) != row
        left = moments_of(noisy[:, others], labels[others]).fit(0.01)
        wrong.append((noisy[0, row] @ left.weights).argmax() != labels[row])
    assert 0.05 < np.mean(wrong) < 0.9
    turned = spectrum.turned(noisy[0].astype(np.float64))
    assert spectrum.mistakes(turned, labels, 0.01) == pytest.approx(np.mean(wrong), abs=0.04)


def test_rows_of_zeros_give_finite_weights() -> None:
    assert np.isfinite(
        moments_of(np.zeros((1, 4, WIDTH), dtype=np.uint8), np.array([0, 1, 0, 1])).fit(0.1).weights
    ).all()


def test_sums_that_rounding_made_indefinite_get_a_larger_penalty() -> None:
    moments = moments_of(*rows((20, 20)))
    rough = Moments(
        moments.balanced - 0.02 * np.trace(moments.balanced) * np.eye(WIDTH), moments.means, moments.counts
    )
    fit = rough.fit(1e-3)
    assert np.linalg.eigvalsh(rough.balanced)[0] < 0
    assert fit.penalty + np.linalg.eigvalsh(rough.balanced)[0] > 0
    assert np.isfinite(fit.weights).all()


def test_a_stronger_penalty_for_rounded_sums_is_reported() -> None:
    """A matrix that rounding has made indefinite gets the first tenfold λ at which it has a Cholesky factor."""
    balanced = np.diag([1.0, 1.0, -0.05])
    fit = Moments(balanced, np.eye(3)[:2], np.array([4, 4])).fit(1e-3)
    assert fit.strength == pytest.approx(0.1)
    assert fit.penalty == pytest.approx(0.1 * 1.95 / 3)
