"""Message graphs: who is needed for which rows, the operators, and the edges that a module of one's own sees."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from evergraph.backbones import MessageGraph, Norm, model_input
from evergraph.backbones.input_product import Form, InputSize
from helpers import CPU, tiny_graph

from .references import hears


@settings(max_examples=30)
@given(
    seed=st.integers(0, 30),
    directed=st.booleans(),
    rows=st.sets(st.integers(0, 23), min_size=1),
    share=st.just(0.07),
)
def test_only_nodes_that_can_reach_the_rows_are_touched(
    seed: int, directed: bool, rows: set[int], share: float
) -> None:
    graph = tiny_graph(seed=seed, directed=directed, share=share)
    wanted = np.array(list(rows), dtype=np.int64)
    found = MessageGraph(graph, wanted, CPU)
    near = hears(graph).numpy() != 0
    expected = [wanted]
    for _ in range(2):
        expected.insert(0, np.flatnonzero(near[expected[0]].any(axis=0)))
    assert [step.tolist() for step in found.frontier] == [step.tolist() for step in expected]
    for step in (1, 2):
        dense = hears(graph).numpy()[np.ix_(found.frontier[step], found.frontier[step - 1])]
        assert np.array_equal(found.step_matrix(Norm.SUM, step).toarray(), dense)
        assert found.frontier[step - 1][found.own(step).numpy()].tolist() == found.frontier[step].tolist()


def test_the_symmetric_operator_uses_the_degrees_of_the_whole_graph() -> None:
    graph = tiny_graph(share=0.3, directed=True)
    rows = np.array([3, 1])
    found = MessageGraph(graph, rows, CPU)
    whole = hears(graph).numpy()
    operator = whole.sum(1)[:, None] ** -0.5 * whole * whole.sum(0)[None, :] ** -0.5
    expected = operator[np.ix_(rows, found.frontier[1])]
    assert np.allclose(found.step_matrix(Norm.SYMMETRIC, 2).toarray(), expected, atol=1e-6)


def test_edges_lead_from_source_to_target_with_every_node_itself() -> None:
    graph = tiny_graph(share=0.2, directed=True)
    source, target = model_input(graph, None, CPU).graph.edge_index
    dense = torch.zeros(graph.n_nodes, graph.n_nodes)
    dense[target, source] = 1
    assert torch.equal(dense, hears(graph).float())


@pytest.mark.parametrize("sparse_features", [False, True])
def test_features_as_a_tensor(sparse_features: bool) -> None:
    graph = tiny_graph(sparse_features=sparse_features)
    tensor = model_input(graph, None, CPU).x.tensor()
    assert (tensor.layout is torch.sparse_csr) == sparse_features
    assert graph.features is not None
    values = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    assert torch.equal(tensor.to_dense(), torch.as_tensor(values))


def test_sparse_features_are_never_dense_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: sparse.csr_array, *_args: object, **_options: object) -> None:
        raise AssertionError("the features were made dense")

    graph = tiny_graph((30, 30), width=400, share=0.02, sparse_features=True)
    monkeypatch.setattr(InputSize, "cheapest", lambda size: Form.FACTORS)
    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    monkeypatch.setattr(sparse.csr_array, "todense", refuse)
    product = model_input(graph, None, CPU).x.propagated(Norm.SYMMETRIC)
    assert product.dense is None


def test_what_no_parameter_changes_is_computed_once() -> None:
    inputs = model_input(tiny_graph(sparse_features=True), None, CPU)
    assert inputs.x.propagated(Norm.SUM) is inputs.x.propagated(Norm.SUM)
    assert inputs.x.restricted() is inputs.x.restricted()
    assert inputs.graph.operator(Norm.SUM, 2) is inputs.graph.operator(Norm.SUM, 2)
    assert inputs.graph.pattern(1) is inputs.graph.pattern(1)
