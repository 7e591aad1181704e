"""What a run needs of its process: threads, memory that stays with it, and the peak of its memory.

Only the command line and the executors' own processes change a process for good (`keep_freed_memory`); what a
library call changes, it puts back.
"""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Event, Thread

import torch

try:
    import resource
except ImportError:  # not on every platform
    resource = None  # type: ignore[assignment]

TRIM_THRESHOLD, TOP_PAD, MMAP_THRESHOLD = -1, -2, -3
"""glibc's names of what mallopt sets (malloc.h)."""
MIB = 1 << 20
SAMPLE_SECONDS = 0.05


@cache
def keep_freed_memory() -> bool:
    """Let glibc keep freed blocks up to 32 MiB for the rest of the process; True where that was possible.

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


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use this many threads inside (0: as many as it uses already), and as many as before afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class PeakMemory:
    """The most resident memory that the process has while this is open.

    The system keeps the peak of the whole process. Where the process had more before, that says nothing, and the
    peak is the largest of samples.
    """

    def __init__(self) -> None:
        self._before = _process_peak()
        self._sampled = 0
        self._stop = Event()
        self._thread = Thread(target=self._sample, name="evergraph-memory", daemon=True)

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while True:
            self._sampled = max(self._sampled, _resident())
            if self._stop.wait(SAMPLE_SECONDS):
                return

    @property
    def bytes(self) -> int:
        """The peak so far; 0 where the platform does not report it."""
        peak = _process_peak()
        if peak > self._before:
            return peak
        return max(self._sampled, _resident())


def _process_peak() -> int:
    """The most resident memory that the process ever had; 0 where the platform does not report it.

    Linux says it in /proc. There `ru_maxrss` is not the process's own: it begins with what the process had that
    started it.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        status = ""
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    if resource is None:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _resident() -> int:
    """The resident memory of the process now; where it cannot be had, its peak."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return _process_peak()
    return int(pages) * (resource.getpagesize() if resource is not None else 4096)
