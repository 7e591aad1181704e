"""The compiled product of a graph on disk, where numba is installed and has the bits of scipy's product."""

from functools import cache
from types import ModuleType

import numpy as np
from scipy import sparse


@cache
def kernels() -> ModuleType | None:
    """`evergraph.data.on_disk.kernels`, or None: without numba, or where scipy joins products and sums in one step.

    On some processors scipy's loops round once for a product and its sum, which the compiled ones never do.
    """
    try:
        from evergraph.data.on_disk import kernels as found  # which takes a second
    except ImportError:
        return None
    n = 64
    rng = np.random.default_rng(0)
    x, scale = rng.standard_normal((n, 8), dtype=np.float32), rng.random(n, dtype=np.float32)
    matrix = sparse.csr_array(scale[:, None] * np.ones((n, n), dtype=np.float32) * scale)
    bounds = np.arange(0, n * n + 1, n)
    every = np.tile(np.arange(n), n)
    weights = 1 - np.eye(n, dtype=np.float32).ravel()
    out = np.zeros_like(x)
    none = np.zeros(0, dtype=np.int64)
    found.add_product(np.arange(n), bounds[:-1], bounds[1:], every, weights, none, True, scale, x, out)
    return found if np.array_equal(out, matrix @ x) else None
