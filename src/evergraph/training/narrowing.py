"""Training only the rows of the first weight whose features occur, with exactly the result of training all rows.

The other rows get no gradient from the loss; only weight decay changes them, element by element. So the epochs
leave them out, and at the end the same optimiser does as many steps on them.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from evergraph.backbones import ModelInput
from evergraph.backbones.input_product import NARROW_BELOW
from evergraph.backbones.layers import InputLinear
from evergraph.training.optimiser import Adam


class Narrowing:
    """A model whose first weight is narrowed to `columns`; `parameters` are those to train instead."""

    def __init__(self, model: nn.Module, layer: InputLinear, columns: Tensor):
        self.layer = layer
        self.columns = columns
        self.kept = nn.Parameter(layer.weight.detach().index_select(0, columns))
        self.parameters = [self.kept, *(p for p in model.parameters() if p is not layer.weight)]
        layer.narrowed = (columns, self.kept)

    def undo(self, optimiser: Callable[[list[nn.Parameter]], Adam], steps: int) -> None:
        """Restore the whole weight: the trained rows, and the others after `steps` steps without a gradient."""
        weight = self.layer.weight.detach()
        left_out = torch.ones(len(weight), dtype=torch.bool, device=weight.device)
        left_out[self.columns] = False
        rows = left_out.nonzero().squeeze(1)
        rest = nn.Parameter(weight[rows])
        rest.grad = torch.zeros_like(rest)
        without_gradient = optimiser([rest])
        for _ in range(steps):
            without_gradient.step()
        weight[rows] = rest.detach()
        weight[self.columns] = self.kept.detach()
        self.layer.narrowed = None


def occurring_features(model: nn.Module, inputs: Sequence[ModelInput]) -> tuple[InputLinear, list[Tensor]] | None:
    """The layer of the features, and the features that occur in each input, if all inputs are sparse."""
    layer, input_product = getattr(model, "first", None), getattr(model, "input_product", None)
    if not isinstance(layer, InputLinear) or input_product is None:
        return None
    found = [input_product(entry.x).columns for entry in inputs]
    return None if any(columns is None for columns in found) else (layer, found)


def narrow(model: nn.Module, inputs: Sequence[ModelInput]) -> Narrowing | None:
    """Narrow the first weight of a backbone with an `input_product`, if that is sparse and few features occur."""
    found = occurring_features(model, inputs)
    if found is None:
        return None
    layer, occurring = found
    columns = torch.unique(torch.cat(occurring))
    return Narrowing(model, layer, columns) if len(columns) <= NARROW_BELOW * len(layer.weight) else None
