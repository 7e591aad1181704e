"""External sorting of keys: sorted runs on disk, merged block by block; a key that is repeated is kept once."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evergraph.tables.spill import Spill

Records: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]
"""Keys, numbers and weights."""
UNCOUNTED = -1
"""The number of a record whose repetitions do not matter."""


class ExternalSort:
    """Records of a key, a number that rises as they are added, and a weight; weights of one key are added up.

    repeated: how many records have a key that was there before; again: the number of the first of them.
    """

    def __init__(self, folder: Path, name: str, size: int):
        self.size = max(size, 1)
        self.repeated, self.again = 0, -1
        self.total = 0
        self._columns = (
            Spill(folder / f"{name}.keys", np.int64),
            Spill(folder / f"{name}.order", np.int64),
            Spill(folder / f"{name}.weights", np.float32),
        )
        self._ends: list[int] = []
        self._waiting: list[Records] = []
        self._count = 0

    def add(
        self, keys: NDArray[np.int64], numbers: NDArray[np.int64], weights: NDArray[np.float32] | None = None
    ) -> None:
        """Add records; what fills a run is sorted and written."""
        weights = np.ones(len(keys), dtype=np.float32) if weights is None else weights
        self.total += len(keys)
        start = 0
        while start < len(keys):
            stop = min(len(keys), start + self.size - self._count)
            self._waiting.append((keys[start:stop], numbers[start:stop], weights[start:stop]))
            self._count += stop - start
            start = stop
            if self._count == self.size:
                self._write_run()

    def _write_run(self) -> None:
        if not self._count:
            return
        keys, numbers, weights = self._reduced(_joined(self._waiting))
        self._columns[0].append(keys)
        self._columns[1].append(numbers)
        self._columns[2].append(weights)
        self._ends.append(len(self._columns[0]))
        self._waiting, self._count = [], 0

    def _reduced(self, records: Records) -> Records:
        """Sorted records with every key once; those of one key stay in their order, of which the first counts."""
        keys, numbers, weights = records
        order = np.argsort(keys, kind="stable")
        keys, numbers, weights = keys[order], numbers[order], weights[order]
        fresh = np.concatenate([[True], keys[1:] != keys[:-1]])
        if fresh.all():
            return keys, numbers, weights
        others = numbers[~fresh]
        others = others[others != UNCOUNTED]
        if len(others):
            self.repeated += len(others)
            self.again = int(others.min()) if self.again < 0 else min(self.again, int(others.min()))
        with np.errstate(over="ignore"):  # the caller refuses infinite sums
            sums = np.add.reduceat(weights, np.flatnonzero(fresh))
        return keys[fresh], numbers[fresh], sums

    def merged(self) -> Iterator[Records]:
        """All records in the order of their keys, every key once."""
        self._write_run()
        starts = [0, *self._ends][:-1]
        block = max(1, self.size // max(len(self._ends), 1))
        heads = [_empty() for _ in starts]
        while True:
            for run, (head, end) in enumerate(zip(heads, self._ends, strict=True)):
                if not len(head[0]) and starts[run] < end:
                    stop = min(end, starts[run] + block)
                    heads[run] = self._read(starts[run], stop)
                    starts[run] = stop
            parts = self._taken(heads, starts)
            if not parts:
                return
            yield self._reduced(_joined(parts))

    def _read(self, start: int, stop: int) -> Records:
        keys, numbers, weights = (column[start:stop] for column in self._columns)
        return keys, numbers, weights

    def _taken(self, heads: list[Records], starts: list[int]) -> list[Records]:
        """What no unread record can come before, taken from the heads of the runs in their order.

        A run has each key once, so that all records of a key are taken together.
        """
        unread = [head[0][-1] for head, start, end in zip(heads, starts, self._ends, strict=True) if start < end]
        last = min(unread) if unread else None
        parts = []
        for run, (keys, numbers, weights) in enumerate(heads):
            count = len(keys) if last is None else int(np.searchsorted(keys, last, side="right"))
            if count:
                parts.append((keys[:count], numbers[:count], weights[:count]))
                heads[run] = keys[count:], numbers[count:], weights[count:]
        return parts

    def remove(self) -> None:
        """Remove the files."""
        for column in self._columns:
            column.remove()


def _empty() -> Records:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)


def _joined(parts: list[Records]) -> Records:
    keys, numbers, weights = (np.concatenate([part[at] for part in parts]) for at in range(3))
    return keys, numbers, weights
