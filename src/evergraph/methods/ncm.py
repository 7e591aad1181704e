"""NCM: the nearest class mean of random features of propagated node features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.methods.base import MethodEntry
from evergraph.methods.hop_features import HopFeatures
from evergraph.methods.statistics import ClassStatistics, Matrix
from evergraph.methods.statistics_learner import MapConfig, StatisticsLearner
from evergraph.training.net import Net


class NearestMean(StatisticsLearner):
    """Score of class c: μ_cᵀφ - ½ ‖μ_c‖², which orders the classes by the distance of φ to their means."""

    def __init__(self, net: Net, config: MapConfig):
        features = HopFeatures([config.hops], config.width, net.seed)
        super().__init__(net, features, ClassStatistics(1, config.width, gram=False))

    @property
    def linear(self) -> tuple[NDArray[Any], Matrix]:
        means = self.statistics.means(0)
        return means.T, np.einsum("ij,ij->i", means, means) / 2


ENTRY = MethodEntry("nearest class mean of random features", "Rebuffi et al., CVPR 2017", MapConfig, NearestMean)
