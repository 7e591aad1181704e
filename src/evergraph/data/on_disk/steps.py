"""Propagation over a graph on disk, in blocks of rows and columns."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.budget import current_budget
from evergraph.data.on_disk.adjacency import DiskAdjacency, trusted
from evergraph.data.on_disk.blocks import block_columns, block_rows, scratch_array
from evergraph.threads import in_threads


class DiskSteps:
    """Products with Â = D^-1/2 (A + I) D^-1/2 of an undirected graph on disk, the same bits as in memory."""

    def __init__(self, adjacency: DiskAdjacency):
        self.adjacency = adjacency
        self.scale = np.empty(adjacency.n_nodes, dtype=np.float32)

        def fill(part: slice) -> None:
            self.scale[part] = np.asarray(self._with_loops(part).sum(axis=1)) ** -0.5

        in_threads(fill, adjacency.parts)

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

    def times(
        self, source: Any, after: Callable[[slice, slice, NDArray[np.float32]], NDArray[np.float32]] | None = None
    ) -> NDArray[np.float32]:
        """Â times a matrix that is read by rows, in blocks of rows and columns.

        after: is given rows, columns and values of each block, and gives the values to keep.
        """
        n, width = source.shape
        found = scratch_array((n, width))
        budget = current_budget()
        at_once = block_columns(budget, n, width)
        for first in range(0, width, at_once):
            columns = slice(first, min(first + at_once, width))
            inputs = _columns(source, columns, block_rows(budget, width))

            def fill(part: slice, columns: slice = columns, inputs: NDArray[np.float32] = inputs) -> None:
                values = self.rows(part) @ inputs
                found[part, columns] = values if after is None else after(part, columns, values)

            in_threads(fill, self.adjacency.parts)
        return found


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
