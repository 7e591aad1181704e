"""The graph and the features as inputs of a backbone; what no parameter changes is computed once."""

from enum import Enum
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from evergraph.backbones.input_product import InputProduct, as_input, propagate
from evergraph.backbones.products import Pattern, SparseMatrix
from evergraph.data.graph import Features, Graph, row_entries
from evergraph.errors import DataError


class Norm(Enum):
    """SYMMETRIC: D^-1/2 (A + I) D^-1/2, of the GCN paper; SUM: A + I, of GIN and the public code of FTF-ER."""

    SYMMETRIC = "symmetric"
    SUM = "sum"


class MessageGraph:
    """Message passing in `depth` steps to the nodes `rows`, from the nodes that can reach them.

    Step l (1 .. depth) goes from the nodes frontier[l - 1] to the nodes frontier[l]; frontier[depth] = rows.
    """

    def __init__(self, graph: Graph, rows: NDArray[np.int64] | None, device: torch.device, depth: int = 2):
        self._begin(device, depth)
        self.graph = graph
        self.n_nodes = graph.n_nodes
        incoming = sparse.csr_array(graph.adjacency.T) if graph.directed else graph.adjacency
        self._adjacency = sparse.csr_array(incoming + sparse.eye_array(graph.n_nodes, dtype=np.float32))
        self.rows = np.arange(graph.n_nodes) if rows is None else rows
        self.frontier = self._frontiers(self.rows)

    def _begin(self, device: torch.device, depth: int) -> None:
        self.device = device
        self.depth = depth
        self._operators: dict[tuple[Norm, int], SparseMatrix] = {}
        self._patterns: dict[int, Pattern] = {}
        self._own: dict[int, Tensor] = {}

    def _frontiers(self, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        frontiers = [rows]
        for _ in range(self.depth):
            if len(frontiers[0]) == self.n_nodes and np.array_equal(frontiers[0], np.arange(self.n_nodes)):
                frontiers.insert(0, frontiers[0])
            else:
                entries, _ = row_entries(self._adjacency, frontiers[0])
                frontiers.insert(0, np.unique(self._adjacency.indices[entries]).astype(np.int64))
        return frontiers

    def step_matrix(self, norm: Norm, step: int) -> sparse.csr_array:
        """The weights of one step as a (frontier[step], frontier[step - 1]) matrix."""
        weights = self._adjacency[self.frontier[step]]
        if norm is Norm.SYMMETRIC:
            received = np.asarray(self._adjacency.sum(axis=1)) ** -0.5
            sent = np.asarray(self._adjacency.sum(axis=0)) ** -0.5
            factor = np.repeat(received[self.frontier[step]], np.diff(weights.indptr)) * sent[weights.indices]
            weights.data = weights.data * factor
        position = np.zeros(self.n_nodes, dtype=np.int32)
        position[self.frontier[step - 1]] = np.arange(len(self.frontier[step - 1]))
        shape = (len(self.frontier[step]), len(self.frontier[step - 1]))
        data = weights.data.astype(np.float32)
        return sparse.csr_array((data, position[weights.indices], weights.indptr), shape=shape)

    def operator(self, norm: Norm, step: int) -> SparseMatrix:
        """`step_matrix` ready for products; made once."""
        if (norm, step) not in self._operators:
            self._operators[norm, step] = SparseMatrix.of(self.step_matrix(norm, step), self.device)
        return self._operators[norm, step]

    def pattern(self, step: int) -> Pattern:
        """Which node receives from which in a step, each node from itself too; made once."""
        if step not in self._patterns:
            matrix = self.step_matrix(Norm.SUM, step)
            self._patterns[step] = Pattern(matrix.indptr, matrix.indices, matrix.shape, self.device)
        return self._patterns[step]

    def own(self, step: int) -> Tensor:
        """The positions of the nodes of frontier[step] in frontier[step - 1]; made once."""
        if step not in self._own:
            positions = np.searchsorted(self.frontier[step - 1], self.frontier[step])
            self._own[step] = torch.as_tensor(positions, device=self.device)
        return self._own[step]

    @property
    def edge_index(self) -> Tensor:
        """(2, entries) source and target of every message between any two nodes, self-loops included."""
        target = np.repeat(np.arange(self.n_nodes), np.diff(self._adjacency.indptr))
        return torch.as_tensor(np.stack([self._adjacency.indices, target]).astype(np.int64), device=self.device)


class NodeFeatures:
    """The features of one message graph's nodes, and their first propagation, made once for each norm."""

    def __init__(self, values: Features, graph: MessageGraph):
        self.values = values
        self.graph = graph
        self._products: dict[Norm | None, InputProduct] = {}

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.values.shape[1])

    def tensor(self) -> Tensor:
        """The features of all nodes as a dense tensor, or as a sparse CSR tensor where they are sparse."""
        if isinstance(self.values, np.ndarray):
            return torch.as_tensor(self.values, device=self.graph.device)
        return SparseMatrix.of(self.values, self.graph.device).tensor

    def propagated(self, norm: Norm) -> InputProduct:
        """The first step of the graph applied to the features."""
        if norm not in self._products:
            step = self.graph.step_matrix(norm, 1)
            self._products[norm] = propagate(self.values, step, self.graph.frontier[0], self.graph.device)
        return self._products[norm]

    def restricted(self) -> InputProduct:
        """The features of the nodes of frontier[0], not propagated."""
        if None not in self._products:
            self._products[None] = as_input(self.values[self.graph.frontier[0]], self.graph.device)
        return self._products[None]


class ModelInput(NamedTuple):
    """The arguments of a backbone."""

    x: NodeFeatures
    graph: MessageGraph


def model_input(graph: Graph, rows: NDArray[np.int64] | None, device: torch.device) -> ModelInput:
    """A graph prepared for the outputs of `rows` (all nodes if None)."""
    if graph.features is None:
        raise DataError(f"{graph.name} has no features, and a backbone needs some; derive them with --features")
    message_graph = MessageGraph(graph, rows, device)
    return ModelInput(NodeFeatures(graph.features, message_graph), message_graph)


def everywhere(inputs: ModelInput) -> ModelInput:
    """The same graph and features, prepared for the outputs of all nodes."""
    graph = MessageGraph(inputs.graph.graph, None, inputs.graph.device, inputs.graph.depth)
    return ModelInput(NodeFeatures(inputs.x.values, graph), graph)
