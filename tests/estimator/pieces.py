"""Graphs with two classes each, to be learned one after another."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph import load_dataset
from helpers import tiny_graph

Piece = tuple[tuple[sparse.csr_array, NDArray[np.float32]], NDArray[np.int64]]
SETTINGS: dict[str, Any] = {"method": "ftf-er-prob", "budget": 10, "epochs": 30, "holdout": 0.0}
QUICK: dict[str, Any] = {
    "method": "ftf-er-det",
    "budget": 3,
    "epochs": 2,
    "settings": {"backbone": {"hidden": 8}},
}


def pieces() -> list[Piece]:
    graph = load_dataset("digits")
    result = []
    for first in (0, 2, 4):
        part = graph.subgraph(np.flatnonzero((graph.labels == first) | (graph.labels == first + 1)))
        assert isinstance(part.features, np.ndarray)
        result.append(((part.adjacency, part.features), part.labels + 100))
    return result


def tiny_pieces() -> list[Piece]:
    """Three small graphs with two classes each."""
    result = []
    for index in range(3):
        graph = tiny_graph((8, 8), seed=index)
        assert isinstance(graph.features, np.ndarray)
        result.append(((graph.adjacency, graph.features), graph.labels + 2 * index))
    return result
