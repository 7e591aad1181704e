"""What holds for every registered backbone."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch import Tensor

from evergraph.backbones import BACKBONES, model_input
from evergraph.backbones.input_product import Form, InputSize
from evergraph.config import Settings
from evergraph.data.graph import make_graph
from evergraph.errors import DataError
from helpers import CPU, tiny_graph

from .references import REFERENCES, built, dense_features, hears, parameters_of, random_rows

NAMES = list(BACKBONES)


def test_every_backbone_has_a_reference_implementation() -> None:
    assert set(REFERENCES) == set(BACKBONES)


@pytest.mark.parametrize("name", NAMES)
def test_the_entry_is_complete(name: str) -> None:
    entry = BACKBONES[name]
    assert entry.summary
    assert entry.paper
    assert issubclass(entry.config, Settings)


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


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("steps", [(2, 2), (1, 3), (4,)])
def test_classes_that_arrive_leave_the_old_outputs_as_they_were(name: str, steps: tuple[int, ...]) -> None:
    graph = tiny_graph()
    inputs = model_input(graph, None, CPU)
    model, _ = built(name, graph.n_features, 3)
    generator = torch.Generator().manual_seed(1)
    for count in steps:
        before = model(*inputs).detach()
        weight = model.head.weight.detach().clone()
        model.head.grow(count, generator)
        after = model(*inputs).detach()
        assert after.shape == (graph.n_nodes, before.shape[1] + count)
        assert model.head.n_classes == after.shape[1]
        assert torch.allclose(after[:, : before.shape[1]], before, atol=1e-6, rtol=1e-5)
        assert torch.equal(model.head.weight[:, : before.shape[1]], weight)
        assert model.head.weight[:, before.shape[1] :].abs().min() > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_embedding_is_what_the_head_sees(name: str) -> None:
    graph = tiny_graph(share=0.3)
    model, _ = built(name, graph.n_features, 3)
    for rows in (None, random_rows(graph.n_nodes, 2)):
        inputs = model_input(graph, rows, CPU)
        embedding = model.embed(*inputs)
        assert embedding.shape == (graph.n_nodes if rows is None else len(rows), 6)
        logits = embedding @ model.head.weight + model.head.bias
        assert torch.allclose(logits, model(*inputs), atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_the_generator_decides_every_first_value(name: str) -> None:
    def first_values(seed: int) -> list[Tensor]:
        generator = torch.Generator().manual_seed(seed)
        model = BACKBONES[name].build(5, BACKBONES[name].config(), generator)
        model.head.grow(2, generator)  # type: ignore[union-attr, operator]
        return [value.detach() for value in model.parameters()]

    torch.manual_seed(1)
    one = first_values(0)
    torch.manual_seed(2)
    same, other = first_values(0), first_values(1)
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert any(not torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_outputs_do_not_depend_on_the_other_rows_asked_for(name: str) -> None:
    graph = tiny_graph(share=0.15)
    model, _ = built(name, graph.n_features, 3)
    every = model(*model_input(graph, None, CPU))
    for node in range(0, graph.n_nodes, 5):
        alone = model(*model_input(graph, np.array([node]), CPU))
        assert torch.allclose(alone[0], every[node], atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_calling_a_model_changes_nothing(name: str) -> None:
    graph = tiny_graph()
    model, _ = built(name, graph.n_features, 3)
    inputs = model_input(graph, None, CPU)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    first, second = model(*inputs), model(*inputs)
    assert torch.equal(first, second)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


def test_a_graph_without_features_is_one_sentence() -> None:
    graph = tiny_graph()
    bare = make_graph(graph.adjacency, None, graph.labels, name="bare")
    with pytest.raises(DataError, match="bare has no features"):
        model_input(bare, None, CPU)
