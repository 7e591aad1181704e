"""What holds for every registered backbone, and each against its dense reference."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch import Tensor

from evergraph.backbones import BACKBONES, model_input
from evergraph.backbones.input_product import Form, InputSize
from evergraph.data.graph import make_graph
from evergraph.errors import DataError
from evergraph.testing import BackboneContract
from helpers import CPU, tiny_graph

from .references import REFERENCES, built, dense_features, hears, parameters_of, random_rows

NAMES = list(BACKBONES)


@pytest.mark.parametrize("name", NAMES)
class TestEveryBackbone(BackboneContract):
    pass


def test_every_backbone_has_a_reference_implementation() -> None:
    assert set(REFERENCES) == set(BACKBONES)


def close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one.double(), other, rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(
    seed=st.integers(0, 50),
    share=st.sampled_from([0.0, 0.1, 0.4]),
    directed=st.booleans(),
    sparse_features=st.booleans(),
    restricted=st.booleans(),
)
def test_outputs_and_gradients_are_those_of_the_dense_reference(
    name: str, seed: int, share: float, directed: bool, sparse_features: bool, restricted: bool
) -> None:
    graph = tiny_graph(
        (5, 4, 3), seed=seed, share=share, width=7, directed=directed, sparse_features=sparse_features
    )
    assert not graph.adjacency.toarray()[0].any()
    model, config = built(name, 7, 4, seed)
    rows = random_rows(graph.n_nodes, seed) if restricted else None
    outputs = model(*model_input(graph, rows, CPU))
    values = parameters_of(model)
    expected = REFERENCES[name](values, hears(graph), dense_features(graph), config)
    if rows is not None:
        expected = expected[torch.as_tensor(rows)]
    assert outputs.shape == expected.shape
    assert close(outputs, expected)
    cotangent = torch.empty(expected.shape).uniform_(-1, 1, generator=torch.Generator().manual_seed(seed))
    (outputs * cotangent).sum().backward()
    (expected * cotangent).sum().backward()  # type: ignore[no-untyped-call]
    for key, value in model.named_parameters():
        assert value.grad is not None, key
        wanted = values[key].grad
        assert wanted is not None
        assert close(value.grad, wanted), key


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("width", [6, 400])
def test_whatever_form_sparse_features_take_the_outputs_are_the_same(
    name: str, form: Form, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InputSize, "cheapest", lambda size: form)
    graph = tiny_graph((8, 8, 8), share=0.3, width=6, sparse_features=True)
    wide = sparse.csr_array(sparse.hstack([graph.features, sparse.csr_array((graph.n_nodes, width - 6))]))
    graph = make_graph(graph.adjacency, wide, graph.labels)
    model, config = built(name, width, 3)
    for rows in (None, random_rows(graph.n_nodes, 1)):
        outputs = model(*model_input(graph, rows, CPU))
        expected = REFERENCES[name](parameters_of(model), hears(graph), dense_features(graph), config)
        assert close(outputs, expected if rows is None else expected[torch.as_tensor(rows)])


def test_a_graph_without_features_is_one_sentence() -> None:
    graph = tiny_graph()
    bare = make_graph(graph.adjacency, None, graph.labels, name="bare")
    with pytest.raises(DataError, match="bare has no features"):
        model_input(bare, None, CPU)
