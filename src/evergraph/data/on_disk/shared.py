"""Propagated features that workers share: in a file that all of them reach, or in parts at an address."""

import os
import weakref
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from evergraph.data.on_disk.adjacency import Rows
from evergraph.data.on_disk.blocks import reserve, scratch_file
from evergraph.data.remote.storage import RemoteFolder
from evergraph.errors import StoreError

_BRINGING = Lock()
"""Threads that ask for the same array bring it once."""
MOST_HERE = 3
"""Arrays from an address that a process has on its disk at a time: what a sum over three hops reads."""


def shared_array(where: Path | str, shape: tuple[int, int]) -> "SharedArray | StoredArray":
    """Room for numbers that workers write and read, below a folder or at an address."""
    return SharedArray.made(where, shape) if isinstance(where, Path) else StoredArray.made(where, shape)


class SharedArray:
    """Numbers of 32 bits in a file that workers reach, read by rows; the file goes with the array that made it."""

    dtype = np.dtype(np.float32)

    def __init__(self, path: Path, shape: tuple[int, int]):
        self.path, self.shape = path, shape

    @classmethod
    def made(cls, folder: Path, shape: tuple[int, int]) -> "SharedArray":
        """A new one."""
        made = cls(folder / f"evergraph-{uuid4().hex}", shape)
        reserve(made.path, 4 * shape[0] * shape[1])
        weakref.finalize(made, made.path.unlink, missing_ok=True)
        return made

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Rows) -> NDArray[np.float32]:
        return np.asarray(np.memmap(self.path, self.dtype, "r", shape=self.shape)[rows])

    def write(self, first: int, rows: NDArray[np.float32]) -> None:
        """Put rows where they belong."""
        with self.path.open("r+b") as file:
            file.seek(4 * first * self.shape[1])
            file.write(np.ascontiguousarray(rows).data)
            file.flush()
            os.fsync(file.fileno())

    def written(self, starts: list[int]) -> None:
        """All rows are there."""

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedArray, (self.path, self.shape)


class StoredArray:
    """The same in parts at an address, by the number of their first row; a process that reads rows brings them all.

    starts: the first rows of all parts, known when all are written.
    """

    dtype = np.dtype(np.float32)

    def __init__(self, address: str, shape: tuple[int, int], starts: tuple[int, ...] = ()):
        self.address, self.shape, self.starts = address, shape, starts

    @classmethod
    def made(cls, address: str, shape: tuple[int, int]) -> "StoredArray":
        """A new one, which goes with this."""
        made = cls(f"{address.rstrip('/')}/evergraph-{uuid4().hex}", shape)
        weakref.finalize(made, _removed, made.address)
        return made

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Rows) -> NDArray[np.float32]:
        with _BRINGING:
            array = _brought(self.address, self.shape, self.starts)
        return np.asarray(array[rows])

    def write(self, first: int, rows: NDArray[np.float32]) -> None:
        """A part, whose first row this is."""
        RemoteFolder(self.address).write(str(first), np.ascontiguousarray(rows).tobytes())

    def written(self, starts: list[int]) -> None:
        """All parts are there."""
        self.starts = tuple(starts)

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredArray, (self.address, self.shape, self.starts)


@lru_cache(MOST_HERE)
def _brought(address: str, shape: tuple[int, int], starts: tuple[int, ...]) -> NDArray[np.float32]:
    """The parts of an array as one map of a file without a name, which goes with the process at the latest."""
    found: NDArray[np.float32] = scratch_file(shape, np.float32)
    content, remote = found.reshape(-1).view(np.uint8), RemoteFolder(address)
    for start, stop in pairwise((*starts, shape[0])):
        place, end = (4 * row * shape[1] for row in (start, stop))
        for chunk in remote.chunks(str(start)):
            here = slice(place, place + len(chunk))
            place = here.stop
            if place > end:
                break
            content[here] = np.frombuffer(chunk, dtype=np.uint8)
        if place != end:
            raise StoreError(
                f"{address}/{start} must have {4 * (stop - start) * shape[1]:,} bytes, got others; start again, "
                "and leave --scratch alone meanwhile"
            )
    return found


def forget_brought() -> None:
    """Give the room on this disk back."""
    _brought.cache_clear()


def _removed(address: str) -> None:
    RemoteFolder(address).remove()
