"""The gradient of each node's loss at its logits, the start of every closed form."""

from collections.abc import Callable

import torch
from torch import Tensor

from evergraph.training.loop import node_losses

LossGradient = Callable[[Tensor], tuple[Tensor, Tensor]]
"""From logits (rows, classes) to the gradient of each row's own loss there, as unit gradient and scale."""


def loss_gradient(labels: Tensor, allowed: Tensor | None) -> LossGradient:
    """softmax(logits_i) - onehot(y_i) over the classes allowed, with the rounding of a backward pass.

    It is returned divided by its largest element, (rows, classes), with that element, (rows,), to which norms are
    proportional: in float32 the square of the gradient of a well-learned node would be zero.
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
