"""Attention of several heads: value, gradient and gradient of the gradient against the dense softmax."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch import Tensor

from evergraph.backbones import model_input
from evergraph.backbones.attention import attended, attention
from evergraph.backbones.dropout import Dropout, Mask
from evergraph.backbones.products import Pattern
from evergraph.runs.process import torch_threads
from helpers import CPU, tiny_graph

from .references import WAYS, attention_weights, hears, way
from .test_products import agree, values


def pattern_and_mask(rows: int, columns: int, seed: int) -> tuple[Pattern, Tensor]:
    """A random pattern in which every row has an entry, and the same as a dense mask."""
    rng = np.random.default_rng(seed)
    dense = (rng.random((rows, columns)) < 0.4).astype(np.float32)
    dense[np.arange(rows), rng.integers(columns, size=rows)] = 1
    matrix = sparse.csr_array(dense)
    return Pattern(matrix.indptr, matrix.indices, matrix.shape, CPU), torch.as_tensor(dense).double()


def dense_factor(pattern: Pattern, mask: Mask | None, head: int) -> Tensor | float:
    return 1.0 if mask is None else pattern.matrix(mask.factor()[head]).to_dense().double()


def mask_of(heads: int, pattern: Pattern, share: float, seed: int) -> Mask | None:
    dropout = Dropout(share)
    dropout.generator = torch.Generator().manual_seed(seed)
    return dropout.mask((heads, pattern.n_entries), CPU)


def dense_heads(pattern: Pattern, hears: Tensor, mask: Mask | None, slope: float) -> Callable[..., Tensor]:
    """Attention of dense matrices: (rows, heads, k)."""

    def attend(to: Tensor, sent: Tensor, dense: Tensor) -> Tensor:
        parts = [
            (attention_weights(hears, to[head], sent[head], slope) * dense_factor(pattern, mask, head))
            @ dense[head]
            for head in range(len(to))
        ]
        return torch.stack(parts, dim=1)

    return attend


@pytest.mark.parametrize("name", WAYS)
@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 7),
    columns=st.integers(1, 7),
    heads=st.integers(1, 3),
    width=st.sampled_from([1, 3, 40]),
    slope=st.sampled_from([0.0, 0.2, 1.0, 1.5]),
    share=st.sampled_from([0.0, 0.3, 0.8]),
    seed=st.integers(0, 99),
)
def test_heads_are_dense_softmaxes(
    name: str, rows: int, columns: int, heads: int, width: int, slope: float, share: float, seed: int
) -> None:
    pattern, hears = pattern_and_mask(rows, columns, seed)
    mask = mask_of(heads, pattern, share, seed)
    plain = dense_heads(pattern, hears, mask, slope)
    shapes = (heads, rows), (heads, columns), (heads, columns, width)
    inputs = [values(*shape, seed=seed + at) for at, shape in enumerate(shapes)]

    def ours(to: Tensor, sent: Tensor, dense: Tensor) -> Tensor:
        return attended(pattern, to, sent, dense, mask, slope)

    with way(name):
        agree(ours, plain, *inputs)
        total = ours(*inputs).square().sum()
        once = torch.autograd.grad(total, inputs)
    rounding = 1e-4 + 1e-6 * float(total.detach())  # gradients are differences of terms that add up to twice that
    doubles = [value.detach().double().requires_grad_() for value in inputs]
    for found, wanted in zip(once, torch.autograd.grad(plain(*doubles).square().sum(), doubles), strict=True):
        assert torch.allclose(found.double(), wanted, rtol=1e-4, atol=rounding)


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("size", [15.0, 100.0, 1e4])
def test_weights_of_any_size_give_finite_averages_and_gradients(name: str, size: float) -> None:
    pattern, hears = pattern_and_mask(30, 40, seed=0)
    parts = [values(2, 30), values(2, 40, seed=1), values(2, 40, 3, seed=2)]
    inputs = [(part * scale).detach().requires_grad_() for part, scale in zip(parts, (size, size, 1), strict=True)]
    doubles = [value.detach().double().requires_grad_() for value in inputs]
    wanted = dense_heads(pattern, hears, None, 0.2)(*doubles)
    with way(name):
        found = attended(pattern, inputs[0], inputs[1], inputs[2], None, 0.2)
        gradients = torch.autograd.grad(found.square().sum(), inputs)
    assert torch.allclose(found.double(), wanted, atol=1e-3)
    for ours, dense in zip(gradients, torch.autograd.grad(wanted.square().sum(), doubles), strict=True):
        assert torch.allclose(ours.double(), dense, atol=1e-2)


@pytest.mark.parametrize("name", WAYS)
def test_what_is_not_a_number_stays_so(name: str) -> None:
    """The training loop stops at a loss that is not finite; attention must not hide it."""
    pattern, _ = pattern_and_mask(6, 6, seed=4)
    parts = [values(1, 6), values(1, 6, seed=1), values(1, 6, 3, seed=2)]
    for position in range(3):
        inputs = [part.detach().clone() for part in parts]
        inputs[position].fill_(torch.nan)
        with way(name):
            out = attended(pattern, inputs[0], inputs[1], inputs[2], mask_of(1, pattern, 0.3, 0), 0.2)
        assert out.isnan().all()


@pytest.mark.parametrize("name", WAYS)
def test_a_gradient_taken_again_leaves_out_what_the_weights_owe_to_what_is_averaged(name: str) -> None:
    """`to` and `sent` made of `dense`, as in a GAT: each path counts once, in both derivatives."""
    pattern, hears = pattern_and_mask(5, 5, seed=3)

    def ours(z: Tensor) -> Tensor:
        return attended(pattern, z[None, :, 0], z[None, :, 1], z[None], None, 0.2).squeeze(1)

    with way(name):
        agree(ours, lambda z: attention_weights(hears, z[:, 0], z[:, 1], 0.2) @ z, values(5, 4))


def test_compiled_and_plain_attention_agree_to_rounding_for_any_number_of_threads() -> None:
    pattern, _ = pattern_and_mask(60, 70, seed=6)
    mask = mask_of(5, pattern, 0.6, 2)
    inputs = [values(5, 60), values(5, 70, seed=1), values(5, 70, 32, seed=2)]
    cotangent = values(60, 5, 32, seed=3).detach()

    def results(name: str, threads: int) -> list[Tensor]:
        with way(name), torch_threads(threads):
            out = attended(pattern, inputs[0], inputs[1], inputs[2], mask, 0.2)
            return [out.detach(), *torch.autograd.grad(out, inputs, cotangent)]

    compiled = results("compiled", 1)
    assert all(map(torch.equal, compiled, results("compiled", 2)))
    for ours, plain in zip(compiled, results("plain", 1), strict=True):
        assert torch.allclose(ours, plain, rtol=1e-4, atol=1e-5)


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
