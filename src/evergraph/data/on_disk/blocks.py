"""How much of a graph on disk is in memory at a time, from the budget, and room for what does not fit."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evergraph.budget import Budget, current_budget
from evergraph.errors import DataError, StoreError

ENTRY_BYTES = 96
"""Memory of an adjacency entry that is worked on, with all copies."""
MOST_ENTRIES = 1 << 22
MOST_ROWS = 1 << 18
"""The most entries of the adjacency, and rows of features, that are read together."""


class NotInMemory:
    """Refuses, in one sentence, whatever needs the array as a whole."""

    def _refuse(self) -> NoReturn:
        raise DataError(
            "this needs the whole graph in memory, got one that is read from disk in blocks; raise --memory"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        self._refuse()


def _refused(self: NotInMemory, *_: object) -> NoReturn:
    self._refuse()


for _name in ("add", "sub", "mul", "truediv", "matmul", "pow"):
    setattr(NotInMemory, f"__{_name}__", _refused)
    setattr(NotInMemory, f"__r{_name}__", _refused)
for _name in ("neg", "abs", "lt", "le", "gt", "ge"):
    setattr(NotInMemory, f"__{_name}__", _refused)


def block_entries(budget: Budget) -> int:
    """Entries of the adjacency that are worked on together, for each thread."""
    return max(1, min(MOST_ENTRIES, budget.memory // 16 // ENTRY_BYTES))


def block_rows(budget: Budget, width: int) -> int:
    """Rows of so many numbers of 32 bits that are worked on together."""
    return max(1, min(MOST_ROWS, budget.memory // 64 // max(4 * width, 1)))


def block_columns(budget: Budget, n_nodes: int, width: int) -> int:
    """Columns of numbers of 32 bits, one for each node, that are in memory together; alike in every pass."""
    most = max(1, int(0.4 * budget.memory) // max(4 * n_nodes, 1))
    passes = -(-width // most)
    return max(1, -(-width // passes))


def scratch_array(shape: tuple[int, int]) -> NDArray[np.float32]:
    """Room for numbers of 32 bits: in memory where they are few, else in a file."""
    if 4 * shape[0] * shape[1] <= current_budget().memory // 64:
        return np.empty(shape, dtype=np.float32)
    return scratch_file(shape, np.float32)


def scratch_file(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Room for an array in a file of the scratch folder, which goes with the array."""
    size, scratch = int(np.prod(shape)) * np.dtype(dtype).itemsize, current_budget().scratch
    if not size:
        return np.empty(shape, dtype=dtype)
    with _room(scratch, size), tempfile.TemporaryFile(dir=scratch) as file:
        _allocate(file.fileno(), size)
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


def reserve(path: Path, size: int) -> None:
    """Make a file of so many bytes."""
    with _room(path.parent, size), path.open("xb") as file:
        _allocate(file.fileno(), size)


def _allocate(descriptor: int, size: int) -> None:
    """A full disk is noticed here, not while a page is written later."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
    else:
        os.truncate(descriptor, size)


@contextmanager
def _room(folder: Path, size: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{folder} must take {size / 1e9:.2g} GB of what is computed in blocks, got: "
            f"{error.strerror or error}; choose another folder with --scratch"
        ) from None
