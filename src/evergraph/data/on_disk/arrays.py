"""A graph on disk as arrays, for what knows nothing of blocks: in memory where it fits, else over memory maps."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.budget import current_budget
from evergraph.data.graph import Graph
from evergraph.data.on_disk.adjacency import DiskAdjacency, trusted
from evergraph.data.on_disk.blocks import scratch_file
from evergraph.data.on_disk.features import DiskFeatures
from evergraph.data.on_disk.graphs import bytes_in_memory, disk_adjacency
from evergraph.errors import DataError
from evergraph.threads import in_threads
from evergraph.workers import SHARED_METHODS, current_workers


def as_arrays(graph: Graph) -> Graph:
    """The same graph with CSR and array: copies in memory, or maps of files in the scratch folder if they are more
    than the budget.

    What takes some rows at a time of the maps, such as sampled batches, reads these alone.
    """
    if current_workers() is not None:
        raise DataError(
            f"--executor ray shares the work of {SHARED_METHODS}, got a method that trains a network; leave "
            "--executor out"
        )
    adjacency, fits = disk_adjacency(graph), bytes_in_memory(graph) <= current_budget().memory
    features: object = graph.features
    if isinstance(features, DiskFeatures):
        features = _in_memory(features) if fits else _mapped(features)
    return replace(graph, adjacency=_loaded(adjacency) if fits else adjacency.mapped(), features=features)


def _loaded(adjacency: DiskAdjacency) -> sparse.csr_array:
    parts = in_threads(adjacency.rows, adjacency.parts)
    if not parts:
        return trusted(np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(1, np.int64), adjacency.shape)
    counts = np.concatenate([np.diff(part.indptr) for part in parts])
    data, indices = (np.concatenate([getattr(part, name) for part in parts]) for name in ("data", "indices"))
    return trusted(data, indices, np.concatenate([[0], np.cumsum(counts)]), adjacency.shape)


def _in_memory(features: DiskFeatures) -> NDArray[np.float32]:
    return _filled(np.empty(features.shape, dtype=np.float32), features)


def _mapped(features: DiskFeatures) -> NDArray[np.float32]:
    """The file itself where its rows count as they are, else a new one."""
    if features.nodes is None and features.scale is None and features.stored.dtype == np.float32:
        return features.stored
    return _filled(scratch_file(features.shape, np.float32), features)


def _filled(room: NDArray[Any], features: DiskFeatures) -> NDArray[np.float32]:
    for part, rows in features.blocks():
        room[part] = rows
    return room
