"""Spill: a column on disk that grows by appending and is read in parts."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Spill:
    """Numbers of one type in a file of their own, which only this object writes; it is open only while in use."""

    def __init__(self, path: Path, dtype: DTypeLike):
        self.path, self.dtype = path, np.dtype(dtype)
        self._length = 0
        path.touch(exist_ok=False)

    def __len__(self) -> int:
        return self._length

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end, as the type of this column."""
        with self.path.open("ab") as file:
            file.write(np.ascontiguousarray(values, dtype=self.dtype).data)
        self._length += len(values)

    def put(self, start: int, values: NDArray[Any]) -> None:
        """Write over the values from this place on."""
        with self.path.open("r+b") as file:
            file.seek(start * self.dtype.itemsize)
            file.write(np.ascontiguousarray(values, dtype=self.dtype).data)

    def __getitem__(self, place: slice) -> NDArray[Any]:
        start, stop, _ = place.indices(self._length)
        count = max(stop - start, 0)
        return np.fromfile(self.path, dtype=self.dtype, count=count, offset=start * self.dtype.itemsize)

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)
