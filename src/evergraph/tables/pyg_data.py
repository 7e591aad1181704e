"""Batches from Data of PyTorch Geometric, which is known by what it has: PyG is not imported."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evergraph.errors import DataError
from evergraph.matrices import adjacency_from_edges
from evergraph.tables.arrays import batch_from_arrays
from evergraph.tables.batch import Batch
from evergraph.tables.labels import labels_of
from evergraph.tables.values import array_of

TRAIN_MASK, TEST_MASK = "train_mask", "test_mask"


def batch_from_pyg(
    data: Any,
    *,
    ids: ArrayLike | None = None,
    mask: str | ArrayLike | None = TRAIN_MASK,
    directed: bool = False,
    weighted: bool = False,
) -> Batch:
    """A torch_geometric Data: edge_index, and x, y, train_mask, edge_weight and n_id where it has them.

    Labels outside of train_mask, or of the mask that is named or given, are missing, and so is -1; mask=None has
    all. n_id, or the ids given, say which node it is.
    """
    if getattr(data, "edge_index", None) is None:
        raise DataError(
            f"a Data with edge_index is wanted, got {type(data).__name__} without it instead; build it first"
        )
    ends = array_of(data.edge_index)
    if ends.ndim != 2 or len(ends) != 2 or ends.dtype.kind not in "iu":
        came = f"{ends.dtype} of shape {ends.shape}"
        raise DataError(f"edge_index must be two rows of whole numbers, got {came} instead")
    n_nodes = int(data.num_nodes)
    weight = _pyg_weight(data, ends.shape[1])
    adjacency = adjacency_from_edges(
        ends[0].astype(np.int64), ends[1].astype(np.int64), n_nodes, weight, merge_duplicates=True
    )
    x = getattr(data, "x", None)
    y = getattr(data, "y", None)
    batch = batch_from_arrays(
        adjacency,
        None if x is None else array_of(x),
        None if y is None else _pyg_labels(data, array_of(y), mask),
        ids=array_of(data.n_id) if ids is None and getattr(data, "n_id", None) is not None else ids,
        directed=directed,
        weighted=weighted,
    )
    if getattr(data, "edge_attr", None) is not None:
        return replace(batch, remarks=(*batch.remarks, "edge_attr is not used; edge_weight would be"))
    return batch


def _pyg_weight(data: Any, n_edges: int) -> NDArray[np.float32] | None:
    given = getattr(data, "edge_weight", None)
    weight = None if given is None else array_of(given).reshape(-1).astype(np.float32)
    if weight is not None and len(weight) != n_edges:
        raise DataError(f"there must be one edge_weight for each of the {n_edges} edges, got {len(weight)} instead")
    return weight


def scoring_options(graph: Any) -> dict[str, str | None]:
    """Which labels a score is about, where a graph says so: those of a PyG test_mask, else all of its labels."""
    if not hasattr(graph, "edge_index"):
        return {}
    return {"mask": TEST_MASK if getattr(graph, TEST_MASK, None) is not None else None}


def _pyg_labels(data: Any, labels: NDArray[Any], mask: str | ArrayLike | None) -> NDArray[np.object_]:
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    return masked(data, labels_of(labels, int(data.num_nodes)), mask)


def masked(data: Any, labels: NDArray[np.object_], mask: str | ArrayLike | None) -> NDArray[np.object_]:
    """Labels within a mask of a PyG Data, by its name, or one that is given; all without one."""
    name = mask if isinstance(mask, str) else "mask"
    found = getattr(data, mask, None) if isinstance(mask, str) else mask
    if found is None:
        if mask is None or name == TRAIN_MASK:
            return labels
        raise DataError(f"a mask called {name!r} is wanted, got a Data without it; name another with mask=")
    chosen = array_of(found)
    if chosen.shape != labels.shape or chosen.dtype.kind != "b":
        raise DataError(
            f"{name} must be true or false for each of the {len(labels):,} nodes, got {chosen.dtype} of "
            f"shape {chosen.shape} instead; take one split of it"
        )
    kept = labels.copy()
    kept[~chosen] = None
    return kept
