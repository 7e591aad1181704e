"""The compiled kernels, where numba is installed (`pip install 'evergraph[jit]'`)."""

from functools import cache
from types import ModuleType


@cache
def kernels() -> ModuleType | None:
    """`evergraph.backbones.kernels`, or None without numba; imported when first needed, as numba takes a second."""
    try:
        from evergraph.backbones import kernels as found
    except ImportError:
        return None
    return found
