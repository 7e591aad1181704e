"""HeldOut: labelled nodes that are kept aside, to see after every batch whether old classes are still known."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.data.graph import Graph
from evergraph.data.on_disk import disk_adjacency, is_on_disk
from evergraph.estimator.ledger import Ledger
from evergraph.methods.base import Learner

MOST = 50
"""Nodes of a class that are kept aside at most; they say enough of its accuracy."""
FEWEST = 10
"""A class with fewer labelled nodes in a batch gives none away."""


@dataclass(frozen=True)
class Outcome:
    """Held-out nodes that could be predicted: their class indices and logits (nodes, classes)."""

    labels: NDArray[np.int64]
    logits: NDArray[np.float64]


class HeldOut:
    """Keys and class indices of nodes, and, for methods that allow it, what their prediction needs of the graph.

    Methods that must see the graph again test those nodes that a later batch has as context.
    """

    def __init__(self) -> None:
        self.keys = np.zeros(0, dtype=np.int64)
        self.labels = np.zeros(0, dtype=np.int32)
        self.degrees = np.zeros(0, dtype=np.int32)
        self.inputs: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def chosen(self, chances: NDArray[np.float64], labels: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
        """Which labelled nodes of a batch to keep aside: about a share of each class, those of the least chance."""
        chosen = np.zeros(len(labels), dtype=bool)
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            room = MOST - int((self.labels == label).sum())
            wanted = min(int(share * len(rows)), room) if len(rows) >= FEWEST else 0
            chosen[rows[np.argsort(chances[rows], kind="stable")[: max(wanted, 0)]]] = True
        return chosen

    def add(
        self,
        keys: NDArray[np.int64],
        labels: NDArray[np.int64],
        degrees: NDArray[np.int32],
        inputs: NDArray[Any] | None,
    ) -> None:
        """Keep nodes aside; degrees: the number of their neighbours in the graph that `inputs` are from."""
        self.keys = np.concatenate([self.keys, keys])
        self.labels = np.concatenate([self.labels, labels.astype(np.int32)])
        self.degrees = np.concatenate([self.degrees, degrees])
        if inputs is not None:
            self.inputs = inputs if self.inputs is None else np.concatenate([self.inputs, inputs])

    def remove(self, keys: NDArray[np.int64]) -> int:
        """Take nodes out; how many there were."""
        stays = ~np.isin(self.keys, keys)
        self.keys, self.labels, self.degrees = self.keys[stays], self.labels[stays], self.degrees[stays]
        self.inputs = None if self.inputs is None else self.inputs[stays]
        return int((~stays).sum())

    def refresh(self, learner: Learner, graph: Graph, keys: NDArray[np.int64]) -> None:
        """Nodes that are in a graph again are tested as they are there from now on, unless they lost neighbours.

        A graph in which they have fewer is an older one, or a part.
        """
        if self.inputs is None:
            return
        here, rows = self._found(keys)
        places, degrees = np.flatnonzero(here), degrees_of(graph, rows)
        grown = degrees >= self.degrees[places]
        inputs = learner.lasting_inputs(graph, rows[grown]) if grown.any() else None
        if inputs is not None:
            self.inputs[places[grown]] = inputs
            self.degrees[places[grown]] = degrees[grown]

    def _found(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Which of the nodes are among these keys, and where."""
        order = np.argsort(keys, kind="stable")
        place = np.minimum(np.searchsorted(keys[order], self.keys), max(len(keys) - 1, 0))
        here = keys[order[place]] == self.keys if len(keys) else np.zeros(len(self), dtype=bool)
        return here, order[place[here]]

    def as_ledger(self) -> Ledger:
        """The same nodes, to be looked up by key."""
        ledger = Ledger()
        ledger.add(self.keys, self.labels.astype(np.int64), np.zeros(len(self.keys), dtype=np.uint64))
        return ledger

    def tested(self, learner: Learner, graph: Graph | None, keys: NDArray[np.int64]) -> Outcome:
        """All that can be predicted now; graph, keys: of the batch that was learned last, if it is there."""
        if self.inputs is not None:
            outputs = learner.lasting_outputs(self.inputs) if len(self) else np.zeros((0, 0))
            return Outcome(self.labels.astype(np.int64), np.asarray(outputs, dtype=np.float64))
        if graph is None or not len(self):
            return Outcome(np.zeros(0, dtype=np.int64), np.zeros((0, 0)))
        here, rows = self._found(keys)
        logits = learner.logits(graph, rows) if len(rows) else np.zeros((0, 0))
        return Outcome(self.labels[here].astype(np.int64), np.asarray(logits, dtype=np.float64))

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays().values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is kept, by name."""
        arrays: dict[str, NDArray[Any]] = {"keys": self.keys, "labels": self.labels, "degrees": self.degrees}
        return arrays if self.inputs is None else {**arrays, "inputs": self.inputs}

    def load_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """The inverse of `arrays`."""
        self.keys, self.labels, self.degrees = arrays["keys"], arrays["labels"], arrays["degrees"]
        self.inputs = arrays.get("inputs")


def degrees_of(graph: Graph, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """The number of neighbours of some nodes."""
    if is_on_disk(graph):
        return np.asarray(np.diff(disk_adjacency(graph).rows(rows).indptr), dtype=np.int32)
    return np.asarray(np.diff(graph.adjacency.indptr), dtype=np.int32)[rows]
