"""Answer: what a classifier says of the nodes of a graph."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.data.graph import Graph
from evergraph.data.on_disk import MOST_ROWS, is_on_disk
from evergraph.errors import ConfigError
from evergraph.estimator.learned import Learned
from evergraph.estimator.names import UNKNOWN
from evergraph.estimator.prepared import Prepared


@dataclass(frozen=True)
class Answer:
    """For each node the label, its probability, how far the next one is, and whether the label is `unknown`.

    The label is names[places]; `labels` has all of them, each as long as the longest.
    """

    names: NDArray[Any]
    places: NDArray[np.int32]
    top: NDArray[np.float64]
    margin: NDArray[np.float64]
    unknown: NDArray[np.bool_]
    remarks: tuple[str, ...]

    @property
    def labels(self) -> NDArray[Any]:
        return self.names[self.places]


def answered(learned: Learned, prepared: Prepared, below: float | None = None) -> Answer:
    """Labels with their probabilities; below: the least probability of an answer, instead of the model's."""
    places, top, second = _best(learned, prepared.graph)
    unknown, names = top < (learned.below if below is None else below), np.array(learned.classes)
    if unknown.any():
        places[unknown] = len(names)
        names = np.append(names, UNKNOWN[0] if isinstance(learned.classes[0], str) else UNKNOWN[1])
    return Answer(names, places, top, np.subtract(top, second, out=second), unknown, prepared.remarks)


def check_below(learned: Learned, below: float | None) -> None:
    """ConfigError for what is no least probability of an answer, or cannot be one here."""
    if below is not None and (not isinstance(below, int | float) or not 0 <= below <= 1):
        raise ConfigError(f"below must be a probability from 0 to 1, got {below!r} instead")
    if below and UNKNOWN[0] in learned.classes:
        raise ConfigError(
            f"a class called {UNKNOWN[0]!r} cannot be told from no answer, got {below} as the least "
            "probability of one; leave it out"
        )


def _best(learned: Learned, graph: Graph) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """The likeliest class of every node, its probability and that of the next one; of a graph on disk in blocks."""
    at_once = MOST_ROWS if is_on_disk(graph) else max(graph.n_nodes, 1)
    best = np.empty(graph.n_nodes, dtype=np.int32)
    top, second = np.empty((2, graph.n_nodes))
    for start in range(0, graph.n_nodes, at_once):
        rows = np.arange(start, min(start + at_once, graph.n_nodes)) if at_once < graph.n_nodes else None
        here = slice(start, start + at_once)
        found = learned.probabilities(graph, rows)
        best[here] = found.argmax(axis=1)
        ordered = np.partition(found, -2, axis=1) if found.shape[1] > 1 else np.pad(found, ((0, 0), (1, 0)))
        second[here], top[here] = ordered[:, -2], ordered[:, -1]
    return best, top, second
