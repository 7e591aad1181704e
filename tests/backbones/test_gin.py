"""GIN: the sizes of the paper, and a graph small enough to be worked out by hand."""

import numpy as np
import torch
from scipy import sparse

from evergraph.backbones import model_input
from evergraph.backbones.gin import GIN, GINConfig
from evergraph.data.graph import make_graph
from helpers import CPU

from .references import built


def test_the_hidden_layers_are_as_wide_as_in_the_paper() -> None:
    model = GIN(7, GINConfig(), torch.Generator())
    assert model.first.weight.shape == (7, 256)
    assert model.second.weight.shape == model.third.weight.shape == (256, 256)


def test_two_nodes_by_hand() -> None:
    graph = make_graph(sparse.csr_array(1 - np.eye(2)), np.array([[1.0], [3.0]]), [0, 0])
    model, _ = built("gin", 1, 1, hidden=1)
    with torch.no_grad():
        for value in model.parameters():
            value.fill_(1)
    # 1 + 3 = 4, then 4 + 1, 5 + 1 on each node; 6 + 6 = 12, then 12 + 1, 13 + 1
    assert torch.equal(model(*model_input(graph, None, CPU)), torch.full((2, 1), 14.0))
