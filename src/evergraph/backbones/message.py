"""The graph and the features as a backbone sees them; what no parameter changes is computed once and kept."""

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from evergraph.backbones.products import Pattern, SparseMatrix, chain_product
from evergraph.data.graph import Features, Graph, row_entries
from evergraph.errors import DataError

DENSE_FROM = 0.1
"""From this density on, a dense product is faster than a sparse one on a CPU (measured: ten times the rate)."""
DENSE_BYTES = 8 << 30
"""A propagated feature matrix larger than this is kept as two sparse factors instead."""


class Norm(Enum):
    """How a node weighs itself and its neighbours when it adds them up.

    SYMMETRIC: D^-1/2 (A + I) D^-1/2, the GCN paper's; SUM: A + I, as in GIN and in the public code of FTF-ER.
    """

    SYMMETRIC = "symmetric"
    SUM = "sum"


class MessageGraph:
    """Message passing in `depth` steps towards the nodes `rows`, touching only nodes that can reach them.

    Step l (1 .. depth) leads from the nodes frontier[l - 1] to the nodes frontier[l]; frontier[depth] = rows.
    """

    def __init__(self, graph: Graph, rows: NDArray[np.int64] | None, device: torch.device, depth: int = 2):
        self.graph = graph
        self.device = device
        self.n_nodes = graph.n_nodes
        self.depth = depth
        incoming = sparse.csr_array(graph.adjacency.T) if graph.directed else graph.adjacency
        self._adjacency: sparse.csr_array = sparse.csr_array(
            incoming + sparse.eye_array(graph.n_nodes, dtype=np.float32)
        )
        self.rows = np.arange(graph.n_nodes) if rows is None else rows
        self.frontier = self._frontiers(self.rows)
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
            weights = sparse.csr_array(
                (weights.data * factor, weights.indices, weights.indptr), shape=weights.shape
            )
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
        """Who hears whom in a step, each node itself included; made once."""
        if step not in self._patterns:
            matrix = self.step_matrix(Norm.SUM, step)
            self._patterns[step] = Pattern(matrix.indptr, matrix.indices, matrix.shape, self.device)
        return self._patterns[step]

    def own(self, step: int) -> Tensor:
        """Where the nodes of frontier[step] stand in frontier[step - 1]; made once."""
        if step not in self._own:
            positions = np.searchsorted(self.frontier[step - 1], self.frontier[step])
            self._own[step] = torch.as_tensor(positions, device=self.device)
        return self._own[step]

    @property
    def edge_index(self) -> Tensor:
        """(2, entries) source and target of every message between any two nodes, self-loops included."""
        source, target = (
            self._adjacency.indices,
            np.repeat(np.arange(self.n_nodes), np.diff(self._adjacency.indptr)),
        )
        return torch.as_tensor(np.stack([source, target]).astype(np.int64), device=self.device)


class InputProduct:
    """A constant matrix M (nodes, features) as a product of factors, to be multiplied with the first weight.

    dense: M itself; or sparse factors, of which the last is restricted to `columns`, the features that occur.
    """

    def __init__(self, dense: Tensor | None, factors: list[SparseMatrix], columns: Tensor | None):
        self.dense = dense
        self.factors = factors
        self.columns = columns

    def linear(self, weight: Tensor, bias: Tensor) -> Tensor:
        """M W + b; W has a row for each of `columns` where those are given, else one for each feature."""
        return torch.addmm(bias, self.dense, weight) if self.dense is not None else self.multiply(weight).add_(bias)

    def multiply(self, weight: Tensor) -> Tensor:
        """M W."""
        if self.dense is not None:
            return self.dense @ weight
        return chain_product(self.factors, weight)

    def dropped(self, dropout: Callable[[Tensor], Tensor]) -> "InputProduct":
        """The product of the same pattern with dropout on the values of M; for a single factor only."""
        if self.dense is not None:
            return InputProduct(dropout(self.dense), [], None)
        (factor,) = self.factors
        return InputProduct(None, [factor.with_values(dropout(factor.values))], self.columns)


class NodeFeatures:
    """The features of one message graph's nodes, and their first propagation, made once for each norm."""

    def __init__(self, values: Features, graph: MessageGraph):
        self.values = values
        self.graph = graph
        self._products: dict[Norm | None, InputProduct] = {}

    @property
    def n_features(self) -> int:
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


def propagate(
    features: Features, step: sparse.csr_array, nodes: NDArray[np.int64], device: torch.device
) -> InputProduct:
    """step @ features[nodes] in whichever form makes the products of an epoch cheapest."""
    local: Features = features if len(nodes) == features.shape[0] else features[nodes]
    if isinstance(local, np.ndarray):
        return InputProduct(SparseMatrix.of(step, device) @ torch.as_tensor(local, device=device), [], None)
    sample = np.linspace(0, step.shape[0] - 1, min(64, step.shape[0])).astype(np.int64)
    entries = (step[sample] @ local).nnz / max(len(sample), 1)
    if entries > DENSE_FROM * local.shape[1] and step.shape[0] * local.shape[1] * 4 <= DENSE_BYTES:
        return InputProduct(_dense_product(step, local, device), [], None)
    if entries * step.shape[0] < local.nnz + step.nnz:
        return as_input(sparse.csr_array(step @ local), device)
    last = as_input(local, device)
    if last.dense is not None:
        return InputProduct(SparseMatrix.of(step, device) @ last.dense, [], None)
    return InputProduct(None, [SparseMatrix.of(step, device), *last.factors], last.columns)


def as_input(matrix: Features, device: torch.device) -> InputProduct:
    """A matrix as an input product, without the features that no node has where it is sparse."""
    if isinstance(matrix, np.ndarray):
        return InputProduct(torch.as_tensor(matrix, device=device), [], None)
    rows, width = matrix.shape
    if matrix.nnz > DENSE_FROM * rows * width and rows * width * 4 <= DENSE_BYTES:
        return InputProduct(torch.as_tensor(matrix.toarray(), device=device), [], None)
    columns, positions = np.unique(matrix.indices, return_inverse=True)
    compact = sparse.csr_array((matrix.data, positions, matrix.indptr), shape=(rows, len(columns)))
    kept = torch.as_tensor(columns.astype(np.int64), device=device)
    return InputProduct(None, [SparseMatrix.of(compact, device)], kept)


def _dense_product(step: sparse.csr_array, features: sparse.csr_array, device: torch.device) -> Tensor:
    """step @ features as a dense tensor, a block of columns at a time: the features are never dense as a whole."""
    operator = SparseMatrix.of(step, device)
    by_column = features.tocsc()
    result = torch.empty(step.shape[0], features.shape[1], device=device)
    width = 512
    for start in range(0, features.shape[1], width):
        block = by_column[:, start : start + width].toarray()
        result[:, start : start + width] = operator @ torch.as_tensor(block, device=device)
    return result


class ModelInput(NamedTuple):
    """What a backbone is called with."""

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
