"""Graph attention: each row of a pattern averages the values of its columns with softmax weights.

One head is computed at a time: the values of one head's entries stay in the processor's cache, those of all heads
do not, and reading them is most of the time of an epoch.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from evergraph.backbones.products import Pattern, csr_product, sampled_product, weighted_product

SAFE = 16.0
"""Up to this size exp is far from the bounds of float32, and the row maximum need not be subtracted."""


def attention(pattern: Pattern, to: Tensor, sent: Tensor, slope: float) -> Tensor:
    """softmax over each row of LeakyReLU(to_i + sent_j): (entries, heads)."""
    return row_softmax(pattern, leaky_relu(pattern.of_row(to) + pattern.of_column(sent), slope))


def row_softmax(pattern: Pattern, raw: Tensor) -> Tensor:
    """softmax of entry values over each row: (entries, k)."""
    shifted = torch.exp(raw - pattern.of_row(pattern.row_max(raw)))
    return shifted / pattern.of_row(pattern.row_sum(shifted))


def attended(
    pattern: Pattern, to: Tensor, sent: Tensor, dense: Tensor, factor: Tensor | None, slope: float
) -> Tensor:
    """The attention of one head, times `factor` where given, times `dense`: (rows, k).

    to: (rows,); sent: (columns,); dense: (columns, k); factor: (entries,), what dropout makes of each weight.
    """
    return _Attended.apply(to, sent, dense, factor, slope, pattern)  # type: ignore[no-any-return,no-untyped-call]


def attended_step_by_step(
    pattern: Pattern, to: Tensor, sent: Tensor, dense: Tensor, factor: Tensor | None, slope: float
) -> Tensor:
    """`attended` in differentiable steps: slower, but differentiable any number of times."""
    weights = attention(pattern, to[:, None], sent[:, None], slope).squeeze(1)
    return weighted_product(pattern, weights if factor is None else weights * factor, dense)


class _Attended(torch.autograd.Function):
    """With e = exp(LeakyReLU(to_i + sent_j)), n_i = Σ_j e_ij and f the factor: out_i = Σ_j f_ij e_ij dense_j / n_i.

    For a gradient G of the output, that of log e_ij is e_ij (f_ij G_i·dense_j - G_i·out_i) / n_i: the correction
    for softmax is a product of rows, and no division is done entry by entry.
    """

    @staticmethod
    def forward(
        ctx: Any, to: Tensor, sent: Tensor, dense: Tensor, factor: Tensor | None, slope: float, pattern: Pattern
    ) -> Tensor:
        raw = to.index_select(0, pattern.row).add_(sent.index_select(0, pattern.col))
        raw = leaky_relu(raw, slope, inplace=True)
        shifted = raw
        if len(raw) and max(-raw.min(), raw.max()) > SAFE:
            shifted = raw - pattern.row_max(raw[:, None]).squeeze(1).index_select(0, pattern.row)
        e = torch.exp(shifted)
        total = pattern.row_total(e)
        kept = e if factor is None else e * factor
        out = csr_product(pattern.matrix(kept), dense).div_(total[:, None])
        ctx.save_for_backward(to, sent, dense, factor, raw, e, kept, total, out)
        ctx.slope, ctx.pattern = slope, pattern
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        to, sent, dense, factor, raw, e, kept, total, out = ctx.saved_tensors
        pattern: Pattern = ctx.pattern
        if torch.is_grad_enabled():  # to be differentiated again, which the code below does not support
            # As views: `to` and `sent` may depend on `dense`, and that part of its gradient is added elsewhere.
            inputs = to.view_as(to), sent.view_as(sent), dense.view_as(dense)
            again = attended_step_by_step(pattern, *inputs, factor, ctx.slope)
            return *torch.autograd.grad(again, inputs, grads[0], create_graph=True), None, None, None
        grad = grads[0] / total[:, None]
        of_entry = sampled_product(pattern, grad, dense)
        if factor is not None:
            of_entry.mul_(factor)
        of_entry.sub_((grad * out).sum(dim=1).index_select(0, pattern.row)).mul_(e)
        of_entry = torch.ops.aten.leaky_relu_backward(of_entry, raw, ctx.slope, True)
        flipped, positions = pattern.transposed
        for_dense = csr_product(flipped.matrix(kept.index_select(0, positions)), grad)
        return pattern.row_total(of_entry), pattern.column_total(of_entry), for_dense, None, None, None
