"""A product whose rows do not depend on where they stand among the others.

BLAS may sum the rows of one product in different orders by their position (OpenBLAS does on some processors), so
that a node would get other bits in another batch. The first way that a trial shows to be free of that is taken; the
trial is the same in every process, so a machine always takes the same way.
"""

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

Rows: TypeAlias = NDArray[np.float32]
Product: TypeAlias = Callable[[Rows, Rows], Rows]
DEPTHS = (8, 67, 256)
"""Widths of the rows in the trial."""


def row_product(rows: Rows, columns: Rows) -> Rows:
    """rows (n, k) @ columns (k, m); a row of the result depends on its own row and on n alone."""
    return _way(len(rows), columns.shape[1])(rows, columns)


@cache
def _way(n: int, m: int) -> Product:
    return next((way for way in (by_blas, by_torch) if is_steady(way, n, m)), in_64_bits)


def by_blas(rows: Rows, columns: Rows) -> Rows:
    return rows @ columns


def by_torch(rows: Rows, columns: Rows) -> Rows:
    product: Rows = (torch.from_numpy(rows) @ torch.from_numpy(columns)).numpy()
    return product


def in_64_bits(rows: Rows, columns: Rows) -> Rows:
    """The order of sums changes nothing but the last of 53 bits, which rounding to 24 bits hides nearly always."""
    return (rows.astype(np.float64) @ columns.astype(np.float64)).astype(np.float32)


def is_steady(way: Product, n: int, m: int) -> bool:
    """Whether rows in another order give the same rows in that order, in a trial."""
    rng = np.random.default_rng(0)
    order = rng.permutation(n)
    for depth in DEPTHS:
        rows, columns = (rng.standard_normal(shape, dtype=np.float32) for shape in ((n, depth), (depth, m)))
        if not np.array_equal(way(rows, columns)[order], way(rows[order], columns)):
            return False
    return True
