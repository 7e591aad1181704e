"""The gradient of each node's loss at its logits, where every closed form starts."""

from collections.abc import Callable

import torch
from torch import Tensor

from evergraph.training.loop import node_losses

LossGradient = Callable[[Tensor], tuple[Tensor, Tensor]]
"""From logits (rows, classes) to the gradient of each row's own loss there, as unit gradient and scale."""


def loss_gradient(labels: Tensor, allowed: Tensor | None) -> LossGradient:
    """softmax(logits_i) - onehot(y_i) over the classes allowed, with the rounding of a backward pass.

    It comes divided by its largest element (rows, classes), and that element (rows,): norms are proportional to it,
    and the square of what a node that is learned well leaves would be zero in float32.
    """

    def at(logits: Tensor) -> tuple[Tensor, Tensor]:
        with torch.enable_grad():
            point = logits.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(node_losses(point, labels, allowed).sum(), point)
        scale = gradient.abs().amax(dim=1)
        return gradient / torch.where(scale > 0, scale, 1)[:, None], scale

    return at


def row_squares(values: Tensor) -> Tensor:
    """‖x_i‖² of each row: (rows,)."""
    norms: Tensor = torch.linalg.vector_norm(values, dim=1)
    return norms.square()
