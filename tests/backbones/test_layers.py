"""Layers: Glorot's bound, the head that grows."""

import math

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evergraph.backbones.layers import Head, Linear, glorot


@settings(max_examples=20)
@given(rows=st.integers(1, 40), columns=st.integers(1, 40))
def test_glorot_is_uniform_within_its_bound(rows: int, columns: int) -> None:
    weight = glorot(rows, columns, torch.Generator().manual_seed(0))
    bound = math.sqrt(6 / (rows + columns))
    assert weight.shape == (rows, columns)
    assert weight.abs().max() <= bound
    if weight.numel() > 400:
        assert abs(float(weight.mean())) < bound / 5
        assert float(weight.abs().max()) > 0.9 * bound


def test_linear_is_a_product_and_a_bias() -> None:
    layer = Linear(3, 2, torch.Generator())
    with torch.no_grad():
        layer.bias.fill_(2)
    x = torch.arange(6.0).view(2, 3)
    assert torch.allclose(layer(x), x @ layer.weight + 2)


def test_a_head_without_classes_has_no_outputs() -> None:
    head = Head(4)
    assert head.n_classes == 0
    assert head(torch.ones(3, 4)).shape == (3, 0)


def test_a_grown_head_keeps_what_it_learned() -> None:
    head = Head(4)
    head.grow(2, torch.Generator().manual_seed(0))
    with torch.no_grad():
        head.bias.fill_(7)
    weight = head.weight.detach().clone()
    head.grow(3, torch.Generator().manual_seed(1))
    assert head.n_classes == 5
    assert torch.equal(head.weight[:, :2], weight)
    assert head.bias.tolist() == [7, 7, 0, 0, 0]
    assert head.weight[:, 2:].abs().max() <= 0.5
    assert head.weight.requires_grad
    assert head.bias.requires_grad
