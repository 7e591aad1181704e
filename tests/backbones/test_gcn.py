"""GCN: the sizes of the paper, and summing instead of normalising."""

from dataclasses import replace

import numpy as np
import torch
from scipy import sparse

from evergraph.backbones import Norm, model_input
from evergraph.backbones.gcn import GCN, GCNConfig
from evergraph.data.graph import make_graph
from helpers import CPU, tiny_graph

from .references import built, dense_features, gcn, hears, parameters_of


def test_the_hidden_layer_is_as_wide_as_in_the_paper() -> None:
    model = GCN(7, GCNConfig(), torch.Generator())
    assert model.first.weight.shape == (7, 256)
    assert model.norm is Norm.SYMMETRIC


def test_sum_adds_up_without_normalising() -> None:
    graph = tiny_graph(share=0.4, directed=True)
    model, config = built("gcn", graph.n_features, 3, norm="sum")
    assert config.norm is Norm.SUM
    outputs = model(*model_input(graph, None, CPU))
    expected = gcn(parameters_of(model), hears(graph), dense_features(graph), config)
    assert torch.allclose(outputs.double(), expected, rtol=1e-4, atol=1e-4)
    other, _ = built("gcn", graph.n_features, 3)
    assert not torch.allclose(outputs, other(*model_input(graph, None, CPU)), rtol=0.1)


def test_two_nodes_by_hand() -> None:
    """An edge between two nodes: every entry of the normalised operator is 1/2."""
    graph = make_graph(sparse.csr_array(1 - np.eye(2)), np.array([[1.0], [3.0]]), [0, 0])
    model, _ = built("gcn", 1, 1)
    with torch.no_grad():
        for value in model.parameters():
            value.fill_(1)
    assert torch.allclose(model(*model_input(graph, None, CPU)), torch.full((2, 1), 6 * 3.0 + 1))


def test_without_a_bias_the_scale_of_the_features_is_the_scale_of_the_outputs() -> None:
    graph = tiny_graph(share=0.4)
    model, _ = built("gcn", graph.n_features, 3, norm="sum", bias=False)
    assert {name for name, _ in model.named_parameters()} == {"first.weight", "head.weight"}
    larger = replace(graph, features=7 * dense_features(graph).float().numpy())
    outputs = model(*model_input(graph, None, CPU))
    assert torch.allclose(model(*model_input(larger, None, CPU)), 7 * outputs, rtol=1e-4)
    other, _ = built("gcn", graph.n_features, 3, norm="sum")
    for name in ("first", "head"):
        getattr(other, name).bias.data.fill_(1.0)
    biased = other(*model_input(graph, None, CPU))
    assert not torch.allclose(other(*model_input(larger, None, CPU)), 7 * biased, rtol=0.01)
