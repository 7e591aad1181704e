"""Layers shared by backbones: linear maps and the head that grows."""

import math

import torch
from torch import Tensor, nn

from evergraph.backbones.input_product import InputProduct
from evergraph.backbones.narrow_product import narrow_product


def glorot(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    """A (rows, columns) weight, uniform with Glorot and Bengio's bound."""
    bound = math.sqrt(6 / (rows + columns))
    return torch.empty(rows, columns).uniform_(-bound, bound, generator=generator)


def give_bias(layer: nn.Module, values: Tensor, *, trained: bool) -> None:
    """Set a layer's bias: a parameter, or constant zeros."""
    if trained:
        layer.bias = nn.Parameter(values)
    else:
        layer.register_buffer("bias", values)


class Linear(nn.Module):
    """x W + b with W stored as (inputs, outputs), the layout in which sparse features are fastest."""

    bias: Tensor

    def __init__(self, inputs: int, outputs: int, generator: torch.Generator, *, bias: bool = True):
        super().__init__()
        self.weight = nn.Parameter(glorot(inputs, outputs, generator))
        give_bias(self, torch.zeros(outputs), trained=bias)

    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x, self.weight)


class InputLinear(Linear):
    """The linear map of the features; training can narrow it to the features that occur.

    Narrowing changes only the time: rows of the weight without a feature get no gradient, so the optimiser can
    treat them separately (training/narrowing.py).
    """

    narrowed: tuple[Tensor, Tensor] | None = None
    """While narrowed: the features kept, and their rows of the weight."""

    def forward(self, product: InputProduct) -> Tensor:  # type: ignore[override]
        return product.linear(self._weight_for(product), self.bias)

    def multiply(self, product: InputProduct) -> Tensor:
        """The product without the bias."""
        return product.multiply(self._weight_for(product))

    def _weight_for(self, product: InputProduct) -> Tensor:
        if product.columns is None:
            return self.weight
        if self.narrowed is None:
            return self.weight.index_select(0, product.columns)
        columns, weight = self.narrowed
        if len(columns) == len(product.columns):
            return weight
        return weight.index_select(0, torch.searchsorted(columns, product.columns))


class Head(nn.Module):
    """The output layer: a linear map to which each new class adds a column."""

    bias: Tensor

    def __init__(self, inputs: int, *, bias: bool = True):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, 0))
        give_bias(self, torch.empty(0), trained=bias)

    @property
    def n_classes(self) -> int:
        return len(self.bias)

    def grow(self, count: int, generator: torch.Generator) -> None:
        """Append `count` classes; the other columns stay the same."""
        inputs = self.weight.shape[0]
        bound = 1 / math.sqrt(inputs)
        fresh = torch.empty(inputs, count).uniform_(-bound, bound, generator=generator)
        self.weight = nn.Parameter(torch.cat([self.weight.detach(), fresh.to(self.weight.device)], dim=1))
        longer = torch.cat([self.bias.detach(), self.bias.new_zeros(count)])
        give_bias(self, longer, trained=isinstance(self.bias, nn.Parameter))

    def forward(self, x: Tensor) -> Tensor:
        return narrow_product(x, self.weight) + self.bias
