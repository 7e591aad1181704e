"""A graph that grows by months, for the tests of what a classifier learns of it."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from evergraph import ContinualClassifier, load_dataset
from evergraph.tables import Batch, to_batch
from helpers import tiny_graph

GRAPH = load_dataset("digits")


FAST: dict[str, Any] = {"settings": {"method": {"width": 96}}}


SUMS = ("learner.statistics", "ledger")


def batch(rows: NDArray[np.int64], labelled: NDArray[np.bool_] | None = None) -> Batch:
    """Some digits with their own ids, named classes and, where `labelled` says so, labels."""
    part = GRAPH.subgraph(rows)
    shown = np.ones(len(rows), dtype=bool) if labelled is None else labelled
    names = [f"digit {label}" if here else None for label, here in zip(part.labels, shown, strict=True)]
    return to_batch((part.adjacency, part.features), names, ids=[f"n{row}" for row in rows])


def months(seed: int = 0) -> list[Batch]:
    """The graph so far, three times; classes come back, and only new nodes have a label."""
    rng = np.random.default_rng(seed)
    arrival = np.where(GRAPH.labels < 4, rng.integers(0, 2, GRAPH.n_nodes), rng.integers(1, 3, GRAPH.n_nodes))
    found = []
    for month in range(3):
        rows = np.flatnonzero(arrival <= month)
        found.append(batch(rows, arrival[rows] == month))
    return found


def state(model: ContinualClassifier, *prefixes: str) -> dict[str, Any]:
    """What is stored, or what of it begins so."""
    held = model.contents()[1]
    return {name: torch.as_tensor(held[name]) for name in held if name.startswith(prefixes or "")}


def noisy(n: int = 60) -> tuple[Any, NDArray[np.float32]]:
    graph = tiny_graph((n // 2, n // 2))
    assert isinstance(graph.features, np.ndarray)
    return graph.adjacency, graph.features
