"""Propagation over a graph on disk, in blocks of rows and columns."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.budget import current_budget, memory_budget
from evergraph.data.on_disk.adjacency import DiskAdjacency, trusted
from evergraph.data.on_disk.blocks import block_columns, block_rows, scratch_array
from evergraph.data.on_disk.features import DiskFeatures
from evergraph.data.on_disk.jit import kernels
from evergraph.data.on_disk.shared import SharedArray, StoredArray, shared_array
from evergraph.threads import in_threads
from evergraph.workers import Workers, current_workers

PORTIONS = 4
"""Of the rows, for each worker: when one of them dies, so much of its work is done again at most."""


class DiskSteps:
    """Products with Â = D^-1/2 (A + I) D^-1/2 of an undirected graph on disk, the same bits as in memory.

    Where there are workers, each does some of the rows. scale: D^-1/2, computed where it is not given.
    """

    def __init__(self, adjacency: DiskAdjacency, scale: NDArray[np.float32] | None = None):
        self.adjacency = adjacency
        self.scale = self._degrees() ** -0.5 if scale is None else scale

    def _degrees(self) -> NDArray[np.float32]:
        """The row sums of A + I."""
        workers = current_workers()
        if workers is None:
            return np.concatenate(in_threads(self._degrees_of, self.adjacency.parts))
        common = self.adjacency, current_budget().memory
        return np.concatenate(workers.map(_degrees_of_rows, common, self._portions(workers, 1)))

    def _degrees_of(self, part: slice) -> NDArray[np.float32]:
        ones = np.ones(self.adjacency.n_nodes, dtype=np.float32)
        found = self._compiled(part, ones, ones[:, None])
        return np.asarray(self._with_loops(part).sum(axis=1)) if found is None else found[:, 0]

    def _portions(self, workers: Workers, width: int) -> list[list[slice]]:
        """All blocks of rows, in portions whose results of this width fit into memory; a few for each worker."""
        parts, n = self.adjacency.parts, self.adjacency.n_nodes
        most = current_budget().memory // 8 // (4 * width)
        count = min(max(PORTIONS * workers.count, -(-n // max(most, 1))), len(parts))
        return [[parts[at] for at in some] for some in np.array_split(np.arange(len(parts)), count)]

    def _with_loops(self, part: slice) -> sparse.csr_array:
        """Some rows of A + I."""
        rows = self.adjacency.rows(part)
        count, n = rows.shape
        ones = np.ones(count, dtype=np.float32)
        own = np.arange(part.start, part.stop, dtype=rows.indices.dtype)
        return sparse.csr_array(rows + trusted(ones, own, np.arange(count + 1), (count, n)))

    def rows(self, part: slice) -> sparse.csr_array:
        """Some rows of Â."""
        loops = self._with_loops(part)
        data = loops.data * np.repeat(self.scale[part], np.diff(loops.indptr)) * self.scale[loops.indices]
        return trusted(data.astype(np.float32), loops.indices, loops.indptr, loops.shape)

    def _product(self, part: slice, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Some rows of Â times a matrix in memory, in compiled loops where they are to be had."""
        found = self._compiled(part, self.scale, inputs)
        return np.asarray(self.rows(part) @ inputs) if found is None else found

    def _compiled(
        self, part: slice, scale: NDArray[np.float32], inputs: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        """Some rows of scale (A + I) scale times a matrix, in compiled loops; None where there are none."""
        loops, adjacency = kernels(), self.adjacency
        weights = adjacency.weights
        if loops is None or weights.dtype != np.float32:
            return None
        own = np.arange(part.start, part.stop)
        starts, ends = adjacency.bounds(part)
        out = np.zeros((len(own), inputs.shape[1]), dtype=np.float32)
        indices, place = np.asarray(adjacency.whole.indices), adjacency.place_of
        loops.add_product(own, starts, ends, indices, weights, place, adjacency.loops, scale, inputs, out)
        return out

    def times(
        self, source: Any, after: Callable[[slice, slice, NDArray[np.float32]], NDArray[np.float32]] | None = None
    ) -> Any:
        """Â times a matrix that is read by rows, in blocks of rows and columns: another one that is read by rows.

        after: is given rows, columns and values of each block, and gives the values to keep.
        """
        n, width = source.shape
        workers = current_workers()
        if workers is not None and after is None and isinstance(source, DiskFeatures | SharedArray | StoredArray):
            return self._times_by(workers, source)
        found = scratch_array((n, width))
        budget = current_budget()
        at_once = block_columns(budget, n, width)
        for first in range(0, width, at_once):
            columns = slice(first, min(first + at_once, width))
            inputs = _columns(source, columns, block_rows(budget, width))

            def fill(part: slice, columns: slice = columns, inputs: NDArray[np.float32] = inputs) -> None:
                values = self._product(part, inputs)
                found[part, columns] = values if after is None else after(part, columns, values)

            in_threads(fill, self.adjacency.parts)
        return found

    def _times_by(self, workers: Workers, source: Any) -> SharedArray | StoredArray:
        found = shared_array(workers.folder, source.shape)
        common = self.adjacency, self.scale, source, found, current_budget().memory
        portions = self._portions(workers, source.shape[1])
        workers.map(_times_rows, common, portions)
        found.written([parts[0].start for parts in portions])
        return found

    def rows_times(self, parts: Sequence[slice], source: Any) -> NDArray[np.float32]:
        """The product of blocks of rows that follow each other, in memory."""
        n, width = source.shape
        budget, first = current_budget(), parts[0].start
        found = np.empty((parts[-1].stop - first, width), dtype=np.float32)
        at_once = block_columns(budget, n, width)
        for start in range(0, width, at_once):
            columns = slice(start, min(start + at_once, width))
            inputs = _columns(source, columns, block_rows(budget, width))
            for part in parts:
                found[part.start - first : part.stop - first, columns] = self._product(part, inputs)
        return found


def _degrees_of_rows(common: tuple[DiskAdjacency, int], parts: Sequence[slice]) -> NDArray[np.float32]:
    """What a worker does for the degrees."""
    adjacency, memory = common
    with memory_budget(memory):
        steps = DiskSteps(adjacency, np.zeros(0, dtype=np.float32))
        return np.concatenate([steps._degrees_of(part) for part in parts])


def _times_rows(common: tuple[Any, ...], parts: Sequence[slice]) -> None:
    """What a worker does for a product: its rows go to the file that all share; done twice, they are the same."""
    adjacency, scale, source, found, memory = common
    with memory_budget(memory):
        found.write(parts[0].start, DiskSteps(adjacency, scale).rows_times(parts, source))


def _columns(source: Any, columns: slice, at_once: int) -> NDArray[np.float32]:
    """Some columns of a matrix that is read by rows, in memory."""
    n, width = source.shape
    if isinstance(source, np.ndarray) and not isinstance(source, np.memmap) and columns == slice(0, width):
        return source
    inputs = np.empty((n, columns.stop - columns.start), dtype=np.float32)
    for start in range(0, n, at_once):
        inputs[start : start + at_once] = source[start : start + at_once][:, columns]
    return inputs


class Remembered:
    """What was computed of the last graphs on disk: the whole graph and a task's own are asked for in turn."""

    MOST = 2

    def __init__(self) -> None:
        self._known: list[tuple[DiskAdjacency, Any]] = []

    def of(self, adjacency: DiskAdjacency, compute: Callable[[], Any]) -> Any:
        """The value for these nodes, computed where it is not known."""
        for at, (known, value) in enumerate(self._known):
            if known.same_as(adjacency):
                self._known.append(self._known.pop(at))
                return value
        self._known = self._known[-(self.MOST - 1) :]  # before more room is taken
        value = compute()
        self._known.append((adjacency, value))
        return value
