"""Neighbours stored with the chosen nodes, drawn hop by hop (Zhang et al., 2022, SSM)."""

import math
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from evergraph.data.graph import Graph, row_entries
from evergraph.data.stream import TaskView


class NeighbourStorage(Enum):
    """Which neighbours of the chosen nodes are stored too.

    RANDOM: drawn uniformly. DEGREE: drawn in proportion to their own number of neighbours. NONE: no neighbours.
    """

    NONE = "none"
    RANDOM = "random"
    DEGREE = "degree"


def neighbour_budget(task: TaskView, centres: int, per_class: int, centres_per_class: int) -> int:
    """The neighbours to store a hop: so many for each class of the task.

    Where classes come back, few of a task's nodes may get a place beside those that are kept: then in proportion
    to the centres that did, ⌈per class · centres / centres per class⌉.
    """
    if task.classes_return:
        return math.ceil(per_class * centres / centres_per_class)
    return per_class * len(task.classes)


def sample_neighbours(
    graph: Graph,
    centres: NDArray[np.int64],
    how: NeighbourStorage,
    budget: int,
    hops: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """At most `budget` new nodes a hop, uniformly or in proportion to degree; without the centres, in hop order."""
    stored = frontier = centres
    for _ in range(0 if how is NeighbourStorage.NONE else hops):
        entries, _counts = row_entries(graph.adjacency, frontier)
        candidates = np.setdiff1d(graph.adjacency.indices[entries].astype(np.int64), stored)
        keys = rng.gumbel(size=len(candidates))
        if how is NeighbourStorage.DEGREE:
            keys += np.log(np.maximum(np.diff(graph.adjacency.indptr)[candidates], 1))
        frontier = np.sort(candidates[np.argsort(-keys, kind="stable")[:budget]])
        stored = np.concatenate([stored, frontier])
    return stored[len(centres) :]
