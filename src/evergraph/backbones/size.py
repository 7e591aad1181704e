"""What a full batch of a graph takes, in bytes, from its size alone.

The constants count what evergraph.backbones makes of a graph: for each message of a step its sender and weight, the
same transposed with the positions of both, and copies while they are made. benchmarks/batch_memory.py compares the
sums with measured peaks.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from scipy import sparse

from evergraph.backbones.input_product import Form, InputSize
from evergraph.data.graph import Graph

FLOAT = 4
MESSAGE_BYTES = 60
"""A message of a graph: in the adjacency with self-loops (8), in a step and its transposed (32), and in copies."""
ENTRY_BYTES = 36
"""An entry of a sparse matrix below the first weight: itself (8), transposed (16), and in copies."""


@dataclass(frozen=True)
class GraphSize:
    """nodes, messages (with self-loops) and features of a graph; stored: entries of sparse features, else None."""

    nodes: int
    messages: int
    features: int
    stored: int | None = None

    @classmethod
    def of(cls, graph: Graph) -> "GraphSize":
        stored = int(graph.features.nnz) if isinstance(graph.features, sparse.csr_array) else None
        return cls(graph.n_nodes, graph.n_edges + graph.n_nodes, graph.n_features, stored)

    @property
    def message_bytes(self) -> int:
        """The steps of the graph."""
        return MESSAGE_BYTES * self.messages

    @property
    def dense_bytes(self) -> int:
        return FLOAT * self.nodes * self.features

    def features_bytes(self) -> int:
        """The features below the first weight, not propagated."""
        if self.stored is None:
            return self.dense_bytes
        size = InputSize(self.nodes, self.features, self.stored, self.stored, self.features)
        return self.dense_bytes if size.cheapest() is Form.DENSE else ENTRY_BYTES * self.stored

    def propagated_bytes(self) -> int:
        """The features below the first weight after one step, in the form that is taken; dense ones with a copy."""
        if self.stored is None:
            return 2 * self.dense_bytes
        share = self.stored / max(self.nodes * self.features, 1)
        heard = self.messages / max(self.nodes, 1)
        entries = self.nodes * self.features * (1 - (1 - share) ** heard)  # as if features were independent
        size = InputSize(self.nodes, self.features, entries, self.stored + self.messages, self.features)
        form = size.cheapest()
        if form is Form.DENSE:
            return self.dense_bytes
        return int(ENTRY_BYTES * (entries if form is Form.SPARSE else size.factor_entries))


def total(sizes: Iterable[GraphSize]) -> GraphSize:
    """The size of several graphs side by side."""
    nodes = messages = features = stored = 0
    dense = True
    for size in sizes:
        nodes, messages, features = nodes + size.nodes, messages + size.messages, max(features, size.features)
        dense, stored = dense and size.stored is None, stored + (size.stored or 0)
    return GraphSize(nodes, messages, features, None if dense else stored)
