"""GraNd, exactly: the norm of the gradient of each node's own loss, without a backward pass for each node."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from evergraph.backbones.gat import GAT
from evergraph.backbones.gcn import GCN
from evergraph.backbones.gin import GIN
from evergraph.backbones.message import ModelInput
from evergraph.scores.grand.fallback import autograd_norms
from evergraph.scores.grand.gat import gat_norms
from evergraph.scores.grand.gcn import gcn_norms
from evergraph.scores.grand.gin import gin_norms
from evergraph.scores.grand.losses import LossGradient, loss_gradient

__all__ = ["CLOSED_FORMS", "absolute_gradients", "grand_norms"]

ClosedForm = Callable[[Any, ModelInput, LossGradient, int], Tensor]
"""(model, inputs, loss gradient, memory) to the norms, (rows,)."""

CLOSED_FORMS: dict[type[nn.Module], ClosedForm] = {GCN: gcn_norms, GIN: gin_norms, GAT: gat_norms}
"""Closed forms by exact class; any other class, also a derived one, uses backward passes."""

LOG = logging.getLogger(__name__)
_NOTICED: set[type[nn.Module]] = set()


def _notice(backbone: type[nn.Module]) -> None:
    """Report once for each class that its norms take longer."""
    if backbone not in _NOTICED:
        _NOTICED.add(backbone)
        LOG.warning(
            "%s has no closed form for gradient norms; backward passes give the same, slower", backbone.__name__
        )


def grand_norms(
    model: nn.Module, inputs: ModelInput, labels: Tensor, allowed: Tensor | None = None, *, memory: int = 256 << 20
) -> Tensor:
    """‖∇_θ l_i‖₂ over all parameters, for the cross-entropy l_i of each row of `inputs` alone: (rows,).

    labels: (rows,); allowed: (rows, classes) bool, the classes that a node competes with, all if None. Computed in
    evaluation mode, in chunks of at least one node that take about `memory` bytes beside a forward pass.
    """
    with _evaluation(model):
        closed = CLOSED_FORMS.get(type(model))
        if closed is None:
            _notice(type(model))
            return autograd_norms(model, inputs, labels, allowed, memory)
        with torch.no_grad():
            return closed(model, inputs, loss_gradient(labels, allowed), memory)


def absolute_gradients(
    model: nn.Module, inputs: ModelInput, labels: Tensor, allowed: Tensor | None = None, *, memory: int = 256 << 20
) -> Tensor:
    """‖∇_θ l_i‖₁ in the place of ‖∇_θ l_i‖₂: (rows,); a closed form for a GCN, else backward passes."""
    with _evaluation(model):
        if type(model) is not GCN:
            return autograd_norms(model, inputs, labels, allowed, memory, absolute=True)
        with torch.no_grad():
            return gcn_norms(model, inputs, loss_gradient(labels, allowed), memory, absolute=True)


@contextmanager
def _evaluation(model: nn.Module) -> Iterator[None]:
    """Evaluation mode; afterwards each module returns to its mode."""
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode
