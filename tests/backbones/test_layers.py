"""Layers: Glorot's bound, the head that grows, dropout from a given generator."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evergraph.backbones.layers import Dropout, Head, Linear, glorot


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


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_dropout_zeroes_a_share_and_scales_the_rest(share: float) -> None:
    dropout = Dropout(share)
    dropout.generator = torch.Generator().manual_seed(0)
    values = dropout(torch.ones(20_000))
    kept = values[values != 0]
    assert torch.allclose(kept, torch.tensor(1 / (1 - share)))
    assert abs(len(kept) / len(values) - (1 - share)) < 0.02


def test_dropout_draws_anew_each_time() -> None:
    dropout = Dropout(0.5)
    dropout.generator = torch.Generator().manual_seed(0)
    assert not torch.equal(dropout(torch.ones(100)), dropout(torch.ones(100)))


def test_dropout_without_a_generator_refuses_to_train() -> None:
    with pytest.raises(RuntimeError, match="needs a generator"):
        Dropout(0.5)(torch.ones(3))
    assert torch.equal(Dropout(0.5).eval()(torch.ones(3)), torch.ones(3))
    assert torch.equal(Dropout(0.0)(torch.ones(3)), torch.ones(3))
