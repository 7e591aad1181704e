"""SLDA: linear discriminants with one covariance for all classes (Hayes and Kanan, 2020)."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import linalg

from evergraph.methods.base import MethodEntry
from evergraph.methods.hop_features import HopFeatures
from evergraph.methods.statistics import ClassStatistics, Matrix, Precision
from evergraph.methods.statistics_learner import MapConfig, StatisticsLearner
from evergraph.training.net import Net


class SLDAConfig(MapConfig):
    """The random map, and how the covariance is kept and shrunk."""

    shrinkage: float = Field(0.1, gt=0, le=1)
    """The share of a multiple of the identity in the covariance."""
    precision: Precision = Precision.EXACT
    """How the Gram matrix is kept."""


class Discriminant(StatisticsLearner):
    """Score of class c: μ_cᵀ P φ - ½ μ_cᵀ P μ_c, P = ((1 - ε) S + ε tr(S)/D I)⁻¹, S the within-class covariance."""

    def __init__(self, net: Net, config: SLDAConfig):
        self.config = config
        features = HopFeatures([config.hops], config.width, net.seed)
        super().__init__(net, features, ClassStatistics(1, config.width, precision=config.precision))

    def changed(self) -> None:
        self.__dict__.pop("_weights", None)

    @cached_property
    def _weights(self) -> tuple[Matrix, Matrix]:
        """P μ_c of each class as columns, and ½ μ_cᵀ P μ_c."""
        scatter, share = self.statistics.scatter(0), self.config.shrinkage
        unit = float(np.trace(scatter)) / len(scatter)
        covariance = (1 - share) * scatter
        covariance[np.diag_indices_from(covariance)] += share * unit if unit > 0 else 1.0
        means = self.statistics.means(0)
        columns = linalg.solve(covariance, means.T, assume_a="pos", overwrite_a=True)
        return columns, np.einsum("ij,ji->i", means, columns) / 2

    @property
    def linear(self) -> tuple[NDArray[Any], Matrix]:
        return self._weights


ENTRY = MethodEntry("linear discriminants, one covariance", "Hayes and Kanan, CVPRW 2020", SLDAConfig, Discriminant)
