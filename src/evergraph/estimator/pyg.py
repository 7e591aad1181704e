"""Graphs of PyTorch Geometric."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import Graph
from evergraph.data.stream import HIDDEN
from evergraph.errors import ConfigError, DataError

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


def to_pyg(graph: Graph) -> "Data":
    """A graph as a torch_geometric `Data` with x, edge_index and y; needs evergraph[pyg]."""
    try:
        from torch_geometric.data import Data
    except ImportError:
        raise ConfigError("torch_geometric is wanted, got none installed; pip install 'evergraph[pyg]'") from None
    coo = graph.adjacency.tocoo()
    edge_index = torch.as_tensor(np.stack([coo.row, coo.col]).astype(np.int64))
    features = graph.features
    x = (
        None
        if features is None
        else torch.as_tensor(features if isinstance(features, np.ndarray) else features.toarray())
    )
    return Data(x=x, edge_index=edge_index, y=torch.as_tensor(graph.labels))
