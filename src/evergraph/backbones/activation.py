"""ELU and dropout in one pass over the values, compiled where numba is installed."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import elu

from evergraph.backbones.dropout import CHUNK, Mask
from evergraph.backbones.jit import kernels
from evergraph.threads import on_torch_threads


def elu_dropped(x: Tensor, bias: Tensor, mask: Mask | None) -> Tensor:
    """ELU(x + bias), after dropout where a mask is given; x: (rows, k), bias: (k,)."""
    compiled = mask is not None and x.is_cpu and x.dtype == bias.dtype == torch.float32
    if compiled and kernels() is not None:
        return _EluDropped.apply(x, bias, mask)  # type: ignore[no-any-return,no-untyped-call]
    return _step_by_step(x, bias, mask)


def _step_by_step(x: Tensor, bias: Tensor, mask: Mask | None) -> Tensor:
    active = elu(x + bias, inplace=True)
    return active if mask is None else mask.times(active)


class _EluDropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor, mask: Mask) -> Tensor:
        compiled = kernels()
        assert compiled is not None, "elu_dropped asks for it"
        out, shift = torch.empty(x.shape), bias.detach().numpy()
        arrays = [part.numpy() for part in (x.detach().contiguous(), mask.bits, out)]
        limits = np.int32(mask.threshold), np.float32(mask.scale)

        def chunk(rows: slice) -> None:
            of_x, bits, of_out = (array[rows] for array in arrays)
            compiled.elu_drop(of_x, shift, bits, *limits, of_out)

        on_torch_threads(chunk, _chunks(x))
        ctx.save_for_backward(x, bias, out)
        ctx.mask = mask
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        x, bias, out = ctx.saved_tensors
        mask: Mask = ctx.mask
        if torch.is_grad_enabled():  # to be differentiated again, which the loop below does not support
            inputs = x.view_as(x), bias.view_as(bias)
            for_x, for_bias = torch.autograd.grad(_step_by_step(*inputs, mask), inputs, grads[0], create_graph=True)
            return for_x, for_bias, None
        compiled = kernels()
        assert compiled is not None, "elu_dropped asks for it"
        for_x = torch.empty(x.shape)
        arrays = [part.numpy() for part in (grads[0].contiguous(), out, mask.bits, for_x)]
        limits = np.int32(mask.threshold), np.float32(mask.scale)

        def chunk(rows: slice) -> None:
            grad, of_out, bits, of_x = (array[rows] for array in arrays)
            compiled.elu_drop_backward(grad, of_out, bits, *limits, of_x)

        on_torch_threads(chunk, _chunks(x))
        return for_x, for_x.sum(dim=0), None


def _chunks(x: Tensor) -> list[slice]:
    rows = max(CHUNK // max(x.shape[1], 1), 1)
    return [slice(start, start + rows) for start in range(0, len(x), rows)]
