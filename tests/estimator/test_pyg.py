"""Graphs of PyTorch Geometric, there and back."""

import sys
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from evergraph import ContinualClassifier
from evergraph.errors import ConfigError, DataError
from evergraph.estimator.pyg import from_pyg, to_pyg
from evergraph.tables import Table, batch_from_tables, to_batch
from helpers import tiny_graph


def data(**changes: Any) -> Any:
    """A Data of torch_geometric."""
    geometric = pytest.importorskip("torch_geometric.data", reason="evergraph[pyg] is not installed")
    values = {
        "num_nodes": 3,
        "edge_index": torch.tensor([[0, 1, 1], [1, 0, 2]]),
        "x": torch.eye(3),
        "y": torch.tensor([5, 6, 7]),
    }
    return geometric.Data(**{**values, **changes})


def test_takes_the_data_of_torch_geometric() -> None:
    adjacency, features, labels = from_pyg(data(train_mask=torch.tensor([True, True, False])))
    np.testing.assert_array_equal(adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(features, np.eye(3))
    assert labels.tolist() == [5, 6, -1]


def test_without_a_mask_every_label_counts_and_the_data_stay_as_they_were() -> None:
    given = data()
    assert from_pyg(given)[2].tolist() == [5, 6, 7]
    from_pyg(data(y=given.y, train_mask=torch.tensor([False, False, False])))
    assert given.y.tolist() == [5, 6, 7]


def test_repeated_edges_count_once() -> None:
    adjacency, _, _ = from_pyg(data(edge_index=torch.tensor([[0, 0, 1], [1, 1, 0]])))
    np.testing.assert_array_equal(adjacency.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse_features", [False, True])
def test_a_graph_comes_back_as_it_was(sparse_features: bool, directed: bool) -> None:
    pytest.importorskip("torch_geometric", reason="evergraph[pyg] is not installed")
    graph = tiny_graph(sparse_features=sparse_features, directed=directed)
    made = to_pyg(graph)
    assert made.edge_index.dtype == torch.int64
    assert made.edge_index.shape == (2, graph.n_edges)
    adjacency, features, labels = from_pyg(made)
    assert (adjacency != graph.adjacency).nnz == 0
    assert graph.features is not None
    dense = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    np.testing.assert_array_equal(features, dense)
    np.testing.assert_array_equal(labels, graph.labels)


def test_a_missing_torch_geometric_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    with pytest.raises(ConfigError, match=r"got none installed; pip install 'evergraph\[pyg\]'"):
        to_pyg(tiny_graph())


def test_what_is_no_graph_is_one_sentence() -> None:
    with pytest.raises(DataError, match="a Data with x, edge_index and y is wanted, got int without x"):
        from_pyg(3)


def test_a_batch_goes_there_and_back() -> None:
    pytest.importorskip("torch_geometric", reason="evergraph[pyg] is not installed")
    adjacency = sparse.csr_array(np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0]], dtype=np.float32))
    batch = to_batch((adjacency, np.eye(3)), ["red", None, "blue"], weighted=True)
    made = to_pyg(batch)
    assert made.y.tolist() == [1, -1, 0]
    assert made.class_names == ["blue", "red"]
    assert made.train_mask.tolist() == [True, False, True]
    again = to_batch(made, weighted=True)
    assert (again.adjacency != batch.adjacency).nnz == 0
    assert again.labels.tolist() == [1, None, 0]
    np.testing.assert_array_equal(again.attributes, np.eye(3))


def test_named_columns_become_features() -> None:
    pytest.importorskip("torch_geometric", reason="evergraph[pyg] is not installed")
    table = Table("nodes", {"age": np.array([1.0, 2.0, 3.0]), "label": np.array([4, 4, 5])})
    made = to_pyg(batch_from_tables(table, None, ids=np.arange(3)))
    assert made.feature_names == ["age"]
    np.testing.assert_allclose(made.x[:, 0], [-1.2247449, 0, 1.2247449], rtol=1e-6)


def test_what_torch_geometric_made_is_learned() -> None:
    """Weights, a mask, isolated nodes and undirected edges as its own tools give them."""
    pytest.importorskip("torch_geometric", reason="evergraph[pyg] is not installed")
    from torch_geometric.data import Data
    from torch_geometric.transforms import RandomNodeSplit
    from torch_geometric.utils import to_undirected

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 120)
    source, target = rng.integers(0, 110, (2, 300))  # the last ten nodes have no edge
    x = torch.as_tensor(np.eye(3)[y] + 0.3 * rng.standard_normal((120, 3)), dtype=torch.float32)
    made = Data(x=x, y=torch.as_tensor(y), edge_index=to_undirected(torch.as_tensor(np.stack([source, target]))))
    made = RandomNodeSplit(num_val=20, num_test=40)(made)
    model = ContinualClassifier(settings={"method": {"width": 64}}).partial_fit(made)
    assert sorted(model.classes_.tolist()) == [0, 1, 2]
    assert model.history_[-1].labelled == int(made.train_mask.sum())
    test = made.test_mask.numpy()
    assert np.mean(model.predict(made)[test] == y[test]) > 0.8
    assert made.y.tolist() == y.tolist(), "the data stay as they were"


def test_nodes_with_n_id_or_ids_are_known_again() -> None:
    rng = np.random.default_rng(0)
    made = data(
        num_nodes=None,
        x=torch.as_tensor(rng.standard_normal((40, 3)), dtype=torch.float32),
        y=torch.arange(40) % 2,
        n_id=torch.arange(40) + 1000,
    )
    model = ContinualClassifier(settings={"method": {"width": 16}}).partial_fit(made)
    with pytest.raises(DataError, match="nodes that were not learned before are wanted"):
        model.partial_fit(made)
    del made.n_id
    with pytest.raises(DataError, match="nodes that were not learned before are wanted"):
        model.partial_fit(made, ids=np.arange(40) + 1000)


@pytest.mark.parametrize("mask", [torch.ones(3, 10, dtype=torch.bool), torch.tensor([0, 2]), torch.ones(3)])
def test_a_mask_that_is_none_is_one_sentence(mask: torch.Tensor) -> None:
    with pytest.raises(DataError, match=r"train_mask must be true or false for each of the 3 nodes, got"):
        to_batch(data(train_mask=mask))
