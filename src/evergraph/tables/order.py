"""Columns that may be on disk: read in blocks, their sums and their order statistics exact whatever their size."""

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 20
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
    low, high = (_ranked(parts, rank) for rank in ((count - 1) // 2, count // 2))
    return float(np.mean([low, high]))


def _ranked(parts: Callable[[], Iterator[NDArray[np.float64]]], rank: int) -> float:
    """The number of this rank: floats that are not negative are ordered as their bits are."""
    prefix = 0
    for shift in range(64 - DIGIT, -1, -DIGIT):
        counts = np.zeros(1 << DIGIT, dtype=np.int64)
        for part in parts():
            bits = np.ascontiguousarray(part, dtype=np.float64).view(np.uint64) >> np.uint64(shift)
            chosen = bits[(bits >> np.uint64(DIGIT)) == np.uint64(prefix)]
            digits = (chosen & np.uint64((1 << DIGIT) - 1)).astype(np.int64)
            counts += np.bincount(digits, minlength=1 << DIGIT)
        before = np.cumsum(counts)
        digit = int(np.searchsorted(before, rank, side="right"))
        rank -= int(before[digit - 1]) if digit else 0
        prefix = prefix << DIGIT | digit
    return float(np.array([prefix], dtype=np.uint64).view(np.float64)[0])
