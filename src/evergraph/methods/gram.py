"""Gram matrices and class sums of rows of small whole numbers, exact whichever way they are computed.

Where the processor has instructions for it, torch multiplies bytes several times as fast as floats, but only in a
function without a promise (`torch._int_mm`). So sums of each of its products are compared with what they must be,
and floats take over where it is missing, slower or wrong: the bits are the same.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from evergraph.threads import in_threads

Codes: TypeAlias = NDArray[np.uint8]

BLOCK = 1024
"""Rows whose products of entries up to 127 floats of 32 bits add up exactly."""
LARGE_BLOCK = 16_384
"""Rows at a time whose products bytes add up exactly, in 32 bits."""
MOST_CLASSES = 1024
"""So many classes in a block of rows are added up in one product of bytes; more would make it too large."""
PANEL = 256
"""Rows of the Gram matrix at a time: what is right of its diagonal is not computed."""
TRIALS = {(256, 256): 10.0, (1024, 512): 1.0}
"""Rows and columns of the products by which the two ways are compared, once in a process, and how many times as
long bytes may take: without instructions for them, the small product shows it in a fortieth of the time."""
TURNS = 5
"""Of both ways in a trial: the first calls may have to set something up."""


def add_grams(totals: Sequence[NDArray[Any]], codes: NDArray[np.uint8], sign: int = 1) -> None:
    """Add Σ φφᵀ of the rows of every map to its total, or take it off: the lower triangle, packed row by row.

    codes: (maps, rows, width), entries up to 127.
    """
    products = _by_bytes if codes.shape[2] >= PANEL and _bytes_are_faster() else _by_floats
    in_threads(lambda index: _add(totals[index], products(codes[index]), sign), range(len(totals)))


def add_class_sums(totals: NDArray[np.int64], codes: NDArray[np.uint8], labels: NDArray[np.int64]) -> None:
    """Add Σ φ over the rows of each class, of every map, to (maps, classes, width).

    codes: (maps, rows, width), entries up to 127.
    """
    by_bytes = codes.shape[2] >= PANEL and _bytes_are_faster()
    class_sums = _class_sums_by_bytes if by_bytes else _class_sums_by_floats

    def add(index: int) -> None:
        for present, sums in class_sums(codes[index], labels):
            totals[index, present] += sums.astype(np.int64)

    in_threads(add, range(len(codes)))


def ends(width: int) -> list[int]:
    """Where each row of a packed lower triangle ends."""
    rows = np.arange(1, width + 1)
    found: list[int] = (rows * (rows + 1) // 2).tolist()
    return found


def _add(total: NDArray[Any], products: Iterator[tuple[int, NDArray[Any]]], sign: int) -> None:
    change = np.add if sign > 0 else np.subtract
    for start, product in products:
        for row, values in enumerate(product, start):
            here = total[row * (row + 1) // 2 :][: row + 1]
            change(here, values[: row + 1], out=here, casting="unsafe")  # whole numbers, whatever holds them


def _by_floats(codes: Codes) -> Iterator[tuple[int, NDArray[Any]]]:
    """Panels of rows of the Gram matrix up to its diagonal: the first row of each, and the panel.

    numpy's product lets other threads go on meanwhile, which scipy's `ssyrk` does not.
    """
    for start in range(0, len(codes), BLOCK):
        block = codes[start : start + BLOCK].astype(np.float32)
        for panel in range(0, codes.shape[1], PANEL):
            yield panel, block[:, panel : panel + PANEL].T @ block[:, : panel + PANEL]


def _by_bytes(codes: Codes) -> Iterator[tuple[int, NDArray[Any]]]:
    """The same panels."""
    for start in range(0, len(codes), LARGE_BLOCK):
        block = codes[start : start + LARGE_BLOCK]
        row_sums = np.zeros(len(block))
        for panel in range(0, codes.shape[1], PANEL):
            left, right = block[:, panel : panel + PANEL], block[:, : panel + PANEL]
            of_left = left.sum(axis=1, dtype=np.uint32).astype(np.float64)
            row_sums += of_left
            product: NDArray[Any] = _product_of_bytes(left, right)
            if product.sum(dtype=np.int64) != of_left @ row_sums:  # 1ᵀLᵀR 1 = (L 1)ᵀ(R 1)
                product = left.astype(np.float64).T @ right.astype(np.float64)
            yield panel, product


def _class_sums_by_floats(
    codes: Codes, labels: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """Some rows at a time, the classes that are present and a row of sums for each; exact in 32 bits."""
    for start in range(0, len(labels), BLOCK):
        present, place = np.unique(labels[start : start + BLOCK], return_inverse=True)
        members = (place == np.arange(len(present))[:, None]).astype(np.float32)
        yield present, members @ codes[start : start + BLOCK].astype(np.float32)


def _class_sums_by_bytes(
    codes: Codes, labels: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any]]]:
    """The same."""
    for start in range(0, len(labels), LARGE_BLOCK):
        block, here = codes[start : start + LARGE_BLOCK], labels[start : start + LARGE_BLOCK]
        present, place = np.unique(here, return_inverse=True)
        if len(present) > MOST_CLASSES:
            yield from _class_sums_by_floats(block, here)
            continue
        members = (place[:, None] == np.arange(len(present))).astype(np.uint8)
        product = _product_of_bytes(members, block)
        sums = np.bincount(place, block.sum(axis=1, dtype=np.uint32))
        if np.array_equal(product.sum(axis=1, dtype=np.int64), sums):  # MᵀR 1 = Mᵀ(R 1)
            yield present, product
        else:
            yield from _class_sums_by_floats(block, here)


def _product_of_bytes(left: Codes, right: Codes) -> NDArray[np.int32]:
    """LᵀR; entries are at most 127, so that they are the same with a sign."""
    product = torch._int_mm(torch.from_numpy(left.view(np.int8)).T, torch.from_numpy(right.view(np.int8)))
    found: NDArray[np.int32] = product.numpy()
    return found


@cache
def _bytes_are_faster() -> bool:
    """Whether products of bytes are to be had here and pay, by one trial in a process."""
    if not hasattr(torch, "_int_mm"):
        return False
    try:
        (faster,) = in_threads(lambda _: all(_pays(shape, times) for shape, times in TRIALS.items()), [0])
        return faster
    except RuntimeError:  # other kinds of numbers, or no such product on this processor
        return False


def _pays(shape: tuple[int, int], times: float) -> bool:
    """Whether a product of bytes takes less than so many times as long as one of floats."""
    trial = (np.arange(shape[0] * shape[1], dtype=np.int64) * 37 % 128).astype(np.uint8).reshape(shape)
    ways = [lambda way=way: deque(way(trial), 0) for way in (_by_bytes, _by_floats)]
    by_bytes, by_floats = _seconds(ways)
    return by_bytes < times * by_floats


def _seconds(ways: Sequence[Callable[[], object]]) -> list[float]:
    """Of each way the least time of this thread in some calls, in turn: others may keep the processor busy."""
    taken: list[list[float]] = [[] for _ in ways]
    for _ in range(TURNS):
        for way, seconds in zip(ways, taken, strict=True):
            start = time.thread_time()
            way()
            seconds.append(time.thread_time() - start)
    return [min(seconds) for seconds in taken]
