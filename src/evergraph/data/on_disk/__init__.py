"""Graphs that stay on disk: adjacency and features are read in blocks of rows, never as a whole.

`Graph.adjacency` and `Graph.features` of such a graph are a DiskAdjacency and a DiskFeatures over memory maps.
Whatever knows nothing of them gets one clear sentence instead of a copy that does not fit, or arrays (`as_arrays`).
"""

from evergraph.data.on_disk.adjacency import DiskAdjacency
from evergraph.data.on_disk.arrays import as_arrays
from evergraph.data.on_disk.blocks import MOST_ROWS, scratch_array
from evergraph.data.on_disk.features import DiskFeatures, Scale, row_blocks
from evergraph.data.on_disk.graphs import (
    bytes_in_memory,
    count_loops,
    described,
    disk_adjacency,
    has_weights,
    in_csr,
    is_on_disk,
    kept_on_disk,
    row_counts,
)
from evergraph.data.on_disk.steps import DiskSteps, Remembered

__all__ = [
    "MOST_ROWS",
    "DiskAdjacency",
    "DiskFeatures",
    "DiskSteps",
    "Remembered",
    "Scale",
    "as_arrays",
    "bytes_in_memory",
    "count_loops",
    "described",
    "disk_adjacency",
    "has_weights",
    "in_csr",
    "is_on_disk",
    "kept_on_disk",
    "row_blocks",
    "row_counts",
    "scratch_array",
]
