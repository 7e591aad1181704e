"""Attention of one head: value, gradient and gradient of the gradient against the dense softmax."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch import Tensor

from evergraph.backbones import model_input
from evergraph.backbones.attention import attended, attention
from evergraph.backbones.products import Pattern
from helpers import CPU, tiny_graph

from .references import attention_weights, hears
from .test_products import agree, values


def pattern_and_mask(rows: int, columns: int, seed: int) -> tuple[Pattern, Tensor]:
    """A random pattern in which every row has an entry, and the same as a dense mask."""
    rng = np.random.default_rng(seed)
    dense = (rng.random((rows, columns)) < 0.4).astype(np.float32)
    dense[np.arange(rows), rng.integers(columns, size=rows)] = 1
    matrix = sparse.csr_array(dense)
    return Pattern(matrix.indptr, matrix.indices, matrix.shape, CPU), torch.as_tensor(dense).double()


def dense_factor(pattern: Pattern, factor: Tensor | None) -> Tensor | float:
    return 1.0 if factor is None else pattern.matrix(factor).to_dense().double()


@settings(max_examples=40)
@given(
    rows=st.integers(1, 7),
    columns=st.integers(1, 7),
    width=st.sampled_from([1, 3, 40]),
    slope=st.sampled_from([0.0, 0.2, 1.0]),
    dropout=st.booleans(),
    seed=st.integers(0, 99),
)
def test_one_head_is_the_dense_softmax(
    rows: int, columns: int, width: int, slope: float, dropout: bool, seed: int
) -> None:
    pattern, mask = pattern_and_mask(rows, columns, seed)
    generator = torch.Generator().manual_seed(seed)
    factor = torch.rand(pattern.n_entries, generator=generator).round() * 2.5 if dropout else None

    def ours(to: Tensor, sent: Tensor, dense: Tensor) -> Tensor:
        return attended(pattern, to, sent, dense, factor, slope)

    def plain(to: Tensor, sent: Tensor, dense: Tensor) -> Tensor:
        return (attention_weights(mask, to, sent, slope) * dense_factor(pattern, factor)) @ dense

    inputs = values(rows, seed=seed), values(columns, seed=seed + 1), values(columns, width, seed=seed + 2)
    agree(ours, plain, *inputs)
    once = torch.autograd.grad(ours(*inputs).square().sum(), inputs)
    doubles = [value.detach().double().requires_grad_() for value in inputs]
    for found, wanted in zip(once, torch.autograd.grad(plain(*doubles).square().sum(), doubles), strict=True):
        assert torch.allclose(found.double(), wanted, atol=1e-4)


@pytest.mark.parametrize("size", [15.0, 100.0, 1e4])
def test_weights_of_any_size_give_finite_averages_and_gradients(size: float) -> None:
    pattern, mask = pattern_and_mask(30, 40, seed=0)
    parts = [values(30), values(40, seed=1), values(40, 3, seed=2)]
    inputs = [(part * scale).detach().requires_grad_() for part, scale in zip(parts, (size, size, 1), strict=True)]
    doubles = [value.detach().double().requires_grad_() for value in inputs]
    found = attended(pattern, inputs[0], inputs[1], inputs[2], None, 0.2)
    wanted = attention_weights(mask, doubles[0], doubles[1], 0.2) @ doubles[2]
    assert torch.allclose(found.double(), wanted, atol=1e-3)
    for ours, dense in zip(
        torch.autograd.grad(found.square().sum(), inputs),
        torch.autograd.grad(wanted.square().sum(), doubles),
        strict=True,
    ):
        assert torch.allclose(ours.double(), dense, atol=1e-2)


def test_a_gradient_taken_again_leaves_out_what_the_weights_owe_to_what_is_averaged() -> None:
    """`to` and `sent` made of `dense`, as in a GAT: each path counts once, in both derivatives."""
    pattern, mask = pattern_and_mask(5, 5, seed=3)

    def ours(z: Tensor) -> Tensor:
        return attended(pattern, z[:, 0], z[:, 1], z, None, 0.2)

    agree(ours, lambda z: attention_weights(mask, z[:, 0], z[:, 1], 0.2) @ z, values(5, 4))


def test_attention_is_the_dense_softmax_and_sums_to_one() -> None:
    graph = tiny_graph(share=0.3, directed=True)
    inputs = model_input(graph, None, CPU)
    pattern = inputs.graph.pattern(1)
    generator = torch.Generator().manual_seed(0)
    to, sent = (torch.empty(graph.n_nodes, 2).uniform_(-60, 60, generator=generator) for _ in range(2))
    weights = attention(pattern, to, sent, 0.2)
    assert torch.allclose(pattern.row_sum(weights), torch.ones(graph.n_nodes, 2), atol=1e-5)
    for head in range(2):
        dense = attention_weights(hears(graph), to[:, head].double(), sent[:, head].double(), 0.2)
        found = pattern.matrix(weights[:, head].contiguous()).to_dense()
        assert torch.allclose(found.double(), dense, atol=1e-5)
