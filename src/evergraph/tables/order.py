"""Columns that may be on disk: read in blocks, their sums and their order statistics exact whatever their size."""

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 18
"""Numbers that are in memory at a time."""
DIGIT = 16
"""Bits that one pass of a selection decides."""


class Sliced(Protocol):
    """Numbers by slices: an array, or a file that is read in parts."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: slice, /) -> NDArray[Any]: ...


def blocks(numbers: Sliced, size: int | None = None) -> Iterator[NDArray[Any]]:
    """One part after the other, of BLOCK numbers unless said otherwise."""
    step = size or BLOCK
    for start in range(0, len(numbers), step):
        yield numbers[start : start + step]


def present_blocks(numbers: Sliced) -> Iterator[NDArray[np.float64]]:
    """The same without NaN."""
    for part in blocks(numbers):
        yield part[~np.isnan(part)]


def exact_sum(parts: Iterator[float]) -> float:
    """The sum of the sums of blocks, rounded once."""
    return math.fsum(parts)


def median(parts: Callable[[], Iterator[NDArray[np.float64]]]) -> float:
    """The median of numbers that are not negative, as numpy has it; `parts` goes through all of them anew."""
    count = sum(len(part) for part in parts())
    low = _ranked(parts, (count - 1) // 2)
    return low if count % 2 else float(np.mean([low, _ranked(parts, count // 2)]))


def _ranked(parts: Callable[[], Iterator[NDArray[np.float64]]], rank: int) -> float:
    """The number of this rank: floats that are not negative are ordered as their bits are.

    Each pass decides DIGIT bits more; as soon as the numbers that are left fit into a block, they are sorted.
    """
    prefix = 0
    for shift in range(64 - DIGIT, -1, -DIGIT):
        counts = np.zeros(1 << DIGIT, dtype=np.int64)
        for part in parts():
            digits = (_beginning_with(prefix, part, shift + DIGIT) >> np.uint64(shift)) & np.uint64(
                (1 << DIGIT) - 1
            )
            counts += np.bincount(digits.astype(np.int64), minlength=1 << DIGIT)
        before = np.cumsum(counts)
        digit = int(np.searchsorted(before, rank, side="right"))
        rank -= int(before[digit - 1]) if digit else 0
        prefix = prefix << DIGIT | digit
        if counts[digit] <= BLOCK:
            left = np.concatenate([_beginning_with(prefix, part, shift) for part in parts()])
            return float(np.partition(left, rank)[rank : rank + 1].view(np.float64)[0])
    return float(np.array([prefix], dtype=np.uint64).view(np.float64)[0])


def _beginning_with(prefix: int, part: NDArray[np.float64], shift: int) -> NDArray[np.uint64]:
    """The bits of the numbers whose bits above a place are these."""
    bits = np.ascontiguousarray(part, dtype=np.float64).view(np.uint64)
    return bits if shift == 64 else bits[(bits >> np.uint64(shift)) == np.uint64(prefix)]
