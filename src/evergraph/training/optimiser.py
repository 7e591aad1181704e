"""Adam (Kingma and Ba, 2015) with L2 weight decay."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8
"""The usual constants, which the paper keeps."""


class Adam:
    """torch's fused Adam step, bit for bit, without the bookkeeping of torch.optim around it."""

    def __init__(self, parameters: Sequence[nn.Parameter], *, lr: float, weight_decay: float):
        self.parameters = list(parameters)
        self.lr, self.weight_decay = lr, weight_decay
        self._means = [torch.zeros_like(p, requires_grad=False) for p in self.parameters]
        self._squares = [torch.zeros_like(p, requires_grad=False) for p in self.parameters]
        self._steps = [torch.zeros((), device=p.device) for p in self.parameters]

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """One step of every parameter that has a gradient."""
        having = [
            (p.detach(), p.grad, mean, square, step)
            for p, mean, square, step in zip(self.parameters, self._means, self._squares, self._steps, strict=True)
            if p.grad is not None
        ]
        if not having:
            return
        parameters, gradients, means, squares, steps = (list(column) for column in zip(*having, strict=True))
        torch._foreach_add_(steps, 1)
        no_maxima: list[Tensor] = []
        torch._fused_adam_(
            parameters,
            gradients,
            means,
            squares,
            no_maxima,
            steps,
            lr=self.lr,
            beta1=BETA1,
            beta2=BETA2,
            weight_decay=self.weight_decay,
            eps=EPS,
            amsgrad=False,
            maximize=False,
        )
