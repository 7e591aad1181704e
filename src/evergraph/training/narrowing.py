"""Training only the rows of the first weight whose features occur, with exactly the result of training all of them.

Of thousands of sparse features a task has a few hundred or thousand. The other rows of the first weight get no
gradient from the loss; only weight decay moves them, each element for itself. So an epoch can leave them out, and
their decay is caught up with at the end by the same optimiser with as many steps.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from evergraph.backbones import ModelInput
from evergraph.backbones.input_product import NARROW_BELOW
from evergraph.backbones.layers import InputLinear
from evergraph.training.optimiser import Adam


class Narrowing:
    """A model whose first weight is narrowed to `columns`; `parameters` are what is to be trained meanwhile."""

    def __init__(self, model: nn.Module, layer: InputLinear, columns: Tensor):
        self.layer = layer
        self.columns = columns
        self.kept = nn.Parameter(layer.weight.detach().index_select(0, columns))
        self.parameters = [self.kept, *(p for p in model.parameters() if p is not layer.weight)]
        layer.narrowed = (columns, self.kept)

    def undo(self, optimiser: Callable[[nn.Parameter], Adam], steps: int) -> None:
        """Give the layer its whole weight back: the trained rows, and the others as `steps` steps leave them."""
        weight = self.layer.weight.detach()
        left_out = torch.ones(len(weight), dtype=torch.bool, device=weight.device)
        left_out[self.columns] = False
        rows = left_out.nonzero().squeeze(1)
        rest = nn.Parameter(weight[rows])
        rest.grad = torch.zeros_like(rest)
        without_gradient = optimiser(rest)
        for _ in range(steps):
            without_gradient.step()
        weight[rows] = rest.detach()
        weight[self.columns] = self.kept.detach()
        self.layer.narrowed = None


def occurring_features(model: nn.Module, inputs: Sequence[ModelInput]) -> tuple[InputLinear, list[Tensor]] | None:
    """The layer that meets the features, and those that occur in each input, where all inputs are sparse."""
    layer, meets = getattr(model, "first", None), getattr(model, "input_product", None)
    if not isinstance(layer, InputLinear) or meets is None:
        return None
    found = [meets(entry.x).columns for entry in inputs]
    return None if any(columns is None for columns in found) else (layer, found)


def narrow(model: nn.Module, inputs: Sequence[ModelInput]) -> Narrowing | None:
    """Narrow the first weight of a backbone with an `input_product`, if that is sparse and few features occur."""
    found = occurring_features(model, inputs)
    if found is None:
        return None
    layer, occurring = found
    columns = torch.unique(torch.cat(occurring))
    return Narrowing(model, layer, columns) if len(columns) <= NARROW_BELOW * len(layer.weight) else None
