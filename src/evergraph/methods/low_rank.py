"""LowRankStatistics: class means and a low-rank within-class scatter of φ, a byte a number.

The scatter Σ (φ - μ_c)(φ - μ_c)ᵀ is kept as RᵀR + diag(d): R holds the `rank` strongest directions seen so far, d
what is lost of the diagonal. Rows come in by blocks: the strongest directions of R and the block, stacked, are the
new R. A class that comes back with n rows of mean m beside n' rows of mean m' adds the row √(nn'/(n+n')) (m - m').
Means and R are rounded to 8 bits; so the order of tasks matters a little, and nothing can be taken out again.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from evergraph.errors import DataError
from evergraph.methods.hop_features import Codes
from evergraph.methods.statistics import Blocks, Matrix, Statistics, scattered

ROWS = 1024
"""Rows that are taken in at a time."""


class LowRankStatistics(Statistics):
    """Sums over labelled rows for each of several maps φ, in (rank + classes + 4) · width bytes a map."""

    def __init__(self, maps: int, width: int, rank: int):
        self.width = width
        self.rank = rank
        self.exact = False
        self.counts = np.zeros(0, dtype=np.int64)
        self._means = _Bytes.zeros((maps, 0, width))
        self._rows = _Bytes.zeros((maps, 0, width))
        self._rest = np.zeros((maps, width), dtype=np.float32)

    def add(self, blocks: Blocks) -> None:
        for codes, labels in blocks:
            self.widen(int(labels.max(initial=-1)) + 1)
            for start in range(0, len(labels), ROWS):
                self._add(codes[:, start : start + ROWS], labels[start : start + ROWS])

    def _add(self, codes: Codes, labels: NDArray[np.int64]) -> None:
        present, place, came = np.unique(labels, return_inverse=True, return_counts=True)
        member = (place == np.arange(len(present))[:, None]).astype(np.float64)
        parts = []
        for index, code in enumerate(codes.astype(np.float64)):
            fresh = member @ code / came[:, None]
            parts.append(self._with(index, _Rows(present, came, fresh, code - fresh[place])))
        self._keep(present, came, parts)

    def merge(self, other: Statistics) -> None:
        """Take in the means and the directions of statistics of the same map, as if these were rows."""
        if not isinstance(other, LowRankStatistics) or self._shape() != other._shape():
            raise DataError(
                f"low-rank statistics of (maps, width, rank) {self._shape()} are wanted, got others instead"
            )
        self.widen(other.n_classes)
        present = np.flatnonzero(other.counts)
        came = other.counts[present]
        parts = [
            self._with(index, _Rows(present, came, other.means(index)[present], other._rows.value(index)))
            for index in range(len(self._rest))
        ]
        self._keep(present, came, parts)
        self._rest = self._rest + other._rest

    def _shape(self) -> tuple[int, int, int]:
        return len(self._rest), self.width, self.rank

    def _with(self, index: int, more: "_Rows") -> tuple[Matrix, Matrix, Matrix]:
        """The means, directions and rest of map `index` with more rows."""
        means, before = self.means(index), self.counts[more.present]
        shift = more.means - means[more.present]
        between = np.sqrt(more.came * before / (more.came + before))[:, None] * shift
        means[more.present] += (more.came / (more.came + before))[:, None] * shift
        stacked = np.concatenate([self._rows.value(index), more.centred, between[before > 0]])
        strong = _strongest(stacked, self.rank)
        lost = np.einsum("ij,ij->j", stacked, stacked) - np.einsum("ij,ij->j", strong, strong)
        return means, strong, self._rest[index] + np.maximum(lost, 0)

    def _keep(
        self, present: NDArray[np.int64], came: NDArray[np.int64], parts: list[tuple[Matrix, Matrix, Matrix]]
    ) -> None:
        self.counts = self.counts + np.bincount(present, came, len(self.counts)).astype(np.int64)
        self._means = _Bytes.of(np.stack([means for means, _, _ in parts]))
        self._rows = _Bytes.of(np.stack([rows for _, rows, _ in parts]))
        self._rest = np.stack([rest for _, _, rest in parts]).astype(np.float32)

    def forget(self, blocks: Blocks) -> None:
        raise DataError(
            f"forgetting needs the whole Gram matrix, got one of rank {self.rank} instead; learn with method.rank=0"
        )

    def widen(self, n_classes: int) -> None:
        more = max(n_classes - self.n_classes, 0)
        self.counts = np.pad(self.counts, (0, more))
        self._means = self._means.padded(more)

    def _move(self, places: NDArray[np.int64]) -> None:
        self.counts = scattered(self.counts, places, 0)
        self._means = _Bytes(scattered(self._means.levels, places, 1), scattered(self._means.scales, places, 1))

    def means(self, index: int, width: int | None = None) -> Matrix:
        return self._means.value(index)[:, :width]

    def scatter(self, index: int, width: int | None = None) -> Matrix:
        rows = self._rows.value(index)[:, :width]
        total = rows.T @ rows
        total[np.diag_indices_from(total)] += self._rest[index, :width]
        return np.asarray(total / max(int(self.counts.sum()), 1))

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "counts": self.counts,
            "means": self._means.levels,
            "mean_scales": self._means.scales,
            "rows": self._rows.levels,
            "row_scales": self._rows.scales,
            "rest": self._rest,
        }

    def load_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.counts, self._rest = arrays["counts"], arrays["rest"]
        self._means = _Bytes(arrays["means"], arrays["mean_scales"])
        self._rows = _Bytes(arrays["rows"], arrays["row_scales"])


class _Rows(NamedTuple):
    """Rows of some classes: the classes, their numbers of rows and means, and the rows without their means."""

    present: NDArray[np.int64]
    came: NDArray[np.int64]
    means: Matrix
    centred: Matrix


class _Bytes:
    """Rows of numbers as signed bytes, each row with a scale: (maps, rows, width)."""

    def __init__(self, levels: NDArray[np.int8], scales: NDArray[np.float32]):
        self.levels = levels
        self.scales = scales

    @classmethod
    def zeros(cls, shape: tuple[int, int, int]) -> "_Bytes":
        return cls(np.zeros(shape, dtype=np.int8), np.zeros(shape[:2], dtype=np.float32))

    @classmethod
    def of(cls, values: Matrix) -> "_Bytes":
        scales = (np.abs(values).max(axis=2, initial=0) / 127).astype(np.float32)
        unit = np.where(scales > 0, scales, 1)[:, :, None]
        return cls(np.clip(np.rint(values / unit), -127, 127).astype(np.int8), scales)

    def value(self, index: int) -> Matrix:
        return np.asarray(self.levels[index] * self.scales[index].astype(np.float64)[:, None])

    def padded(self, more: int) -> "_Bytes":
        return _Bytes(np.pad(self.levels, ((0, 0), (0, more), (0, 0))), np.pad(self.scales, ((0, 0), (0, more))))


def _strongest(rows: Matrix, rank: int) -> Matrix:
    """R with at most `rank` rows whose RᵀR is nearest to that of the rows."""
    if len(rows) <= rank:
        return rows
    first = len(rows) - rank
    if len(rows) <= rows.shape[1]:
        _, left = linalg.eigh(rows @ rows.T, subset_by_index=(first, len(rows) - 1), check_finite=False)
        return np.asarray(left.T @ rows)
    keep = min(rank, rows.shape[1])
    last = rows.shape[1] - 1
    values, right = linalg.eigh(rows.T @ rows, subset_by_index=(last + 1 - keep, last), check_finite=False)
    return np.asarray(right * np.sqrt(np.maximum(values, 0))).T
