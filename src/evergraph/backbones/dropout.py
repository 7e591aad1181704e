"""Dropout with a given generator: sixteen random bits a value, compiled where numba is installed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from evergraph.backbones.jit import kernels
from evergraph.splitmix import GOLDEN, finalised
from evergraph.threads import on_torch_threads

BLOCK = 1 << 15
"""Random words made at a time: 256 kB, which stay in the cache."""
CHUNK = 1 << 18
"""Values multiplied at a time, where the work is divided among threads."""

_STEPS = np.arange(1, BLOCK + 1, dtype=np.uint64) * np.uint64(GOLDEN)


def random_words(key: int, count: int) -> NDArray[np.uint64]:
    """The first numbers of SplitMix64 (Steele, Lea and Flood, 2014) after the state `key`: (count,).

    Each is a function of its position, so they can be made side by side; with and without numba they are the same.
    """
    words = np.empty(count, dtype=np.uint64)
    compiled = kernels()
    fill = _fill if compiled is None else compiled.fill

    def block(start: int) -> None:
        fill(words[start : start + BLOCK], np.uint64((key + start * GOLDEN) % (1 << 64)))

    on_torch_threads(block, range(0, count, BLOCK))
    return words


def _fill(words: NDArray[np.uint64], key: np.uint64) -> None:
    finalised(np.add(_STEPS[: len(words)], key, out=words))


@dataclass(frozen=True)
class Mask:
    """Which values dropout keeps: those whose sixteen random bits, as a signed number, reach the threshold.

    So the share that is dropped is rounded to a multiple of 2^-16; the scale is that of the share as given.
    """

    bits: Tensor
    share: float

    @property
    def threshold(self) -> int:
        return round(self.share * 65_536) - 32_768

    @property
    def scale(self) -> float:
        return 1 / (1 - self.share)

    def factor(self) -> Tensor:
        """0 for a dropped value, 1 / (1 - share) for a kept one."""
        # A share next to 1 may round to a threshold beyond sixteen bits, which nothing reaches.
        return (self.bits.int() >= self.threshold).to(torch.float32).mul_(self.scale)

    def parts(self) -> list["Mask"]:
        """The masks of each index of the first dimension."""
        return [Mask(bits, self.share) for bits in self.bits.unbind()]

    def times(self, x: Tensor) -> Tensor:
        """x with its dropped values zero and the others scaled, differentiable any number of times."""
        return _Dropped.apply(x, self)  # type: ignore[no-any-return,no-untyped-call]


class _Dropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, mask: Mask) -> Tensor:
        ctx.mask = mask
        compiled = kernels() if x.is_cpu and x.dtype == torch.float32 else None
        if compiled is None:
            return mask.factor().mul_(x)
        apart = _rows_apart(x)
        values = (
            x.detach().as_strided((len(x), x.stride(0)), (x.stride(0), 1)) if apart else x.detach().reshape(1, -1)
        )
        out, bits = torch.empty(values.shape), mask.bits.view(len(values), -1)
        arrays = [part.numpy() for part in (values, bits, out)]
        limits = np.int32(mask.threshold), np.float32(mask.scale)
        size = max(CHUNK // bits.shape[1], 1) if apart else CHUNK

        def chunk(start: int) -> None:
            piece = slice(start, start + size)
            of_x, of_bits, of_out = (array[piece] if apart else array[:, piece] for array in arrays)
            compiled.drop(of_x, of_bits, *limits, of_out)

        on_torch_threads(chunk, range(0, len(values) if apart else values.shape[1], size))
        return out[:, : x.shape[1]] if apart else out.view(x.shape)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return ctx.mask.times(grads[0]), None


def _rows_apart(x: Tensor) -> bool:
    """Whether x is the first columns of a matrix with longer rows, as features are (`input_product.aligned`)."""
    if x.dim() != 2 or x.is_contiguous() or x.stride(1) != 1 or x.stride(0) < x.shape[1] or x.storage_offset():
        return False
    return x.untyped_storage().nbytes() >= len(x) * x.stride(0) * x.element_size()


class Dropout(nn.Module):
    """Zeroes a share of the values and scales the rest, drawing from `generator`."""

    def __init__(self, share: float):
        super().__init__()
        self.share = share
        self.generator: torch.Generator | None = None

    def forward(self, x: Tensor) -> Tensor:
        mask = self.mask(x.shape, x.device)
        return x if mask is None else mask.times(x)

    def mask(self, shape: torch.Size | tuple[int, ...], device: torch.device) -> Mask | None:
        """A new mask of this shape; None where nothing is dropped."""
        if not self.training or self.share == 0:
            return None
        if self.generator is None:
            raise RuntimeError("dropout needs a generator while training; the optimiser loop gives it one")
        # One number of the generator is the key of all bits: drawing each from it takes several times as long.
        key = int(torch.empty((), dtype=torch.int64).random_(-(1 << 63), None, generator=self.generator))
        count = torch.Size(shape).numel()
        bits = torch.from_numpy(random_words(key % (1 << 64), -(-count // 4)).view(np.int16))
        return Mask(bits[:count].view(shape).to(device), self.share)
