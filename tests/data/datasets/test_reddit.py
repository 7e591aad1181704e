from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from evergraph.data.datasets import load_dataset
from evergraph.errors import DataError

from .layouts import N, labels, reddit, ring


@pytest.mark.parametrize("layout", [sparse.coo_matrix, sparse.csr_matrix, sparse.csr_array])
def test_any_saved_matrix_is_read(tmp_path: Path, layout: type) -> None:
    reddit(tmp_path)
    both = ring() + ring().T
    sparse.save_npz(tmp_path / "reddit" / "reddit_graph.npz", layout(both))
    graph = load_dataset("reddit", data_dir=tmp_path)
    assert (graph.adjacency != both).nnz == 0
    assert np.array_equal(graph.labels, labels())


def test_broken_files_are_one_sentence(tmp_path: Path) -> None:
    reddit(tmp_path)
    nodes, edges = (tmp_path / "reddit" / f"reddit_{part}.npz" for part in ("data", "graph"))
    sparse.save_npz(edges, sparse.eye_array(N + 1).tocoo())
    with pytest.raises(DataError, match="one row for each of the 13 nodes"):
        load_dataset("reddit", data_dir=tmp_path)
    np.savez(edges, nothing=np.arange(2))
    with pytest.raises(DataError, match=r"reddit_graph.npz must be"):
        load_dataset("reddit", data_dir=tmp_path)
    np.savez(nodes, feature=np.ones((N, 2)))
    with pytest.raises(DataError, match=r"reddit_data.npz: .*'label'"):
        load_dataset("reddit", data_dir=tmp_path)
