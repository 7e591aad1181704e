"""Outputs in blocks of rows are those of the whole graph."""

import numpy as np
import pytest
import torch

from evergraph.backbones import blocks as blocks_module
from evergraph.backbones import model_input
from evergraph.backbones.blocks import Blocks, cut
from evergraph.backbones.sampling import Links
from evergraph.scores.grand import grand_norms
from evergraph.testing.backbones import built
from helpers import CPU, tiny_graph

ROWS = np.array([30, 2, 17, 8, 9, 0])


@pytest.fixture(params=[1, 200, 1 << 24])
def block_floats(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Blocks of a single node, of a few, and of all."""
    monkeypatch.setattr(blocks_module, "BLOCK_FLOATS", request.param)
    return int(request.param)


@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize("sparse_features", [False, True])
@pytest.mark.parametrize("name", ["gcn", "gat", "gin"])
def test_the_outputs_are_those_of_the_whole_graph(
    name: str, sparse_features: bool, head: bool, block_floats: int
) -> None:
    graph = tiny_graph((9,) * 4, share=0.2, directed=True, sparse_features=sparse_features)
    model = built(name, 5, 4)
    whole = model_input(graph, ROWS, CPU)
    with torch.no_grad():
        expected = model(*whole) if head else model.embed(*whole)
        found = model.in_blocks(Blocks(Links(graph), ROWS, CPU), head=head)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["gcn", "gat", "gin"])
def test_blocks_of_rows_have_all_that_reaches_them(name: str, block_floats: int) -> None:
    graph = tiny_graph((9,) * 4, share=0.2, directed=True)
    model, labels = built(name, 5, 4), torch.as_tensor(graph.labels[ROWS])
    expected = grand_norms(model, model_input(graph, ROWS, CPU), labels)
    found = []
    for at, inputs in Blocks(Links(graph), ROWS, CPU).two_steps():
        found.append(grand_norms(model, inputs, labels[at]))
    assert (len(found) == 1) == (block_floats > 200)
    torch.testing.assert_close(torch.cat(found), expected, rtol=1e-4, atol=1e-6)


def test_blocks_keep_the_order_and_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks_module, "BLOCK_FLOATS", 10)
    costs = np.array([4.0, 4, 4, 40, 1, 1, 9])
    found = cut(np.arange(7), costs)
    assert np.concatenate(found).tolist() == list(range(7))
    assert all(costs[block[1:]].sum() < 10 for block in found)
    assert len(found) == 4
    assert len(cut(np.arange(0), np.zeros(0))) == 1
