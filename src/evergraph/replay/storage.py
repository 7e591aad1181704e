"""Storage: what is kept of a chosen node, and so in which neighbourhood it is replayed."""

from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from scipy import sparse

from evergraph.config import Settings
from evergraph.data.graph import Features, Graph
from evergraph.data.stream import TaskView
from evergraph.replay.buffer import ReplayBuffer
from evergraph.replay.ids import IdBuffer
from evergraph.replay.neighbours import NeighbourStorage, neighbour_budget, sample_neighbours
from evergraph.replay.propagation import propagated
from evergraph.replay.selection import Chosen

Buffer: TypeAlias = ReplayBuffer | IdBuffer


class Storage(Enum):
    """What is kept of the chosen nodes of a task.

    SUBGRAPH: their features and the edges between them, as FTF-ER. NEIGHBOURS: sampled neighbours too, as SSM.
    NODES: their features alone, as ER-GNN. EMBEDDING: the rows of Â² X in the graph of that time, each replayed as
    the input of a node without neighbours; that is not what a GCN computes of the node in its graph (no function of
    Â² X is), but it is what its weights make of the whole neighbourhood's mean. IDS: ids and labels only; the
    neighbourhood is read again from the graph known now, which must still be there with all old nodes.
    """

    SUBGRAPH = "subgraph"
    NEIGHBOURS = "neighbours"
    NODES = "nodes"
    EMBEDDING = "embedding"
    IDS = "ids"


class StorageConfig(Settings):
    """What is kept of the chosen nodes, and which neighbours with them."""

    storage: Storage = Storage.SUBGRAPH
    """What is kept of the chosen nodes of a task."""
    neighbours: NeighbourStorage = NeighbourStorage.NONE
    """Which neighbours are kept too; with storage=subgraph any but none, with storage=neighbours none is degree."""
    neighbour_budget: int = Field(60, ge=1)
    """Neighbours kept for each class and hop."""
    hops: int = Field(1, ge=1)
    """How far neighbours may be from the chosen nodes."""

    @model_validator(mode="after")
    def _neighbours_are_stored_with_edges(self) -> "StorageConfig":
        with_edges = self.storage in (Storage.SUBGRAPH, Storage.NEIGHBOURS)
        if self.neighbours is not NeighbourStorage.NONE and not with_edges:
            raise ValueError(
                f"neighbours=none is wanted with storage={self.storage.value}, which keeps no neighbours, "
                f"got {self.neighbours.value} instead"
            )
        return self

    @property
    def sampled(self) -> NeighbourStorage:
        """Which neighbours are stored."""
        if self.storage is Storage.NEIGHBOURS and self.neighbours is NeighbourStorage.NONE:
            return NeighbourStorage.DEGREE
        return self.neighbours


def empty_buffer(storage: Storage) -> Buffer:
    """The buffer that goes with a storage."""
    return IdBuffer() if storage is Storage.IDS else ReplayBuffer()


def keep(
    buffer: Buffer,
    task: TaskView,
    chosen: Chosen,
    config: StorageConfig,
    budget: int,
    rng: np.random.Generator,
) -> None:
    """Give chosen training nodes of a task their places in the buffer, as the settings say.

    budget: nodes of each class; where classes come back, kept and chosen nodes compete for it.
    """
    with_neighbours = config.sampled is not NeighbourStorage.NONE
    chosen = buffer.admit(task, chosen, budget, config.hops if with_neighbours else 0)
    nodes = task.train[chosen.at]
    if isinstance(buffer, IdBuffer):
        buffer.store(task, chosen)
    elif config.storage in (Storage.EMBEDDING, Storage.NODES):
        buffer.store(task, chosen, alone=without_edges(task.graph, nodes, config.storage))
    else:
        extra_budget = neighbour_budget(task, len(nodes), config.neighbour_budget, budget)
        extra = sample_neighbours(task.graph, nodes, config.sampled, extra_budget, config.hops, rng)
        buffer.store(task, chosen, extra)


def without_edges(graph: Graph, nodes: NDArray[np.int64], storage: Storage) -> Graph:
    """Some nodes as a graph in which none has a neighbour; their features, or the rows of Â² X."""
    own = None if graph.features is None else graph.features[nodes]
    rows = compact(propagated(graph, nodes)) if storage is Storage.EMBEDDING else own
    return edgeless(rows, graph.labels[nodes], directed=graph.directed)


def compact(values: Features) -> Features:
    """Dense, or sparse where that takes fewer bytes."""
    if isinstance(values, np.ndarray):
        return values
    parts = (values.data, values.indices, values.indptr)
    return values if sum(part.nbytes for part in parts) < 4 * np.prod(values.shape) else values.toarray()


def edgeless(features: Features | None, labels: NDArray[np.int64], *, directed: bool = False) -> Graph:
    """Nodes of which none has a neighbour."""
    nothing = sparse.csr_array((len(labels), len(labels)), dtype=np.float32)
    return Graph(nothing, features, labels, np.arange(len(labels)), directed=directed, name="rows")
