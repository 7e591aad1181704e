import subprocess
import sys

import torch
from torch import nn

from evergraph.training.optimiser import Adam


def parameters() -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    return [nn.Parameter(torch.randn(*size, generator=generator)) for size in ((40, 7), (7,), (3, 3))]


def test_bit_for_bit_the_optimiser_of_torch() -> None:
    ours, theirs = parameters(), parameters()
    our_adam = Adam(ours, lr=0.01, weight_decay=5e-4)
    their_adam = torch.optim.Adam(theirs, lr=0.01, weight_decay=5e-4, fused=True)
    generator = torch.Generator().manual_seed(1)
    for _ in range(20):
        for a, b in zip(ours[:2], theirs[:2], strict=True):  # the third never gets a gradient
            a.grad = torch.randn(a.shape, generator=generator)
            b.grad = a.grad.clone()
        our_adam.step()
        their_adam.step()
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_a_step_does_not_import_the_compiler_of_torch() -> None:
    """That takes seconds in every new process."""
    steps = (
        "import sys, torch; from evergraph.training.optimiser import Adam; "
        "p = torch.nn.Parameter(torch.zeros(2)); adam = Adam([p], lr=0.01, weight_decay=0.0); "
        "p.grad = torch.ones(2); adam.step(); assert p.abs().min() > 0; print('torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", steps], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_zero_grad_forgets_the_gradients() -> None:
    (first, *_) = ours = parameters()
    adam = Adam(ours, lr=0.01, weight_decay=0.0)
    before = first.detach().clone()
    first.grad = torch.ones_like(first)
    adam.zero_grad()
    adam.step()
    assert first.grad is None
    assert torch.equal(first, before)
