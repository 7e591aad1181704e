"""One head of graph attention with its inputs and outputs, and the gradient of its scores."""

from dataclasses import dataclass

import torch
from torch import Tensor

from evergraph.backbones.attention import attention
from evergraph.backbones.products import Pattern, csr_product


@dataclass(frozen=True)
class Attended:
    """m_u = Σ_w α_uw z_w with α_u = softmax_w LeakyReLU(to·z_u + sent·z_w), for the rows u of a pattern.

    z: (columns, f); own: (rows,), the column of each row's own node; to, sent: (f,); weights: α, (entries,); leaks:
    LeakyReLU's slope at each score, (entries,); mean: m, (rows, f).
    """

    pattern: Pattern
    own: Tensor
    z: Tensor
    to: Tensor
    sent: Tensor
    weights: Tensor
    leaks: Tensor
    mean: Tensor

    def score_gradients(self, back: Tensor) -> Tensor:
        """∂/∂score_uw of back_u · m_u = α_uw leak_uw back_u · (z_w - m_u), for back (rows, f): (entries,)."""
        zeros = self.pattern.matrix(torch.zeros_like(self.weights))
        dots: Tensor = torch.sparse.sampled_addmm(zeros, back.contiguous(), self.z.T, beta=0.0).values()
        at_mean = (back * self.mean).sum(dim=1)
        return self.weights * self.leaks * (dots - at_mean[self.pattern.row])

    def summed_score_gradients(self) -> Tensor:
        """t with Σ_w score_gradients(back)_uw = back_u · t_u: (rows, f)."""
        leaking = self.weights * self.leaks
        return spread(self.pattern, leaking, self.z) - self.pattern.row_sum(leaking[:, None]) * self.mean


def attend(pattern: Pattern, own: Tensor, z: Tensor, to: Tensor, sent: Tensor, slope: float) -> Attended:
    """The attention of one head."""
    of_row, of_column = (z @ to)[own, None], (z @ sent)[:, None]
    weights = attention(pattern, of_row, of_column, slope).squeeze(1)
    raw = (pattern.of_row(of_row) + pattern.of_column(of_column)).squeeze(1)
    leaks = torch.where(raw > 0, 1.0, slope)
    return Attended(pattern, own, z, to, sent, weights, leaks, spread(pattern, weights, z))


def spread(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    """The matrix with this pattern and these values times a dense one."""
    return csr_product(pattern.matrix(values.contiguous()), dense.contiguous())
