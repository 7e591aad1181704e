"""Ridge regression from class statistics: every class counts alike, whatever its size and whenever it came.

With the means μ_c, the pooled within-class covariance S and C classes, the weights minimise

    Σ_c E ‖e_c - Wᵀφ‖² + λ ‖W‖²,  φ of class c with mean μ_c and covariance S:
    W = (C S + Σ_c μ_c μ_cᵀ + λ I)⁻¹ [μ_1 … μ_C].

With classes of equal size this is the ridge regression of the one-hot labels on all rows, scaled by their number.
λ is relative to the mean of the diagonal of B = C S + Σ_c μ_c μ_cᵀ.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from evergraph.methods.statistics import ClassStatistics, Matrix


@dataclass(frozen=True)
class Moments:
    """What the fit needs to know of one map φ: B, the means (classes, width) and the number of rows by class."""

    balanced: Matrix
    means: Matrix
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, statistics: ClassStatistics, index: int, width: int | None = None) -> "Moments":
        """Those of map `index`, of its first features where a width is given."""
        means = statistics.means(index, width)
        balanced = statistics.scatter(index, width)
        balanced *= np.count_nonzero(statistics.counts)
        balanced += means.T @ means
        return cls(balanced, means, statistics.counts)

    def fit(self, strength: float) -> "Fit":
        """The weights at λ = strength · tr(B) / D, ten times that while rounded sums have no Cholesky factor."""
        unit = float(np.trace(self.balanced)) / len(self.balanced)
        while True:
            penalty = strength * unit if unit > 0 else 1.0
            penalised = self.balanced.copy()
            penalised[np.diag_indices_from(penalised)] += penalty
            try:
                factor = linalg.cho_factor(penalised, overwrite_a=True, check_finite=False)
            except linalg.LinAlgError:
                strength *= 10
            else:
                return Fit(self, penalty, factor, strength)


@dataclass(frozen=True)
class Fit:
    """A ridge regression: `penalty` is λ, `factor` the Cholesky factor of B + λ I, `strength` λ over tr(B) / D."""

    moments: Moments
    penalty: float
    factor: tuple[Matrix, bool]
    strength: float

    def solve(self, right: Matrix) -> Matrix:
        """(B + λ I)⁻¹ right."""
        return np.asarray(linalg.cho_solve(self.factor, right, check_finite=False))

    @cached_property
    def weights(self) -> Matrix:
        """W: (width, classes)."""
        return self.solve(self.moments.means.T)

    @property
    def freedom(self) -> float:
        """tr((B + λ I)⁻¹ B), from the inverse of the Cholesky factor."""
        inverse, _ = linalg.lapack.dtrtri(self.factor[0], lower=self.factor[1])
        triangle = np.tril(inverse) if self.factor[1] else np.triu(inverse)
        return float(len(triangle) - self.penalty * np.einsum("ij,ij->", triangle, triangle))

    def generalised_error(self) -> float:
        """Generalised cross-validation, a closed form of the leave-one-out error: E / (1 - freedom / n)²."""
        present = self.moments.counts > 0
        weights = self.weights[:, present]
        scores = self.moments.means[present] @ weights
        residual = (
            np.einsum("ij,ij->", weights, self.moments.balanced @ weights) - 2 * np.trace(scores) + present.sum()
        )
        left = max(1 - self.freedom / float(self.moments.counts.sum()), 0.01)
        return max(float(residual), 0.0) / left**2  # rounded sums may fall a little below zero

    def mistakes(self, codes: Matrix, labels: NDArray[np.int64]) -> float:
        """The share of rows of a class that get another one, averaged over classes, each row left out of its fit.

        A row of class c adds about h = φᵀ(B + λ I)⁻¹φ / n_c to its own score of c, which is taken off again.
        """
        leverage = np.einsum("ij,ji->i", codes, self.solve(codes.T)) / self.moments.counts[labels]
        scores = codes @ self.weights
        rows = np.arange(len(labels))
        scores[rows, labels] -= np.minimum(leverage, scores[rows, labels])
        wrong = scores.argmax(axis=1) != labels
        counts = np.bincount(labels)
        return float(np.mean(np.bincount(labels, wrong)[counts > 0] / counts[counts > 0]))
