"""Anchors: a few training nodes of each class, by hashes of their features, to be known again in a later graph."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evergraph.replay.usage import MemoryUsage


class Anchors:
    """The `limit` smallest hashes of each class, a random choice that depends on no order; never any feature."""

    def __init__(self, limit: int):
        self.limit = limit
        self.hashes = np.zeros(0, dtype=np.uint64)
        self.labels = np.zeros(0, dtype=np.int32)

    def add(self, hashes: NDArray[np.uint64], labels: NDArray[np.int64]) -> None:
        """Take nodes in and keep the smallest hashes of each class."""
        everything = np.concatenate([self.hashes, hashes])
        every_label = np.concatenate([self.labels, labels.astype(np.int32)])
        order = np.lexsort((everything, every_label))
        everything, every_label = everything[order], every_label[order]
        fresh = np.ones(len(order), dtype=bool)
        fresh[1:] = (everything[1:] != everything[:-1]) | (every_label[1:] != every_label[:-1])
        everything, every_label = everything[fresh], every_label[fresh]
        place = np.arange(len(every_label)) - np.searchsorted(every_label, every_label)
        kept = place < self.limit
        self.hashes, self.labels = everything[kept], every_label[kept]

    def remove(self, hashes: NDArray[np.uint64]) -> None:
        """Forget nodes."""
        kept = ~np.isin(self.hashes, hashes)
        self.hashes, self.labels = self.hashes[kept], self.labels[kept]

    def merge(self, other: "Anchors", places: NDArray[np.int64] | None = None) -> None:
        """Take in the anchors of another, whose class k is class places[k] here."""
        labels = other.labels.astype(np.int64)
        self.add(other.hashes, labels if places is None else places[labels])

    def find(self, hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows with these hashes that are anchors, and their labels; nodes with equal features are left out."""
        if not len(self.hashes):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        values, inverse, uses = np.unique(self.hashes, return_inverse=True, return_counts=True)
        place = np.minimum(np.searchsorted(values, hashes), len(values) - 1)
        rows = np.flatnonzero(values[place] == hashes)
        times = np.bincount(place[rows], minlength=len(values))
        row_of = np.zeros(len(values), dtype=np.int64)
        row_of[place[rows]] = rows
        known = (uses[inverse] == 1) & (times[inverse] == 1)
        return row_of[inverse[known]], self.labels[known].astype(np.int64)

    def again(self, hashes: NDArray[np.uint64]) -> bool:
        """Whether a graph has nodes learned before: more anchors are found than are not there.

        Those whose features several nodes share say nothing; a few nodes may only look alike.
        """
        values = np.unique(self.hashes)
        return len(self.find(hashes)[0]) > int(np.count_nonzero(~np.isin(values, hashes)))

    def memory(self) -> MemoryUsage:
        """The bytes of hashes and labels."""
        return MemoryUsage(bytes=self.hashes.nbytes + self.labels.nbytes)

    def state(self) -> dict[str, Tensor]:
        """Hashes and labels as tensors."""
        hashes = torch.as_tensor(self.hashes.view(np.int64).copy())
        return {"anchors.hashes": hashes, "anchors.labels": torch.as_tensor(self.labels.copy())}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """The inverse of `state`."""
        self.hashes = state["anchors.hashes"].cpu().numpy().copy().view(np.uint64)
        self.labels = state["anchors.labels"].cpu().numpy().copy()
