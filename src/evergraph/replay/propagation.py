"""Propagated features: what the neighbourhood of a node sends it, without any parameter."""

import numpy as np
import torch
from numpy.typing import NDArray

from evergraph.backbones.message import MessageGraph, Norm
from evergraph.data.graph import Features, Graph
from evergraph.errors import DataError

CPU = torch.device("cpu")


def propagated(graph: Graph, rows: NDArray[np.int64], hops: int = 2) -> Features:
    """Rows of Â^hops X with Â = D^-1/2 (A + I) D^-1/2; only nodes that reach the rows are touched."""
    if graph.features is None:
        raise DataError(f"features are wanted, got {graph.name} without any; derive them with --features")
    steps = MessageGraph(graph, rows, CPU, depth=hops)
    values: Features = graph.features[steps.frontier[0]]
    for step in range(1, hops + 1):
        values = steps.step_matrix(Norm.SYMMETRIC, step) @ values
    return values
