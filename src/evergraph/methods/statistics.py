"""ClassStatistics: the counts, class sums and Gram matrices of φ; adding, forgetting and merging are exact.

n_c counts the rows of class c, q_c = Σ φ over them, G = Σ φφᵀ over all rows. Entries of φ are whole numbers
(`hop_features`), so these sums are whole numbers too: any order and any batching give the same bits.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from copy import deepcopy
from enum import Enum
from typing import Any, Self, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import blas
from torch import Tensor

from evergraph.errors import DataError
from evergraph.methods.gram import PANEL, add_class_sums, add_grams, ends
from evergraph.methods.hop_features import Codes
from evergraph.replay.usage import MemoryUsage
from evergraph.threads import in_threads

Matrix: TypeAlias = NDArray[np.float64]
Blocks: TypeAlias = Iterable[tuple[Codes, NDArray[np.int64]]]
"""Rows of φ and their labels, some at a time."""


class Precision(Enum):
    """How the Gram matrix is kept, its lower triangle only.

    EXACT: whole numbers of 32 bits (64 where these do not suffice). INT16: the within-class scatter
    G - Σ q_c q_cᵀ / n_c over the root of its diagonal, in 16 bits, and the diagonal in 64.
    """

    EXACT = "exact"
    INT16 = "int16"


LEVELS: dict[Precision, tuple[type[np.signedinteger[Any]], int]] = {
    Precision.INT16: (np.int16, 32767),
}


class Statistics(ABC):
    """What is kept of labelled rows: counts, means μ_c and the within-class scatter, for each of several maps φ."""

    counts: NDArray[np.int64]
    exact: bool
    """Whether rows that are taken out again leave no trace."""

    @property
    def n_classes(self) -> int:
        return len(self.counts)

    @abstractmethod
    def add(self, blocks: Blocks) -> None:
        """Add rows; a new class gets a column, a class that comes back adds to its own."""

    @abstractmethod
    def forget(self, blocks: Blocks) -> None:
        """Take rows out again that were added before, as if they had never been seen."""

    @abstractmethod
    def merge(self, other: "Statistics") -> None:
        """Add the sums of statistics of the same map, as if this had seen their rows too."""

    @abstractmethod
    def widen(self, n_classes: int) -> None:
        """Make room for classes."""

    def moved(self, places: NDArray[np.int64]) -> Self:
        """A copy in which class k is class places[k]."""
        copied = deepcopy(self)
        copied.widen(int(places.max(initial=-1)) + 1)
        copied._move(places)
        return copied

    @abstractmethod
    def _move(self, places: NDArray[np.int64]) -> None:
        """Let class k be class places[k]; there is room for it."""

    @abstractmethod
    def means(self, index: int, width: int | None = None) -> Matrix:
        """μ_c of map `index`, one row a class; zeros for a class without rows; the first features only."""

    @abstractmethod
    def scatter(self, index: int, width: int | None = None) -> Matrix:
        """The within-class covariance (G - Σ_c q_c q_cᵀ / n_c) / n of map `index`; the first features only."""

    def moment(self, index: int, share: float, width: int | None = None) -> Matrix:
        """share · scatter + Σ_c μ_c μ_cᵀ of map `index`; the first features only; above the diagonal anything."""
        means, total = self.means(index, width), self.scatter(index, width)
        total *= share
        total += means.T @ means
        return total

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is kept, by name."""

    @abstractmethod
    def load_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """The inverse of `arrays`."""

    def memory(self) -> MemoryUsage:
        """What is kept; no node, no edge."""
        held = self.arrays().values()
        return MemoryUsage(floats=sum(array.size for array in held), bytes=sum(array.nbytes for array in held))

    def state(self) -> dict[str, Tensor]:
        """What is kept as named tensors."""
        return {f"statistics.{name}": torch.as_tensor(array.copy()) for name, array in self.arrays().items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """The inverse of `state`."""
        prefix = "statistics."
        held = {name: value for name, value in state.items() if name.startswith(prefix)}
        self.load_arrays({name.removeprefix(prefix): value.cpu().numpy().copy() for name, value in held.items()})


class ClassStatistics(Statistics):
    """Sums over labelled rows for each of several maps φ; `gram` says whether second moments are kept."""

    def __init__(self, maps: int, width: int, *, gram: bool = True, precision: Precision = Precision.EXACT):
        self.width = width
        self.precision = precision
        self.exact = precision is Precision.EXACT
        self.counts = np.zeros(0, dtype=np.int64)
        self.sums = np.zeros((maps, 0, width), dtype=np.int32)
        self._gram: list[NDArray[Any]] = []
        self._diagonal: list[Matrix] = []
        if gram:
            self._keep([np.zeros(width * (width + 1) // 2, dtype=np.int64) for _ in range(maps)])

    def empty(self) -> "ClassStatistics":
        """The same sums of no rows."""
        return ClassStatistics(len(self.sums), self.width, gram=bool(self._gram), precision=self.precision)

    def add(self, blocks: Blocks) -> None:
        self._change(blocks, 1)

    def forget(self, blocks: Blocks) -> None:
        self._change(blocks, -1)

    def _check_learned(self, taken: NDArray[np.int64]) -> None:
        if len(taken) > self.n_classes or np.any(taken > self.counts):
            label = int(np.argmax(taken - np.pad(self.counts, (0, len(taken) - self.n_classes))))
            known = int(self.counts[label]) if label < self.n_classes else 0
            raise DataError(
                f"rows to forget must have been learned, got {taken[label]} of class {label}, which has {known}"
            )

    def _change(self, blocks: Blocks, sign: int) -> None:
        """Add all rows to the sums, or take them out; a fault in the middle leaves the sums as they were."""
        counts = np.zeros(self.n_classes, dtype=np.int64)
        sums = np.zeros(self.sums.shape, dtype=np.int64)
        grams = in_threads(self._summands, range(len(self._gram)))
        for codes, labels in blocks:
            more = max(int(labels.max(initial=-1)) + 1 - len(counts), 0)
            counts, sums = np.pad(counts, (0, more)), np.pad(sums, ((0, 0), (0, more), (0, 0)))
            counts += np.bincount(labels, minlength=len(counts))
            add_class_sums(sums, codes, labels)
            add_grams(grams, codes, sign)
        if sign < 0:
            self._check_learned(counts)
        self.widen(len(counts))
        self.counts = self.counts + sign * counts
        self._set_sums(self.sums.astype(np.int64) + sign * sums)
        self._keep(grams)

    def merge(self, other: Statistics) -> None:
        if not isinstance(other, ClassStatistics) or self._shape() != other._shape():
            came = other._shape() if isinstance(other, ClassStatistics) else "low-rank ones"
            raise DataError(
                f"statistics of (maps, width, precision) {self._shape()} are wanted, got {came} instead"
            )
        grams = [self._summands(index) + other._summands(index) for index in range(len(self._gram))]
        self.widen(other.n_classes)
        room = self.n_classes - other.n_classes
        self.counts = self.counts + np.pad(other.counts, (0, room))
        self._set_sums(self.sums.astype(np.int64) + np.pad(other.sums, ((0, 0), (0, room), (0, 0))))
        self._keep(grams)

    def _shape(self) -> tuple[int, int, str]:
        return len(self.sums), self.width, self.precision.value

    def widen(self, n_classes: int) -> None:
        more = max(n_classes - self.n_classes, 0)
        self.counts = np.pad(self.counts, (0, more))
        self.sums = np.pad(self.sums, ((0, 0), (0, more), (0, 0)))

    def _set_sums(self, sums: NDArray[np.int64]) -> None:
        self.sums = sums.astype(_whole(sums))

    def _move(self, places: NDArray[np.int64]) -> None:
        self.counts = scattered(self.counts, places, 0)
        self.sums = scattered(self.sums, places, 1)

    def means(self, index: int, width: int | None = None) -> Matrix:
        return np.asarray(self.sums[index, :, :width] / np.maximum(self.counts, 1)[:, None])

    def _between(self, index: int, width: int) -> Matrix:
        """Σ_c q_c q_cᵀ / n_c."""
        means = self.means(index, width)
        return np.asarray((means * self.counts[:, None]).T @ means)

    def scatter(self, index: int, width: int | None = None) -> Matrix:
        width = min(width or self.width, self.width)
        total = max(int(self.counts.sum()), 1)
        packed = self._gram[index][: width * (width + 1) // 2].astype(np.float64)
        whole = _whole_matrix(packed, width)  # changed in place: it is large
        if self.precision is Precision.EXACT:
            whole -= self._between(index, width)
            whole /= total
            return whole
        scale = np.sqrt(self._diagonal[index][:width])
        whole *= scale[:, None] * scale / (LEVELS[self.precision][1] * total)
        return whole

    def moment(self, index: int, share: float, width: int | None = None) -> Matrix:
        if not self.exact:
            return super().moment(index, share, width)
        width = min(width or self.width, self.width)
        share /= max(int(self.counts.sum()), 1)
        means = self.means(index, width)
        whole = np.zeros((width, width))  # G, then one product that takes off and adds what the classes do
        for row, end in enumerate(ends(width)):
            np.multiply(self._gram[index][end - row - 1 : end], share, out=whole[row, : row + 1])
        weights = (1 - share * self.counts)[:, None] * means
        return np.asarray(blas.dgemm(1.0, means.T, weights, beta=1.0, c=whole.T, overwrite_c=1).T)

    def gram(self, index: int) -> Matrix:
        """G of map `index`."""
        return self.scatter(index) * max(int(self.counts.sum()), 1) + self._between(index, self.width)

    def _summands(self, index: int) -> NDArray[Any]:
        """The lower triangle of the Gram matrix of map `index`, a copy to which others can be added."""
        return self._gram[index].astype(np.int64) if self.exact else _packed(self.gram(index))

    def _keep(self, triangles: list[NDArray[Any]]) -> None:
        """Keep these lower triangles of Gram matrices, in the precision asked for."""
        if self.exact:
            kinds = in_threads(lambda index: _whole(triangles[index]), range(len(triangles)))
            exact = np.result_type(*kinds, np.int32)
            self._gram = in_threads(lambda index: triangles[index].astype(exact), range(len(triangles)))
            return
        kind, top = LEVELS[self.precision]
        self._gram, self._diagonal = [], []
        for index, part in enumerate(triangles):
            within = part - _packed(self._between(index, self.width))
            rows = np.arange(self.width)
            diagonal = np.maximum(within[rows * (rows + 3) // 2], 0)
            scale = np.sqrt(np.where(diagonal > 0, diagonal, np.inf))
            levels = np.rint(within / _packed(scale[:, None] * scale) * top)
            self._gram.append(np.clip(levels, -top, top).astype(kind))
            self._diagonal.append(diagonal)

    def arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {"counts": self.counts, "sums": self.sums}
        arrays |= {"gram": np.stack(self._gram)} if self._gram else {}
        arrays |= {"diagonal": np.stack(self._diagonal)} if self._diagonal else {}
        return arrays

    def load_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.counts, self.sums = arrays["counts"], arrays["sums"]
        self._gram, self._diagonal = list(arrays.get("gram", ())), list(arrays.get("diagonal", ()))


def scattered(values: NDArray[Any], places: NDArray[np.int64], axis: int) -> NDArray[Any]:
    """Entry k along an axis at places[k], zeros elsewhere; there is room."""
    moved = np.zeros_like(values)
    np.moveaxis(moved, axis, 0)[places] = np.moveaxis(values, axis, 0)[: len(places)]
    return moved


def _packed(matrix: Matrix) -> NDArray[np.float64]:
    """The lower triangle row by row, so that the first features of a map come first."""
    packed = np.empty(len(matrix) * (len(matrix) + 1) // 2)
    for row, end in enumerate(ends(len(matrix))):
        packed[end - row - 1 : end] = matrix[row, : row + 1]
    return packed


def _whole_matrix(packed: NDArray[np.float64], width: int) -> Matrix:
    """The symmetric matrix of a packed lower triangle."""
    whole = np.zeros((width, width))
    for row, end in enumerate(ends(width)):
        whole[row, : row + 1] = packed[end - row - 1 : end]
    for start in range(0, width, PANEL):  # mirrored in squares, which is faster than column by column
        end = min(start + PANEL, width)
        whole[start:end, end:] = whole[end:, start:end].T
        whole[start:end, start:end] += np.tril(whole[start:end, start:end], -1).T
    return whole


def _whole(values: NDArray[Any]) -> type[np.signedinteger[Any]]:
    """The smaller integer type that holds these whole numbers."""
    largest = max(values.max(initial=0), -values.min(initial=0))
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64
