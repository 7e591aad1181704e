"""Adam (Kingma and Ba, 2015) with L2 weight decay.

torch's functional Adam is used instead of torch.optim.Adam: the bits are the same, but making a torch.optim.Adam
imports torch's compiler, which takes seconds in every new process (benchmarks/startup.py).
"""

from collections.abc import Sequence

import torch
from torch import nn
from torch.optim.adam import adam


class Adam:
    """One state for each parameter: the running means of its gradient and of its square, and the steps so far."""

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
        """One step of every parameter that has a gradient, with the usual constants, which the paper keeps."""
        having = [at for at, parameter in enumerate(self.parameters) if parameter.grad is not None]
        if not having:
            return
        adam(
            [self.parameters[at].detach() for at in having],
            [gradient for at in having if (gradient := self.parameters[at].grad) is not None],
            [self._means[at] for at in having],
            [self._squares[at] for at in having],
            [],
            [self._steps[at] for at in having],
            lr=self.lr,
            beta1=0.9,
            beta2=0.999,
            eps=1e-8,
            weight_decay=self.weight_decay,
            amsgrad=False,
            maximize=False,
            fused=True,
        )
