"""IdBuffer: the ids and labels of chosen nodes, and nothing else; they are replayed in the graph known now."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evergraph.data.stream import TaskView
from evergraph.errors import DataError
from evergraph.replay.selection import Chosen, winners
from evergraph.replay.usage import MemoryUsage
from evergraph.training.net import Part


class IdBuffer:
    """Rows of the full graph with their labels. The graph itself must still be there: it is not counted here."""

    def __init__(self) -> None:
        self.ids: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.labels: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.keys: NDArray[np.float64] = np.zeros(0)

    @property
    def n_replayed(self) -> int:
        """The nodes whose loss is replayed."""
        return len(self.ids)

    def admit(self, task: TaskView, chosen: Chosen, budget: int, hops: int = 0) -> Chosen:
        """As `ReplayBuffer.admit`."""
        if not len(self.keys):
            return chosen
        labels = np.concatenate([self.labels, task.train_labels[chosen.at]])
        wins = winners(labels, np.concatenate([self.keys, chosen.keys]), budget)
        stays, new = wins[: len(self.ids)], wins[len(self.ids) :]
        self.ids, self.labels, self.keys = self.ids[stays], self.labels[stays], self.keys[stays]
        return Chosen(chosen.at[new], chosen.keys[new])

    def store(self, task: TaskView, chosen: Chosen) -> None:
        """Keep the ids and labels of chosen training nodes, and their keys where classes come back."""
        nodes = task.train[chosen.at]
        self.ids = np.concatenate([self.ids, task.node_ids[nodes]])
        self.labels = np.concatenate([self.labels, task.graph.labels[nodes]])
        if task.classes_return:
            self.keys = np.concatenate([self.keys, chosen.keys])

    def drop(self, ids: NDArray[np.int64]) -> int:
        """As `ReplayBuffer.drop`."""
        stays = ~np.isin(self.ids, ids)
        self.ids, self.labels = self.ids[stays], self.labels[stays]
        self.keys = self.keys[stays] if len(self.keys) else self.keys
        return int((~stays).sum())

    def parts(self, task: TaskView, scale: float) -> list[Part]:
        """The kept nodes where they are in the task's graph; DataError where one is not there."""
        if not len(self.ids):
            return []
        order = np.argsort(task.node_ids)
        found = np.searchsorted(task.node_ids, self.ids, sorter=order)
        rows = order[np.minimum(found, len(order) - 1)]
        missing = int(np.sum(task.node_ids[rows] != self.ids))
        if missing:
            raise DataError(
                f"with storage=ids every kept node must be in the graph of the task, got one without {missing} of "
                f"{len(self.ids)} instead; use stream.inter_task_edges=true or another method.storage"
            )
        return [Part(task.graph, rows, self.labels, scale, kept=True)]

    def memory(self) -> MemoryUsage:
        return MemoryUsage(nodes=len(self.ids), bytes=self.ids.nbytes + self.labels.nbytes + self.keys.nbytes)

    def state(self) -> dict[str, Tensor]:
        """The buffer as named tensors; nothing while it is empty."""
        if not len(self.ids):
            return {}
        state = {"buffer.ids": torch.as_tensor(self.ids), "buffer.labels": torch.as_tensor(self.labels)}
        return state | ({"buffer.keys": torch.as_tensor(self.keys)} if len(self.keys) else {})

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """The inverse of `state`."""
        if "buffer.ids" in state:
            self.ids, self.labels = (state[f"buffer.{name}"].cpu().numpy() for name in ("ids", "labels"))
            self.keys = state["buffer.keys"].cpu().numpy() if "buffer.keys" in state else np.zeros(0)
