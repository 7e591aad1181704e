"""ReplayBuffer: the chosen nodes of past tasks, with their features, labels and stored edges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from evergraph.data.graph import Features, Graph, csr
from evergraph.data.stream import HIDDEN, TaskView
from evergraph.replay.selection import Chosen, winners
from evergraph.replay.usage import MemoryUsage
from evergraph.training.loop import Batch
from evergraph.training.net import Net, Part


@dataclass(frozen=True)
class Ranks:
    """What is kept of nodes beside the graph where classes come back: (nodes,) each.

    keys: by which a node was chosen, NaN for a neighbour; tasks: in which it arrived.
    """

    keys: NDArray[np.float64]
    tasks: NDArray[np.int64]


class ReplayBuffer:
    """A graph that grows by one disjoint component a task; `in_loss` marks the nodes whose loss is replayed.

    Where classes come back, `ranks` holds what decides which nodes of a class stay when others arrive; else None.
    Where nodes may have to be forgotten, `ids` holds the node_ids of all nodes; else None.
    """

    def __init__(self) -> None:
        self.graph: Graph | None = None
        self.in_loss: NDArray[np.bool_] = np.zeros(0, dtype=bool)
        self.ranks: Ranks | None = None
        self.ids: NDArray[np.int64] | None = None

    def admit(self, task: TaskView, chosen: Chosen, budget: int, hops: int = 0) -> Chosen:
        """Those of a task's chosen training nodes that get a place, if every class keeps its budget.

        Stored and chosen nodes of a class compete by their keys, of equal ones the stored come first. Stored nodes
        that lose leave, and with them the neighbours that are not within `hops` of a node that stays.
        """
        if self.graph is None or self.ranks is None:
            return chosen
        rows = np.flatnonzero(self.in_loss)
        labels = np.concatenate([self.graph.labels[rows], task.train_labels[chosen.at]])
        keys = np.concatenate([self.ranks.keys[rows], chosen.keys])
        wins = winners(labels, keys, budget)
        self._keep(rows[wins[: len(rows)]], hops)
        new = wins[len(rows) :]
        return Chosen(chosen.at[new], chosen.keys[new])

    def _keep(self, centres: NDArray[np.int64], hops: int) -> None:
        """Keep these nodes and the neighbours that are within so many hops of them, nothing else."""
        if self.graph is None or self.ranks is None or len(centres) == self.in_loss.sum():
            return
        stays = np.zeros(self.graph.n_nodes, dtype=bool)
        stays[centres] = True
        may_stay = stays | ~self.in_loss
        for _ in range(hops):
            stays |= may_stay & (self.graph.adjacency.T @ stays.astype(np.float32) > 0)
        self._cut(self.graph, np.flatnonzero(stays))

    def drop(self, ids: NDArray[np.int64]) -> int:
        """Remove nodes by their node_ids, chosen ones and neighbours, and say how many there were, each once."""
        if self.graph is None or self.ids is None:
            return 0
        stays = ~np.isin(self.ids, ids)
        gone = np.unique(self.ids[~stays])
        if self.in_loss[stays].any():
            self._cut(self.graph, np.flatnonzero(stays))
        else:
            self.graph, self.in_loss, self.ranks, self.ids = None, self.in_loss[:0], None, None
        return len(gone)

    def _cut(self, graph: Graph, kept: NDArray[np.int64]) -> None:
        cut = graph.subgraph(kept)
        self.graph = _bare(cut.adjacency, cut.features, cut.labels, directed=cut.directed)
        self.in_loss = self.in_loss[kept]
        self.ids = None if self.ids is None else self.ids[kept]
        if self.ranks is not None:
            self.ranks = Ranks(self.ranks.keys[kept], self.ranks.tasks[kept])

    def store(
        self,
        task: TaskView,
        chosen: Chosen,
        neighbours: NDArray[np.int64] | None = None,
        alone: Graph | None = None,
    ) -> None:
        """Add chosen training nodes of a task with the edges between them, or as the nodes of another graph.

        Neighbours, rows of the task's graph, bring no label and no loss.
        """
        if not len(chosen.at):
            return
        nodes = task.train[chosen.at]
        extra = np.zeros(0, dtype=np.int64) if neighbours is None else neighbours
        if alone is None:
            self.add_with_neighbours(task.graph, nodes, extra)
        else:
            self.add(alone, np.arange(len(nodes)), task.graph.labels[nodes])
        if task.classes_return:
            keys = np.concatenate([chosen.keys, np.full(len(extra), np.nan)])
            new = Ranks(keys, np.full(len(keys), task.index))
            old = self.ranks or Ranks(new.keys[:0], new.tasks[:0])
            self.ranks = Ranks(np.concatenate([old.keys, new.keys]), np.concatenate([old.tasks, new.tasks]))
        if task.forgettable:
            came = task.node_ids[np.concatenate([nodes, extra])]
            self.ids = came if self.ids is None else np.concatenate([self.ids, came])

    def add(
        self,
        graph: Graph,
        nodes: NDArray[np.int64],
        labels: NDArray[np.int64],
        in_loss: NDArray[np.bool_] | None = None,
    ) -> None:
        """Copy the subgraph of `graph` induced on `nodes` into the buffer, with these labels."""
        cut = graph.subgraph(nodes)
        piece = _bare(cut.adjacency, cut.features, labels.copy(), directed=graph.directed)
        self.graph = piece if self.graph is None else _side_by_side(self.graph, piece)
        counted = np.ones(len(nodes), dtype=bool) if in_loss is None else in_loss
        self.in_loss = np.concatenate([self.in_loss, counted])

    def add_with_neighbours(self, graph: Graph, chosen: NDArray[np.int64], neighbours: NDArray[np.int64]) -> None:
        """Add the chosen nodes, and neighbours without label and loss."""
        labels = np.concatenate([graph.labels[chosen], np.full(len(neighbours), HIDDEN)])
        in_loss = np.arange(len(labels)) < len(chosen)
        self.add(graph, np.concatenate([chosen, neighbours]), labels, in_loss)

    @property
    def n_replayed(self) -> int:
        """The nodes whose loss is replayed."""
        return int(self.in_loss.sum())

    def parts(self, task: TaskView, scale: float) -> list[Part]:
        """The nodes whose loss is replayed, whatever the task; none while the buffer is empty."""
        if self.graph is None:
            return []
        rows = np.flatnonzero(self.in_loss)
        return [Part(self.graph, rows, self.graph.labels[rows], scale, kept=True)]

    def batches(self, net: Net, scale: float) -> list[Batch]:
        """The replay batch, every class counting alike; none while the buffer is empty."""
        rows = np.flatnonzero(self.in_loss)
        return [] if self.graph is None else [net.batch(self.graph, rows, self.graph.labels[rows], scale)]

    def memory(self) -> MemoryUsage:
        """Counts, and the bytes of features, adjacency, labels and marks."""
        if self.graph is None:
            return MemoryUsage()
        held = self.state()
        return MemoryUsage(
            nodes=self.graph.n_nodes,
            edges=self.graph.n_edges,
            floats=sum(value.numel() for name, value in held.items() if name.startswith("buffer.features")),
            bytes=sum(value.numel() * value.element_size() for value in held.values()),
        )

    def state(self) -> dict[str, Tensor]:
        """The buffer as named tensors; nothing while it is empty."""
        if self.graph is None:
            return {}
        features, directed = self.graph.features, np.array(self.graph.directed)
        arrays = {"labels": self.graph.labels, "in_loss": self.in_loss, "directed": directed}
        if self.ranks is not None:
            arrays |= {"keys": self.ranks.keys, "tasks": self.ranks.tasks}
        if self.ids is not None:
            arrays["ids"] = self.ids
        arrays |= _parts("adjacency", self.graph.adjacency)
        arrays |= {"features": features} if isinstance(features, np.ndarray) else _parts("features", features)
        return {f"buffer.{name}": torch.as_tensor(array) for name, array in arrays.items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """The inverse of `state`."""
        own = [name for name in state if name.startswith("buffer.")]
        held = {name.removeprefix("buffer."): state[name].cpu().numpy() for name in own}
        if held:
            features: Features = held["features"] if "features" in held else _matrix("features", held)
            directed = bool(held["directed"])
            self.graph = _bare(_matrix("adjacency", held), features, held["labels"], directed=directed)
            self.in_loss = held["in_loss"]
            self.ranks = Ranks(held["keys"], held["tasks"]) if "keys" in held else None
            self.ids = held.get("ids")


def _side_by_side(first: Graph, second: Graph) -> Graph:
    """The disjoint union of two graphs; its features are dense or sparse as those of the first."""
    adjacency = sparse.block_diag([first.adjacency, second.adjacency], format="csr")
    dense = isinstance(first.features, np.ndarray)
    if isinstance(second.features, np.ndarray) == dense:
        more = second.features
    else:
        more = sparse.csr_array(second.features).toarray() if dense else sparse.csr_array(second.features)
    if dense:
        features: Features = np.concatenate([first.features, more])
    else:
        features = sparse.csr_array(sparse.vstack([first.features, more], format="csr"))
    square = csr(adjacency.data, adjacency.indices, adjacency.indptr, adjacency.shape)
    labels = np.concatenate([first.labels, second.labels])
    return _bare(square, features, labels, directed=first.directed)


def _bare(
    adjacency: sparse.csr_array, features: Features | None, labels: NDArray[np.int64], *, directed: bool
) -> Graph:
    """A graph without names, remarks or original ids."""
    return Graph(adjacency, features, labels, np.arange(len(labels)), directed=directed, name="buffer")


PARTS = ("data", "indices", "indptr", "shape")


def _parts(name: str, matrix: sparse.csr_array) -> dict[str, NDArray[Any]]:
    return {f"{name}.{part}": np.asarray(getattr(matrix, part)) for part in PARTS}


def _matrix(name: str, held: Mapping[str, NDArray[Any]]) -> sparse.csr_array:
    data, indices, indptr, shape = (held[f"{name}.{part}"] for part in PARTS)
    return sparse.csr_array((data, indices, indptr), shape=tuple(int(size) for size in shape))
