"""Compiling loops with numba, which may be absent (`pip install 'evergraph[jit]'`): ImportError then."""

from collections.abc import Callable, Collection
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function, fastmath: Collection[str] = ()) -> Function:
    """Compile at the first call and keep the code on disk, if there is a folder for it; other threads go on.

    fastmath: what may be done to sums and products; nothing by default, so that they have the bits of plain loops.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": set(fastmath) or False}
    try:
        result: Any = numba.njit(function, cache=True, **options)
    except RuntimeError:  # neither the folder of this file nor that of the user's caches can be written
        result = numba.njit(function, **options)
    return result  # type: ignore[no-any-return]
