"""EmbeddingBuffer: rows that stand for nodes, without any edge, in eight bits a number or in full."""

from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from evergraph.backbones.input_product import SPARSE_COST
from evergraph.data.graph import Features
from evergraph.data.stream import TaskView
from evergraph.replay.selection import Chosen, winners
from evergraph.replay.storage import edgeless
from evergraph.replay.usage import MemoryUsage
from evergraph.training.net import Part


class Precision(Enum):
    """How numbers are kept: INT8 keeps x as round(x / s) with s = max|row| / 127, one s for each row."""

    FLOAT32 = "float32"
    INT8 = "int8"


class EmbeddingBuffer:
    """(nodes, width) numbers, their scales where they are int8, and a label for each row."""

    def __init__(self, precision: Precision) -> None:
        self.precision = precision
        self.held: dict[str, NDArray[Any]] = {}

    @property
    def n_replayed(self) -> int:
        """The rows whose loss is replayed."""
        return len(self.held["labels"]) if self.held else 0

    def admit(self, task: TaskView, chosen: Chosen, budget: int) -> Chosen:
        """As `ReplayBuffer.admit`: where classes come back, kept rows and chosen nodes compete by their keys."""
        if "keys" not in self.held:
            return chosen
        labels = np.concatenate([self.held["labels"], task.train_labels[chosen.at]])
        wins = winners(labels, np.concatenate([self.held["keys"], chosen.keys]), budget)
        stays, new = wins[: self.n_replayed], wins[self.n_replayed :]
        self.held = {name: value[stays] for name, value in self.held.items()}
        return Chosen(chosen.at[new], chosen.keys[new])

    def store(self, task: TaskView, chosen: Chosen, rows: Features) -> None:
        """Keep a row for each chosen training node, with its label, and its key where classes come back."""
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        piece: dict[str, NDArray[Any]] = {"labels": task.train_labels[chosen.at], "rows": dense}
        if task.classes_return:
            piece["keys"] = chosen.keys
        if task.forgettable:
            piece["ids"] = task.node_ids[task.train[chosen.at]]
        if self.precision is Precision.INT8:
            codes, scales = quantised(dense)
            piece |= {"rows": codes, "scales": scales}
        before = self.held or {name: value[:0] for name, value in piece.items()}
        self.held = {name: np.concatenate([before[name], value]) for name, value in piece.items()}

    def drop(self, ids: NDArray[np.int64]) -> int:
        """As `ReplayBuffer.drop`."""
        if "ids" not in self.held:
            return 0
        stays = ~np.isin(self.held["ids"], ids)
        self.held = {name: value[stays] for name, value in self.held.items()} if stays.any() else {}
        return int((~stays).sum())

    def rows(self) -> NDArray[np.float32]:
        """The kept rows as numbers again."""
        rows = self.held["rows"].astype(np.float32)
        return rows * self.held["scales"][:, None] if self.precision is Precision.INT8 else rows

    def parts(self, task: TaskView, scale: float) -> list[Part]:
        """The kept rows as nodes without neighbours, whatever the task; none while the buffer is empty."""
        if not self.held:
            return []
        labels = self.held["labels"]
        return [Part(edgeless(thinned(self.rows()), labels), np.arange(len(labels)), labels, scale, kept=True)]

    def memory(self) -> MemoryUsage:
        """What is kept, and its bytes; a random projection is drawn again from its seed and takes none."""
        if not self.held:
            return MemoryUsage()
        return MemoryUsage(
            nodes=self.n_replayed,
            floats=self.held["rows"].size,
            bytes=sum(value.nbytes for value in self.held.values()),
        )

    def state(self) -> dict[str, Tensor]:
        """The buffer as named tensors; nothing while it is empty."""
        return {f"buffer.{name}": torch.as_tensor(value) for name, value in self.held.items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """The inverse of `state`."""
        names = [name for name in ("labels", "rows", "keys", "ids", "scales") if f"buffer.{name}" in state]
        self.held = {name: state[f"buffer.{name}"].cpu().numpy() for name in names}


def thinned(rows: NDArray[np.float32]) -> Features:
    """Rows of few non-zero numbers as a sparse matrix, with which training is faster; others as they are."""
    few = SPARSE_COST * np.count_nonzero(rows) <= rows.size
    return sparse.csr_array(rows) if few else rows


def quantised(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Eight-bit codes and the scale of each row: |x - code · scale| ≤ scale / 2."""
    scales = (np.abs(rows).max(axis=1) / 127).astype(np.float32)
    codes = np.rint(rows / np.where(scales > 0, scales, 1)[:, None])
    return np.clip(codes, -127, 127).astype(np.int8), scales
