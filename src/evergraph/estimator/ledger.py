"""Ledger: which nodes were learned, as which class, and a checksum of what was taken in of each."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Ledger:
    """Sorted keys of learned nodes with their class indices and checksums (0 where the method has none)."""

    def __init__(self) -> None:
        self.keys = np.zeros(0, dtype=np.int64)
        self.labels = np.zeros(0, dtype=np.int32)
        self.checks = np.zeros(0, dtype=np.uint64)

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each key, -1 where it is not there."""
        if not len(self.keys):
            return np.full(len(keys), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, place, -1)

    def add(self, keys: NDArray[np.int64], labels: NDArray[np.int64], checks: NDArray[np.uint64]) -> None:
        """Enter nodes that are not there yet."""
        every = np.concatenate([self.keys, keys])
        order = np.argsort(every, kind="stable")
        self.keys = every[order]
        self.labels = np.concatenate([self.labels, labels.astype(np.int32)])[order]
        self.checks = np.concatenate([self.checks, checks])[order]

    def remove(self, keys: NDArray[np.int64]) -> None:
        stays = ~np.isin(self.keys, keys)
        self.keys, self.labels, self.checks = self.keys[stays], self.labels[stays], self.checks[stays]

    def counts(self, n_classes: int) -> NDArray[np.int64]:
        """The learned nodes of each class."""
        return np.bincount(self.labels, minlength=n_classes)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays().values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is kept, by name."""
        return {"keys": self.keys, "labels": self.labels, "checks": self.checks.view(np.int64)}

    def load_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """The inverse of `arrays`."""
        self.keys, self.labels = arrays["keys"], arrays["labels"]
        self.checks = arrays["checks"].view(np.uint64)
