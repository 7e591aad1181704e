"""The compiled product with Â, to be had from `evergraph.data.on_disk.jit`: numba may be absent.

Terms are added in the order and the precision of scipy's product, so that the bits are the same. No array of the
entries is made, and the inner loop has vectors as wide as the processor's, which scipy's has not.
"""

from typing import Any

import numpy as np

from evergraph.jit import compiled

ONE = np.float32(1)


@compiled
def add_product(  # noqa: PLR0912, as calls in the inner loops cost as much as their work
    own: Any,
    starts: Any,
    ends: Any,
    indices: Any,
    weights: Any,
    place: Any,
    loops: Any,
    scale: Any,
    x: Any,
    out: Any,
) -> None:
    """Rows of D^-1/2 (A + I) D^-1/2 x are added to `out`.

    own: the row of A in which each row of `out` is; starts and ends: where it stands in `indices` and `weights` (0
    of them where every edge counts 1). place: the row of A of each stored one, -1 for those left out; 0 of them
    where all are there. loops: whether stored self-loops count. scale: D^-1/2.
    """
    width, weighted, some = x.shape[1], len(weights) > 0, len(place) > 0
    for i in range(len(own)):
        mine, total = own[i], out[i]
        here, pending = scale[mine], True  # the self-loop that every node gets
        for p in range(starts[i], ends[i]):
            column = np.int64(indices[p])
            if some:
                column = np.int64(place[column])
                if column < 0:
                    continue
            factor = here
            if weighted:
                factor = weights[p] * here
            if column >= mine and pending:
                pending = False
                if column == mine and loops:
                    factor = ((weights[p] if weighted else ONE) + ONE) * here
                else:
                    first, row = here * here, x[mine]
                    for k in range(width):
                        total[k] += first * row[k]
            if column == mine and not loops:
                continue
            factor, row = factor * scale[column], x[column]
            for k in range(width):
                total[k] += factor * row[k]
        if pending:
            first, row = here * here, x[mine]
            for k in range(width):
                total[k] += first * row[k]
