"""Memory that is freed and asked for again all the time, as every epoch does."""

import ctypes
import sys
from functools import cache

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
"""glibc's names of what mallopt sets (malloc.h)."""
MIB = 1 << 20


@cache
def keep_freed_memory() -> bool:
    """Let glibc keep blocks up to 32 MiB that were freed; True where that was possible.

    An epoch frees its activations and asks for the same sizes again in the next one. By default glibc gives such
    blocks back to the system each time, and the system clears every page anew, which takes a good part of a small
    epoch. Elsewhere than on glibc nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    settings = {TRIM_THRESHOLD: 256 * MIB, TOP_PAD: 64 * MIB, MMAP_THRESHOLD: 32 * MIB}
    return all(mallopt(name, value) for name, value in settings.items())
