"""ELU and dropout in one pass: values and gradients are those of the two steps, with and without numba."""

import pytest
import torch
from torch import Tensor
from torch.nn.functional import elu

from evergraph.backbones.activation import elu_dropped
from evergraph.backbones.dropout import CHUNK, Dropout, Mask
from evergraph.runs.process import torch_threads

from .references import WAYS, way

WIDTH = 64


def drawn(rows: int) -> tuple[Tensor, Tensor, Mask]:
    generator = torch.Generator().manual_seed(rows)
    x = 3 * torch.randn(rows, WIDTH, generator=generator)
    x[0, :4] = torch.tensor([0.0, 1e-6, -1e-6, -90.0])
    dropout = Dropout(0.6)
    dropout.generator = generator
    mask = dropout.mask(x.shape, x.device)
    assert mask is not None
    return x.requires_grad_(), torch.randn(WIDTH, generator=generator).requires_grad_(), mask


def exactly(x: Tensor, bias: Tensor, mask: Mask | None) -> Tensor:
    active = elu(x.double() + bias.double())
    return active if mask is None else active * mask.factor().double()


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("threads", [1, 2])
def test_values_and_gradients_are_those_of_both_steps(name: str, threads: int) -> None:
    x, bias, mask = drawn(CHUNK // WIDTH + 30)
    weights = torch.randn(x.shape, generator=torch.Generator().manual_seed(1))
    wanted = exactly(x, bias, mask)
    slopes = torch.autograd.grad((wanted * weights).sum(), (x, bias))
    with way(name), torch_threads(threads):
        found = elu_dropped(x, bias, mask)
        ours = torch.autograd.grad(found, (x, bias), weights)
    assert torch.allclose(found.double(), wanted, rtol=1e-6, atol=1e-6)
    for slope, reference in zip(ours, slopes, strict=True):
        assert torch.allclose(slope, reference, rtol=1e-4, atol=1e-4)
    assert torch.equal(ours[0] == 0, mask.factor() == 0)


@pytest.mark.parametrize("name", WAYS)
def test_small_values_keep_their_digits(name: str) -> None:
    x, _, mask = drawn(4)
    with way(name):
        found = elu_dropped(x, torch.zeros(WIDTH), Mask(torch.full_like(mask.bits, 32_767), 0.0))
    assert torch.allclose(found[0, :4], torch.tensor([0.0, 1e-6, -1e-6, -1.0]), rtol=1e-5, atol=0.0)


@pytest.mark.parametrize("name", WAYS)
def test_without_a_mask_nothing_is_dropped(name: str) -> None:
    x, bias, _ = drawn(4)
    with way(name):
        assert torch.allclose(elu_dropped(x, bias, None).double(), exactly(x, bias, None))


@pytest.mark.parametrize("name", WAYS)
def test_it_can_be_differentiated_twice(name: str) -> None:
    x, bias, mask = drawn(5)
    with way(name):
        (slope,) = torch.autograd.grad(elu_dropped(x, bias, mask).square().sum(), (x,), create_graph=True)
        twice = torch.autograd.grad(slope.square().sum(), (x, bias))
    (slope,) = torch.autograd.grad(exactly(x, bias, mask).square().sum(), (x,), create_graph=True)
    for ours, reference in zip(twice, torch.autograd.grad(slope.square().sum(), (x, bias)), strict=True):
        assert torch.allclose(ours, reference, rtol=1e-3, atol=1e-3)
