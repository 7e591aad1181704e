"""Decoupled learners: an aggregation without parameters, then an MLP that sees one node at a time.

As no parameter touches the graph, the aggregated row of a node is all that its prediction needs of the graph.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from evergraph.backbones import Backbone, MessageGraph, ModelInput, NodeFeatures, model_input
from evergraph.backbones.blocks import Blocks
from evergraph.backbones.input_product import InputProduct
from evergraph.backbones.layers import Head, InputLinear
from evergraph.backbones.size import FLOAT, GraphSize
from evergraph.data.graph import Features, Graph
from evergraph.data.on_disk import is_on_disk
from evergraph.data.stream import TaskView
from evergraph.methods.base import Learner
from evergraph.replay.embeddings import EmbeddingBuffer, Precision
from evergraph.replay.propagation import Aggregation, DiskAggregation, aggregated, own_features
from evergraph.replay.storage import edgeless
from evergraph.seeding import Purpose, numpy_generator
from evergraph.training.balance import BalanceConfig
from evergraph.training.net import Net, Part


class DecoupledConfig(BalanceConfig):
    """How a neighbourhood is added up to a row, how rows are kept, and the MLP that takes the place of the
    backbone."""

    budget: int = Field(60, ge=1)
    """Rows kept of each class."""
    hidden: int = Field(256, ge=1, le=65_536)
    """Units of the MLP, which takes the place of the backbone."""
    aggregation: Aggregation = Aggregation.APPNP
    """How a neighbourhood is added up."""
    hops: int = Field(2, ge=1)
    """L, how far a neighbourhood reaches."""
    alpha: float = Field(0.05, ge=0, le=1)
    """α, the weight of a node's own features in ssgc and appnp."""
    projection: int = Field(0, ge=0)
    """Features are first mapped to so many dimensions by a random matrix; 0 for none."""
    precision: Precision = Precision.INT8
    """How the numbers of kept rows are stored."""


class MLP(Backbone):
    """logits = relu(X W1) W2, node by node; edges are not looked at."""

    by_steps = True

    def __init__(self, n_features: int, hidden: int, generator: torch.Generator):
        super().__init__()
        self.first = InputLinear(n_features, hidden, generator, bias=False)
        self.head = Head(hidden, bias=False)

    def input_product(self, x: NodeFeatures) -> InputProduct:
        """What the first weight is multiplied with."""
        return x.restricted()

    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        hidden = torch.relu(self.first(self.input_product(x)))
        return hidden[torch.as_tensor(np.searchsorted(graph.frontier[0], graph.rows), device=graph.device)]

    def in_blocks(self, blocks: Blocks, *, head: bool) -> Tensor:
        parts = [self.forward(*inputs) if head else self.embed(*inputs) for _, inputs in blocks.two_steps()]
        return torch.cat(parts)

    def step_bytes(self, size: GraphSize, classes: int) -> int:
        """The hidden layer, its gradient and a copy."""
        activations = FLOAT * size.nodes * (3 * self.head.weight.shape[0] + 4 * classes)
        return size.features_bytes() + activations


class Decoupled(Learner):
    """Keeps aggregated rows; `net` becomes an MLP on them at the first task, when their width is known."""

    reads_blocks = True

    def __init__(self, net: Net, config: DecoupledConfig):
        self.config = config
        self._projections: dict[int, NDArray[np.float32]] = {}
        self._on_disk = DiskAggregation(config.aggregation, config.hops, config.alpha)
        self.buffer = EmbeddingBuffer(config.precision)
        super().__init__(net, self.buffer)
        self.net = self._mlp(0)

    def _mlp(self, width: int) -> Net:
        given, hidden = self.net, self.config.hidden
        return Net(partial(MLP, width, hidden), given.setting, given.config, given.seed)

    def begin(self, task: TaskView) -> None:
        """Make room for the classes of a task."""
        if not self.net.n_classes:
            self.net = self._mlp(self.config.projection or task.graph.n_features)
        self.net.grow(task)

    def embedded(self, graph: Graph, rows: NDArray[np.int64]) -> Features:
        """The aggregated rows of a graph."""
        config = self.config
        features = own_features(graph)
        if is_on_disk(graph):
            return self._on_disk(graph, rows, self.projection(graph.n_features) if config.projection else None)
        mapped = features @ self.projection(graph.n_features) if config.projection else features
        return aggregated(graph, rows, config.aggregation, config.hops, config.alpha, mapped)

    def projection(self, n_features: int) -> NDArray[np.float32]:
        """The random matrix that features are mapped with, entries N(0, 1 / k); the same at every task."""
        if n_features not in self._projections:
            rng = numpy_generator(self.net.seed, Purpose.PARAMETERS, 0)
            size = self.config.projection
            drawn = rng.standard_normal((n_features, size), dtype=np.float32) / np.float32(np.sqrt(size))
            self._projections[n_features] = drawn
        return self._projections[n_features]

    def lasting_inputs(self, graph: Graph, rows: NDArray[np.int64]) -> NDArray[Any]:
        embedded = self.embedded(graph, rows)
        return embedded if isinstance(embedded, np.ndarray) else embedded.toarray()

    def lasting_outputs(self, inputs: NDArray[Any]) -> Tensor:
        return self.net.outputs(edgeless(inputs, np.zeros(len(inputs), dtype=np.int64)))()

    def outputs(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> Callable[[], Tensor]:
        return self.net.outputs(self._rows_alone(graph, rows))

    def embed(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        return super().embed(self._rows_alone(graph, rows))

    def inputs(self, graph: Graph, rows: NDArray[np.int64] | None = None) -> ModelInput:
        return model_input(self._rows_alone(graph, rows), None, self.net.device)

    def _rows_alone(self, graph: Graph, rows: NDArray[np.int64] | None) -> Graph:
        """The aggregated rows as nodes without neighbours."""
        every = np.arange(graph.n_nodes) if rows is None else rows
        return edgeless(self.embedded(graph, every), np.zeros(len(every), dtype=np.int64))


def rows_part(rows: Features, labels: NDArray[np.int64]) -> Part:
    """Aggregated rows with their labels as nodes without neighbours."""
    return Part(edgeless(rows, labels), np.arange(len(labels)), labels)
