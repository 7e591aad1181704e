"""Products with a narrow weight: values and gradients of first and second order are those of the plain product."""

import pytest
import torch
from torch import Tensor

from evergraph.backbones.narrow_product import narrow_product


def drawn(classes: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(classes)
    hidden = torch.randn(50, 24, generator=generator, dtype=torch.float64)
    weight = torch.randn(24, classes, generator=generator, dtype=torch.float64)
    return hidden.requires_grad_(), weight.requires_grad_()


@pytest.mark.parametrize("classes", [0, 1, 2, 7, 20])
def test_values_and_gradients_are_those_of_the_product(classes: int) -> None:
    hidden, weight = drawn(classes)
    found, wanted = narrow_product(hidden, weight), hidden @ weight
    assert torch.allclose(found, wanted)
    slopes = [torch.autograd.grad(value.square().sum(), (hidden, weight)) for value in (found, wanted)]
    for ours, reference in zip(*slopes, strict=True):
        assert ours.shape == reference.shape
        assert ours.is_contiguous()
        assert torch.allclose(ours, reference)


def test_it_can_be_differentiated_twice() -> None:
    hidden, weight = drawn(3)
    assert torch.autograd.gradgradcheck(narrow_product, (hidden[:4, :5], weight[:5]))


def test_a_constant_factor_gets_no_gradient() -> None:
    hidden, weight = drawn(3)
    (for_weight,) = torch.autograd.grad(narrow_product(hidden.detach(), weight).sum(), (weight,))
    assert torch.allclose(for_weight, hidden.detach().sum(dim=0)[:, None].expand(-1, 3))
