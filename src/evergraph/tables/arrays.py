"""Batches from a scipy adjacency and an array of numbers without names."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evergraph.errors import DataError
from evergraph.matrices import checked_adjacency, checked_features
from evergraph.tables.batch import Batch
from evergraph.tables.edges import tidied
from evergraph.tables.ids import checked_ids
from evergraph.tables.labels import Labels, labels_of, remarks_of
from evergraph.tables.roles import ID, TIME
from evergraph.tables.table import Table
from evergraph.tables.times import time_values

DIRECTIONS = "directions of the edges are not used (directed=True keeps them)"
WEIGHTS = "edge weights are not used ({} keeps them)"


def batch_from_arrays(
    adjacency: sparse.sparray | sparse.spmatrix,
    features: ArrayLike | sparse.sparray | sparse.spmatrix | None,
    labels: Labels | None = None,
    *,
    ids: ArrayLike | None = None,
    times: ArrayLike | None = None,
    directed: bool = False,
    weighted: bool = False,
) -> Batch:
    """A scipy adjacency and numbers without names, which are taken as given.

    Ids are the row numbers unless they are given. Labels -1, None, NaN and "" are missing ones.
    """
    matrix = checked_adjacency(adjacency)
    n_nodes = int(matrix.shape[0])
    table = Table("the nodes", {ID: np.arange(n_nodes)})
    names = np.arange(n_nodes) if ids is None else checked_ids(np.asarray(ids), table)
    if names.shape != (n_nodes,):
        raise DataError(f"there must be one id for each of the {n_nodes} nodes, got {len(names)} instead")
    made, remarks = tidied(matrix, directed=directed, weighted=weighted)
    if not directed and (matrix != matrix.T).nnz:
        remarks = (DIRECTIONS, *remarks)
    if not weighted and np.any(matrix.data != 1):
        remarks = (WEIGHTS.format("weighted=True"), *remarks)
    said = () if labels is None else remarks_of(labels)
    return Batch(
        ids=names,
        labels=np.full(n_nodes, None, dtype=object) if labels is None else labels_of(labels, n_nodes),
        adjacency=made,
        attributes=None if features is None else checked_features(features, n_nodes),
        times=None if times is None else _times(times, n_nodes),
        directed=directed,
        remarks=(*said, *remarks),
        named=ids is not None,
    )


def _times(times: ArrayLike, n_nodes: int) -> NDArray[np.float64] | NDArray[np.int64]:
    values = np.asarray(times)
    if values.shape != (n_nodes,):
        raise DataError(f"there must be one time for each of the {n_nodes} nodes, got shape {values.shape} instead")
    return time_values(Table("the nodes", {TIME: values}), TIME)
