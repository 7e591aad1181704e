"""Balance: what keeps classes with many nodes in the loss from outweighing those with few."""

from enum import Enum

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from evergraph.config import Settings


class Balance(Enum):
    """WEIGHT: each of the k classes of a batch has the same weight. NONE: each of its n nodes has, k / n.

    LOGIT: as NONE, and while training -log softmax(z + τ log π)_y is minimised instead of -log softmax(z)_y, where
    π_c is the share of class c among all nodes in the loss: kept nodes of old classes, training nodes of new ones.
    Predictions use z alone (Menon et al., 2021; for replay Niu et al., 2024).
    """

    WEIGHT = "weight"
    LOGIT = "logit"
    NONE = "none"


class BalanceConfig(Settings):
    """How much classes with many and with few nodes count in the loss."""

    balance: Balance = Balance.WEIGHT
    """What evens out classes with many and with few nodes in the loss."""
    tau: float = Field(1.0, ge=0)
    """τ of balance=logit."""

    @model_validator(mode="after")
    def _tau_goes_with_logit(self) -> "BalanceConfig":
        if self.balance is not Balance.LOGIT and self.tau != type(self).model_fields["tau"].default:
            raise ValueError(
                f"tau goes with balance=logit, got it with balance={self.balance.value} instead; leave it out"
            )
        return self

    def node_weights(
        self, labels: NDArray[np.int64], scale: float, sizes: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """The weight of each node of a batch: `scale` / (nodes of its class, in the batch or as given)."""
        weights: NDArray[np.float64] = scale / (np.bincount(labels) if sizes is None else sizes)[labels]
        if self.balance is Balance.WEIGHT:
            return weights
        return np.full(len(labels), weights.sum() / len(labels))

    def logit_offset(self, labels: NDArray[np.int64], n_classes: int) -> NDArray[np.float64] | None:
        """τ log π for each class, from the labels of all nodes in the loss; a class without any counts as one."""
        if self.balance is not Balance.LOGIT:
            return None
        counts = np.maximum(np.bincount(labels, minlength=n_classes), 1)
        return np.asarray(self.tau * np.log(counts / counts.sum()))
