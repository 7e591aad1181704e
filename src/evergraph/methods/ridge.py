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
from scipy.linalg import lapack

from evergraph.methods.statistics import Matrix, Statistics

WORK = 64
"""LAPACK's working space, in columns."""


@dataclass(frozen=True)
class Moments:
    """What the fit needs to know of one map φ: B, the means (classes, width) and the number of rows by class.

    Of B what is above the diagonal is not read.
    """

    balanced: Matrix
    means: Matrix
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, statistics: Statistics, index: int, width: int | None = None) -> "Moments":
        """Those of map `index`, of its first features where a width is given."""
        balanced = statistics.moment(index, int(np.count_nonzero(statistics.counts)), width)
        return cls(balanced, statistics.means(index, width), statistics.counts)

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
            try:  # of the transpose, which is the same and in LAPACK's own order
                factor = linalg.cho_factor(penalised.T, overwrite_a=True, check_finite=False)
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
    """Errors of the fits at any λ from one reduction B = Q T Qᵀ, T with one diagonal beside its own.

    Three times as fast as eigenvectors. Where rounded sums have a T below 0, its whole diagonal is raised.
    """

    def __init__(self, moments: Moments):
        n = len(moments.balanced)
        self._reflections, diagonal, self._beside, self._factors, _ = lapack.dsytrd(
            moments.balanced, lower=1, lwork=WORK * n
        )
        values = linalg.eigvalsh_tridiagonal(diagonal, self._beside, check_finite=False)
        rounding = n * np.finfo(np.float64).eps * abs(float(values[-1]))
        raised = max(rounding - float(values[0]), 0.0)
        self.values, self._diagonal = values + raised, diagonal + raised
        self.counts = moments.counts
        self.means = self.turned(moments.means)
        self.unit = moments.unit

    def _penalty(self, strength: float) -> float:
        return strength * self.unit if self.unit > 0 else 1.0

    def _solved(self, rows: Matrix, penalty: float) -> Matrix:
        """(T + λ I)⁻¹ of every row."""
        bands = np.stack([np.append(self._beside, 0.0), self._diagonal + penalty])[::-1]
        return np.asarray(linalg.solveh_banded(bands, rows.T, lower=True, check_finite=False)).T

    def freedom(self, strength: float) -> float:
        """tr((B + λ I)⁻¹ B)."""
        return float(np.sum(self.values / (self.values + self._penalty(strength))))

    def generalised_error(self, strength: float) -> float:
        """Generalised cross-validation, a closed form of the leave-one-out error: E / (1 - freedom / n)²."""
        means, penalty = self.means[self.counts > 0], self._penalty(strength)
        weights = self._solved(means, penalty)  # B w = μ - λ w
        residual = len(means) - np.vdot(weights, means) - penalty * np.vdot(weights, weights)
        left = max(1 - self.freedom(strength) / float(self.counts.sum()), 0.01)
        return max(float(residual), 0.0) / left**2

    def turned(self, codes: Matrix) -> Matrix:
        """Rows φᵀQ, for `mistakes`."""
        turned = np.array(codes.T, order="F")
        if len(turned) > 1:
            turned[1:] = lapack.dormqr(
                "L", "T", self._reflections[1:, :-1], self._factors, turned[1:], WORK * turned.shape[1]
            )[0]
        return turned.T

    def mistakes(self, turned: Matrix, labels: NDArray[np.int64], strength: float) -> float:
        """The share of rows of a class that get another one, averaged over classes, each row left out of its fit.

        A row of class c adds about h = φᵀ(B + λ I)⁻¹φ / n_c to its own score of c, which is taken off again.
        """
        solved = self._solved(turned, self._penalty(strength))
        leverage = np.einsum("ij,ij->i", turned, solved) / self.counts[labels]
        scores = solved @ self.means.T
        rows = np.arange(len(labels))
        scores[rows, labels] -= np.minimum(leverage, scores[rows, labels])
        wrong = scores.argmax(axis=1) != labels
        counts = np.bincount(labels)
        return float(np.mean(np.bincount(labels, wrong)[counts > 0] / counts[counts > 0]))
