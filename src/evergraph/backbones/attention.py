"""Graph attention: each row of a pattern averages the values of its columns with softmax weights.

One head is computed at a time: the values of one head's entries stay in the processor's cache, those of all heads
do not, and reading them is most of the time of an epoch. With e = exp(LeakyReLU(to_i + sent_j)), n_i = Σ_j e_ij and
f what dropout makes of each weight, out_i = Σ_j f_ij e_ij dense_j / n_i. For a gradient G of the output, that of
log e_ij is e_ij (f_ij G_i·dense_j - G_i·out_i) / n_i: the correction for softmax is a product of rows, and no
division is done entry by entry.

Both ways below compute this: with numba in compiled loops that leave out dropped entries, one head a thread;
without it in torch's operations. They draw the same dropout and agree to rounding.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import leaky_relu

from evergraph.backbones.dropout import Mask
from evergraph.backbones.jit import kernels
from evergraph.backbones.products import Pattern, csr_product, csr_tensor, sampled_product, weighted_product
from evergraph.threads import on_torch_threads

SAFE = 16.0
"""Up to this size exp is far from the bounds of float32, and the row maximum need not be subtracted."""


def attention(pattern: Pattern, to: Tensor, sent: Tensor, slope: float) -> Tensor:
    """softmax over each row of LeakyReLU(to_i + sent_j): (entries, heads)."""
    return row_softmax(pattern, leaky_relu(pattern.of_row(to) + pattern.of_column(sent), slope))


def row_softmax(pattern: Pattern, raw: Tensor) -> Tensor:
    """softmax of entry values over each row: (entries, k)."""
    shifted = torch.exp(raw - pattern.of_row(pattern.row_max(raw)))
    return shifted / pattern.of_row(pattern.row_sum(shifted))


def attended(pattern: Pattern, to: Tensor, sent: Tensor, dense: Tensor, mask: Mask | None, slope: float) -> Tensor:
    """The attention of every head, after dropout where a mask is given, times `dense`: (rows, heads, k).

    to: (heads, rows); sent: (heads, columns); dense: (heads, columns, k); mask: (heads, entries).
    """
    compiled = to.is_cpu and all(value.dtype == torch.float32 for value in (to, sent, dense))
    if compiled and kernels() is not None:
        return _Compiled.apply(to, sent, dense, mask, slope, pattern)  # type: ignore[no-any-return,no-untyped-call]
    factors = [None] * len(to) if mask is None else mask.factor().unbind()
    heads = zip(to, sent, dense, factors, strict=True)
    return torch.stack([_Attended.apply(*head, slope, pattern) for head in heads], dim=1)  # type: ignore[no-untyped-call]


def attended_step_by_step(
    pattern: Pattern, to: Tensor, sent: Tensor, dense: Tensor, mask: Mask | None, slope: float
) -> Tensor:
    """`attended` in differentiable steps: slower, but differentiable any number of times."""
    factors = [None] * len(to) if mask is None else mask.factor().unbind()
    heads = zip(to, sent, dense, factors, strict=True)
    return torch.stack([_one_step_by_step(pattern, *head, slope) for head in heads], dim=1)


def _one_step_by_step(
    pattern: Pattern, to: Tensor, sent: Tensor, dense: Tensor, factor: Tensor | None, slope: float
) -> Tensor:
    """One head: to (rows,), sent (columns,), dense (columns, k), factor (entries,)."""
    weights = attention(pattern, to[:, None], sent[:, None], slope).squeeze(1)
    return weighted_product(pattern, weights if factor is None else weights * factor, dense)


def _differentiable_gradients(again: Any, inputs: tuple[Tensor, ...], grad: Tensor) -> tuple[Tensor, ...]:
    """The gradients of a function, to be differentiated again."""
    # As views: `to` and `sent` may depend on `dense`, and that part of its gradient is added elsewhere.
    views = tuple(value.view_as(value) for value in inputs)
    return torch.autograd.grad(again(*views), views, grad, create_graph=True)


class _Attended(torch.autograd.Function):
    """One head in torch's operations."""

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

            def again(to: Tensor, sent: Tensor, dense: Tensor) -> Tensor:
                return _one_step_by_step(pattern, to, sent, dense, factor, ctx.slope)

            return *_differentiable_gradients(again, (to, sent, dense), grads[0]), None, None, None
        grad = grads[0] / total[:, None]
        of_entry = sampled_product(pattern, grad, dense)
        if factor is not None:
            of_entry.mul_(factor)
        of_entry.sub_((grad * out).sum(dim=1).index_select(0, pattern.row)).mul_(e)
        of_entry = torch.ops.aten.leaky_relu_backward(of_entry, raw, ctx.slope, True)
        flipped, positions = pattern.transposed
        for_dense = csr_product(flipped.matrix(kept.index_select(0, positions)), grad)
        return pattern.row_total(of_entry), pattern.column_total(of_entry), for_dense, None, None, None


class _Compiled(torch.autograd.Function):
    """All heads in compiled loops."""

    @staticmethod
    def forward(
        ctx: Any, to: Tensor, sent: Tensor, dense: Tensor, mask: Mask | None, slope: float, pattern: Pattern
    ) -> Tensor:
        (heads, rows), entries = to.shape, pattern.n_entries
        e, kept = torch.empty(heads, entries), torch.empty(heads, entries)
        total, kept_col = torch.empty(heads, rows), torch.empty(heads, entries, dtype=torch.int32)
        kept_start = torch.empty(heads, rows + 1, dtype=torch.int32)
        bits = torch.empty(heads, 0, dtype=torch.int16) if mask is None else mask.bits
        threshold, scale = (0, 1.0) if mask is None else (mask.threshold, mask.scale)
        parts = _arrays(to, sent, bits, e, total, kept_start, kept_col, kept)
        crow, col = _arrays(pattern.crow, pattern.col)
        compiled = kernels()
        assert compiled is not None, "attended asks for it"

        out, values = torch.empty(rows, heads, dense.shape[2]), dense.detach()

        def average(head: int) -> None:
            row, column, random, *written = (part[head] for part in parts)
            compiled.weigh(crow, col, row, column, np.float32(slope), random, np.int32(threshold), *written)
            count = int(kept_start[head, -1])
            weights = csr_tensor(kept_start[head], kept_col[head, :count], kept[head, :count], pattern.shape)
            sums = csr_product(weights, values[head].contiguous())
            torch.mul(sums, (scale / total[head])[:, None], out=out[:, head])

        on_torch_threads(average, range(heads))
        ctx.save_for_backward(to, sent, dense, e, total, kept_start, kept_col, kept, out)
        ctx.mask, ctx.slope, ctx.scale, ctx.pattern = mask, slope, scale, pattern
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        to, sent, dense, e, total, kept_start, kept_col, kept, out = ctx.saved_tensors
        pattern: Pattern = ctx.pattern
        if torch.is_grad_enabled():  # to be differentiated again, which the code below does not support

            def again(to: Tensor, sent: Tensor, dense: Tensor) -> Tensor:
                return attended_step_by_step(pattern, to, sent, dense, ctx.mask, ctx.slope)

            return *_differentiable_gradients(again, (to, sent, dense), grads[0]), None, None, None
        gradients = [torch.empty(value.shape) for value in (to, sent, dense)]
        parts = _arrays(to, sent, dense, e, total, kept_start, kept_col, kept, *gradients)
        crow, col, outputs, grad = _arrays(pattern.crow, pattern.col, out, grads[0])
        numbers = np.float32(ctx.slope), np.float32(ctx.scale)
        compiled = kernels()
        assert compiled is not None, "attended asks for it"

        def differentiate(head: int) -> None:
            row, column, *read = (part[head] for part in parts[:8])
            written = (part[head] for part in parts[8:])
            compiled.differentiate(head, crow, col, row, column, *numbers, *read, outputs, grad, *written)

        on_torch_threads(differentiate, range(len(to)))
        return *gradients, None, None, None


def _arrays(*tensors: Tensor) -> list[Any]:
    """The tensors as arrays; indices as unsigned numbers, which need no check whether they count from the end."""
    arrays = [tensor.detach().contiguous().numpy() for tensor in tensors]
    return [array.view(np.uint32) if array.dtype == np.int32 else array for array in arrays]
