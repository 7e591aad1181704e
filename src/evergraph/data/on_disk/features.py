"""The features of a graph on disk, read and scaled in blocks of rows."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evergraph.budget import current_budget
from evergraph.data.on_disk.adjacency import Rows
from evergraph.data.on_disk.blocks import NotInMemory, block_rows
from evergraph.data.remote.place import Place

Scale: TypeAlias = Callable[[NDArray[Any]], NDArray[np.float32]]


class DiskFeatures(NotInMemory):
    """Rows of features in a memory map, scaled when they are read: f[rows] is an array of 32 bits.

    nodes: the rows of the file that count, None for all of them; scale: what is done to rows, each by itself.
    """

    dtype = np.dtype(np.float32)

    def __init__(
        self,
        stored: NDArray[Any],
        nodes: NDArray[np.int64] | None = None,
        scale: Scale | None = None,
        place: Place | None = None,
    ):
        self.stored, self.nodes, self.scale, self.place = stored, nodes, scale, place
        self.shape = (len(stored) if nodes is None else len(nodes), int(stored.shape[1]))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Rows) -> NDArray[np.float32]:
        values = np.asarray(self.stored[rows if self.nodes is None else self.nodes[rows]])
        values = values.astype(np.float32) if self.scale is None else self.scale(values.astype(np.float32))
        return np.ascontiguousarray(values, dtype=np.float32)

    def induced(self, nodes: NDArray[np.int64]) -> "DiskFeatures":
        own = nodes if self.nodes is None else self.nodes[nodes]
        return DiskFeatures(self.stored, own, self.scale, self.place)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the file again."""
        return _opened_again, (self.place, self.nodes, self.scale)

    def scaled(self, scale: Scale) -> "DiskFeatures":
        """The same rows, scaled; they were not before."""
        return DiskFeatures(self.stored, self.nodes, scale, self.place)

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """All rows, some at a time."""
        for part in row_blocks(self):
            yield part, self[part]


def row_blocks(features: "NDArray[Any] | DiskFeatures") -> list[slice]:
    """All rows of features as the budget of memory allows, some at a time."""
    at_once = block_rows(current_budget(), features.shape[1])
    return [slice(start, min(start + at_once, len(features))) for start in range(0, len(features), at_once)]


def _opened_again(place: Place, nodes: NDArray[np.int64] | None, scale: Scale | None) -> DiskFeatures:
    from evergraph.data.graph_folder.reading import mapped_features  # which reads graphs into this package

    return DiskFeatures(mapped_features(place.here()), nodes, scale, place)
