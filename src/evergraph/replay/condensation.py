"""Condensation: a few made-up rows that random encoders cannot tell from a class, on average."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from evergraph.backbones.layers import glorot
from evergraph.training.optimiser import Adam


@dataclass(frozen=True)
class Condensation:
    """encoders: random maps that are drawn; steps: of Adam with each; width: outputs of a map; lr: step size."""

    encoders: int
    steps: int
    width: int
    lr: float

    def fit(
        self,
        rows: NDArray[np.float32],
        labels: NDArray[np.int64],
        start: NDArray[np.int64],
        generator: torch.Generator,
    ) -> tuple[NDArray[np.float32], list[float]]:
        """Rows X̃ that begin as rows[start], and the losses on the way.

        L(X̃) = Σ_c ‖mean_{i: y_i = c} φ(x_i) - mean_{j: ỹ_j = c} φ(x̃_j)‖² with φ(x) = n(relu(x W)), n to length 1;
        W is drawn anew for each encoder.
        """
        real = torch.as_tensor(rows)
        made = nn.Parameter(real[start].clone())
        classes = np.unique(labels[start])
        real_mean, made_mean = class_means(labels, classes), class_means(labels[start], classes)
        optimiser = Adam([made], lr=self.lr, weight_decay=0.0)
        losses = []
        for _ in range(self.encoders):
            weight = glorot(real.shape[1], self.width, generator)
            wanted = real_mean @ encoded(real, weight)
            for _ in range(self.steps):
                optimiser.zero_grad()
                loss = (made_mean @ encoded(made, weight) - wanted).square().sum()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                losses.append(loss.item())
        return made.detach().numpy(), losses


def encoded(rows: Tensor, weight: Tensor) -> Tensor:
    """φ of each row."""
    return normalize(torch.relu(rows @ weight), dim=1)


def class_means(labels: NDArray[np.int64], classes: NDArray[np.int64]) -> Tensor:
    """(classes, rows): what averages the rows of each class, all of which occur."""
    member = torch.as_tensor(labels[None, :] == classes[:, None], dtype=torch.float32)
    return member / member.sum(dim=1, keepdim=True)
