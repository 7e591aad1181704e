"""Products with a narrow weight, such as that of the head: the classes are few beside the nodes and the width.

MKL takes several times as long for some layouts of such products as for others. Those taken here are the fastest
for 2 to 20 classes; the sums are those of `hidden @ weight`, in another order. GCN and GIN keep the plain product
and their bits.
"""

from typing import Any

import torch
from torch import Tensor


def narrow_product(hidden: Tensor, weight: Tensor) -> Tensor:
    """hidden (rows, width) @ weight (width, classes), differentiable any number of times."""
    return _NarrowProduct.apply(hidden, weight)  # type: ignore[no-any-return,no-untyped-call]


class _NarrowProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(hidden, weight)
        return hidden @ weight.t().contiguous().t()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None]:
        (hidden, weight), needed, grad = ctx.saved_tensors, ctx.needs_input_grad, grads[0]
        for_hidden = grad @ weight.t() if needed[0] else None
        for_weight = (grad.t() @ hidden).t().contiguous() if needed[1] else None
        return for_hidden, for_weight
