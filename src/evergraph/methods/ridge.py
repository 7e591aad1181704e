"""Ridge regression from class statistics: every class counts alike, whatever its size and whenever it came.

With the means μ_c, the pooled within-class covariance S and C classes, the weights minimise

    Σ_c E ‖e_c - Wᵀφ‖² + λ ‖W‖²,  φ of class c with mean μ_c and covariance S:
    W = (C S + Σ_c μ_c μ_cᵀ + λ I)⁻¹ [μ_1 … μ_C].

With classes of equal size this is the ridge regression of the one-hot labels on all rows, scaled by their number.
λ is relative to the mean of the diagonal of B = C S + Σ_c μ_c μ_cᵀ.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from evergraph.methods.statistics import Matrix, Statistics


@dataclass(frozen=True)
class Moments:
    """What the fit needs to know of one map φ: B, the means (classes, width) and the number of rows by class."""

    balanced: Matrix
    means: Matrix
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, statistics: Statistics, index: int, width: int | None = None) -> "Moments":
        """Those of map `index`, of its first features where a width is given."""
        means = statistics.means(index, width)
        balanced = statistics.scatter(index, width)
        balanced *= np.count_nonzero(statistics.counts)
        balanced += means.T @ means
        return cls(balanced, means, statistics.counts)

    @property
    def unit(self) -> float:
        """tr(B) / D."""
        return float(np.trace(self.balanced)) / len(self.balanced)

    def fit(self, strength: float) -> "Fit":
        """The weights at λ = strength · tr(B) / D, ten times that while rounded sums have no Cholesky factor."""
        while True:
            penalty = strength * self.unit if self.unit > 0 else 1.0
            penalised = self.balanced.copy()
            penalised[np.diag_indices_from(penalised)] += penalty
            try:
                factor = linalg.cho_factor(penalised, overwrite_a=True, check_finite=False)
            except linalg.LinAlgError:
                strength *= 10
            else:
                weights = linalg.cho_solve(factor, self.means.T, check_finite=False)
                return Fit(np.asarray(weights), penalty, strength)


@dataclass(frozen=True)
class Fit:
    """A ridge regression: W (width, classes), `penalty` is λ, `strength` λ over tr(B) / D."""

    weights: Matrix
    penalty: float
    strength: float


class Spectrum:
    """Errors of the fits at any λ from one decomposition B = V diag(b) Vᵀ; those of rounded sums are held at 0."""

    def __init__(self, moments: Moments):
        values, self.vectors = np.linalg.eigh(moments.balanced)  # faster than scipy's
        self.values = np.maximum(values, 0)
        self.counts = moments.counts
        self.means = np.asarray(moments.means @ self.vectors)
        self.unit = moments.unit

    def _damped(self, strength: float) -> Matrix:
        """b + λ."""
        return np.asarray(self.values + (strength * self.unit if self.unit > 0 else 1.0))

    def freedom(self, strength: float) -> float:
        """tr((B + λ I)⁻¹ B)."""
        return float(np.sum(self.values / self._damped(strength)))

    def generalised_error(self, strength: float) -> float:
        """Generalised cross-validation, a closed form of the leave-one-out error: E / (1 - freedom / n)²."""
        means = self.means[self.counts > 0]
        weights = means / self._damped(strength)
        residual = np.einsum("ij,j,ij->", weights, self.values, weights)
        residual += len(means) - 2 * np.einsum("ij,ij->", weights, means)
        left = max(1 - self.freedom(strength) / float(self.counts.sum()), 0.01)
        return max(float(residual), 0.0) / left**2

    def turned(self, codes: Matrix) -> Matrix:
        """Rows φᵀV, for `mistakes`."""
        return np.asarray(codes @ self.vectors)

    def mistakes(self, turned: Matrix, labels: NDArray[np.int64], strength: float) -> float:
        """The share of rows of a class that get another one, averaged over classes, each row left out of its fit.

        A row of class c adds about h = φᵀ(B + λ I)⁻¹φ / n_c to its own score of c, which is taken off again.
        """
        damped = self._damped(strength)
        leverage = np.square(turned) @ (1 / damped) / self.counts[labels]
        scores = turned @ (self.means / damped).T
        rows = np.arange(len(labels))
        scores[rows, labels] -= np.minimum(leverage, scores[rows, labels])
        wrong = scores.argmax(axis=1) != labels
        counts = np.bincount(labels)
        return float(np.mean(np.bincount(labels, wrong)[counts > 0] / counts[counts > 0]))
