"""GAT: sizes, a head that grows without disturbing it, and dropout."""

import pytest
import torch
from pydantic import ValidationError

from evergraph.backbones import model_input
from evergraph.backbones.gat import GAT, GATConfig
from evergraph.training.loop import give_generator
from helpers import CPU, tiny_graph

from .references import built


def test_the_sizes_are_those_of_the_paper() -> None:
    model = GAT(7, GATConfig(), torch.Generator())
    assert (model.heads, model.width, model.dropout.share) == (8, 32, 0.6)
    assert model.first.weight.shape == (7, 256)


def test_heads_must_share_the_hidden_layer() -> None:
    with pytest.raises(ValidationError, match="multiple of heads"):
        GATConfig(hidden=10, heads=3)


def test_growing_leaves_the_attention_as_it_was() -> None:
    graph = tiny_graph(share=0.3)
    model, config = built("gat", graph.n_features, 3)
    inputs = model_input(graph, None, CPU)

    def weights() -> torch.Tensor:
        hidden = model.hidden(*inputs)
        found: torch.Tensor = model.head.attention(hidden @ model.head.weight, inputs.graph, config.slope)
        return found.detach()

    before = weights()
    model.head.grow(2, torch.Generator())
    assert torch.allclose(weights(), before, atol=1e-6)
    assert model.head.attend_to[3:].eq(0).all()
    assert model.head.attend_from[3:].eq(0).all()


def training_output(graph_seed: int, generator_seed: int, *, sparse_features: bool = False) -> torch.Tensor:
    graph = tiny_graph(seed=graph_seed, sparse_features=sparse_features)
    model, _ = built("gat", graph.n_features, 3, dropout=0.5)
    give_generator(model, torch.Generator().manual_seed(generator_seed))
    output: torch.Tensor = model.train()(*model_input(graph, None, CPU))
    return output.detach()


@pytest.mark.parametrize("sparse_features", [False, True])
def test_dropout_draws_from_the_generator_it_was_given(sparse_features: bool) -> None:
    torch.manual_seed(1)
    one = training_output(0, 0, sparse_features=sparse_features)
    torch.manual_seed(2)
    assert torch.equal(one, training_output(0, 0, sparse_features=sparse_features))
    assert not torch.equal(one, training_output(0, 1, sparse_features=sparse_features))


def test_there_is_no_dropout_in_evaluation() -> None:
    graph = tiny_graph()
    one, _ = built("gat", graph.n_features, 3, dropout=0.5)
    other, _ = built("gat", graph.n_features, 3, dropout=0.0)
    inputs = model_input(graph, None, CPU)
    assert torch.equal(one(*inputs), other(*inputs))
