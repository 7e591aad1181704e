from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from evergraph.data.datasets.npz import read_npz

from .layouts import N, features, labels, ring, shchur_arrays


def write(folder: Path, **changes: object) -> Path:
    arrays = {**shchur_arrays(), **changes}
    np.savez(folder / "g.npz", **{key: value for key, value in arrays.items() if value is not None})  # type: ignore[arg-type]
    return folder / "g.npz"


def test_sparse_features_stay_sparse(tmp_path: Path) -> None:
    graph = read_npz(write(tmp_path), "g")
    assert sparse.issparse(graph.features)
    assert abs(graph.features - features()).sum() == 0
    assert graph.directed


def test_absent_features_are_stated(tmp_path: Path) -> None:
    graph = read_npz(write(tmp_path, attr_data=None, attr_indices=None, attr_indptr=None, attr_shape=None), "g")
    assert graph.features is None
    assert graph.remarks == ("g.npz holds no node features",)


def test_dense_features_are_read_too(tmp_path: Path) -> None:
    dense = np.arange(2 * N, dtype=np.float64).reshape(N, 2)
    gone = dict.fromkeys(("attr_data", "attr_indices", "attr_indptr", "attr_shape"))
    graph = read_npz(write(tmp_path, attr_matrix=dense, **gone), "g")
    assert np.array_equal(np.asarray(graph.features), dense.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float64])
def test_any_type_of_weight_and_any_order_of_columns_is_read(tmp_path: Path, dtype: type) -> None:
    both = sparse.csr_array(ring() + ring().T)
    flipped = both.indices.reshape(N, 2)[:, ::-1].ravel()
    path = write(
        tmp_path,
        adj_data=np.ones(2 * N, dtype=dtype),
        adj_indices=flipped,
        adj_indptr=both.indptr.astype(np.uint64),
    )
    graph = read_npz(path, "g")
    assert (graph.adjacency != both).nnz == 0
    assert graph.adjacency.has_sorted_indices
    assert not graph.directed
    assert np.array_equal(graph.labels, labels())
