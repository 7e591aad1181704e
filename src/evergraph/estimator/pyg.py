"""Graphs of PyTorch Geometric."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import Features, Graph
from evergraph.data.stream import HIDDEN
from evergraph.errors import ConfigError, DataError
from evergraph.tables import Batch, FeatureSchema

if TYPE_CHECKING:
    from torch_geometric.data import Data


def from_pyg(data: "Data") -> tuple[sparse.csr_array, NDArray[np.float32], NDArray[np.int64]]:
    """Adjacency, features and labels of a torch_geometric `Data`; labels outside train_mask, if any, become -1."""
    missing = [name for name in ("x", "edge_index", "y") if getattr(data, name, None) is None]
    if missing:
        raise DataError(
            f"a Data with x, edge_index and y is wanted, got {type(data).__name__} without {missing[0]} instead"
        )
    n_nodes = int(data.num_nodes)
    source, target = data.edge_index.cpu().numpy()
    adjacency = sparse.csr_array(
        (np.ones(len(source), dtype=np.float32), (source, target)), shape=(n_nodes, n_nodes)
    )
    adjacency.sum_duplicates()
    adjacency.data[:] = 1
    labels = data.y.cpu().numpy().astype(np.int64).copy()
    mask = getattr(data, "train_mask", None)
    if mask is not None:
        labels[~mask.cpu().numpy()] = HIDDEN
    return adjacency, data.x.cpu().numpy(), labels


def to_pyg(graph: Graph | Batch) -> "Data":
    """A graph or a batch as a torch_geometric `Data`; needs evergraph[pyg].

    It has x, edge_index, y, edge_weight where weights are not all 1. The labels of a batch are whole numbers in the
    sorted order of their names (`class_names`), -1 where missing, and train_mask says where they are known; x are
    its numbers without names, or the features of a schema of its own columns (`feature_names`).
    """
    try:
        from torch_geometric.data import Data
    except ImportError:
        raise ConfigError("torch_geometric is wanted, got none installed; pip install 'evergraph[pyg]'") from None
    coo = graph.adjacency.tocoo()
    edge_index = torch.as_tensor(np.stack([coo.row, coo.col]).astype(np.int64))
    more = {} if np.all(coo.data == 1) else {"edge_weight": torch.as_tensor(coo.data)}
    if isinstance(graph, Graph):
        return Data(x=_dense(graph.features), edge_index=edge_index, y=torch.as_tensor(graph.labels), **more)
    schema = FeatureSchema.fit(graph)
    names = sorted({label for label in graph.labels if label is not None})
    index = {name: at for at, name in enumerate(names)}
    labels = np.array([index.get(label, HIDDEN) for label in graph.labels], dtype=np.int64)
    return Data(
        x=_dense(schema.encode(graph)) if schema.n_features else None,
        edge_index=edge_index,
        y=torch.as_tensor(labels),
        train_mask=torch.as_tensor(labels != HIDDEN),
        num_nodes=graph.n_nodes,
        class_names=names,
        feature_names=list(schema.feature_names),
        **more,
    )


def _dense(features: Features | None) -> torch.Tensor | None:
    if features is None:
        return None
    return torch.as_tensor(features if isinstance(features, np.ndarray) else features.toarray())
