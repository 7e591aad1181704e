"""Gradient norms of any module, by backward passes for many nodes at once or, if it allows none, one by one."""

import warnings
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn

from evergraph.backbones.message import ModelInput
from evergraph.training.loop import node_losses


def autograd_norms(
    model: nn.Module,
    inputs: ModelInput,
    labels: Tensor,
    allowed: Tensor | None,
    memory: int,
    *,
    absolute: bool = False,
) -> Tensor:
    """‖∇l_i‖₂, or ‖∇l_i‖₁ where absolute, by automatic differentiation, many nodes at a time: (rows,).

    They are as many as fit into `memory` bytes.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    with torch.enable_grad():
        losses, kept = _counting_bytes(lambda: node_losses(model(*inputs), labels, allowed))
        size = max(1, memory // (kept + sum(parameter.nbytes for parameter in parameters)))
        return torch.cat([losses.new_empty(0), *_chunk_norms(losses, parameters, size, absolute)])


def _counting_bytes(compute: Callable[[], Tensor]) -> tuple[Tensor, int]:
    """A result, and the bytes saved for its backward pass; the gradients of a node take about as many."""
    total = 0

    def pack(tensor: Tensor) -> Tensor:
        nonlocal total
        total += tensor.numel() * tensor.element_size() if tensor.layout is torch.strided else 0
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        return compute(), total


def _chunk_norms(losses: Tensor, parameters: list[nn.Parameter], size: int, absolute: bool) -> Iterator[Tensor]:
    start = 0
    while start < len(losses):
        rows = torch.arange(start, min(start + size, len(losses)), device=losses.device)
        try:
            gradients = _gradients(losses, parameters, rows)
        except RuntimeError:  # an operation whose backward pass cannot be batched
            if len(rows) == 1:
                raise
            size = 1
            continue
        yield _norms([g for g in gradients if g is not None], losses.detach()[rows], absolute)
        start += len(rows)


def _norms(gradients: list[Tensor], like: Tensor, absolute: bool) -> Tensor:
    """The norm over all gradients (count, *shape), in float64, whose squares do not underflow: (count,)."""
    norms = like.new_zeros(len(like), dtype=torch.float64)
    for gradient in gradients:
        flat = gradient.reshape(len(like), -1)
        part = torch.linalg.vector_norm(flat, 1 if absolute else 2, dim=1, dtype=torch.float64)
        norms = norms + part if absolute else torch.hypot(norms, part)
    return norms.to(like.dtype)


def _gradients(losses: Tensor, parameters: list[nn.Parameter], rows: Tensor) -> Sequence[Tensor | None]:
    """The gradient of each row's loss, (rows, *shape) for each parameter that it depends on."""
    if len(rows) == 1:
        alone = torch.autograd.grad(losses[rows[0]], parameters, retain_graph=True, allow_unused=True)
        return [None if gradient is None else gradient[None] for gradient in alone]
    chosen = torch.zeros(len(rows), len(losses), device=losses.device, dtype=losses.dtype)
    chosen[torch.arange(len(rows), device=losses.device), rows] = 1
    with warnings.catch_warnings():  # torch warns of operations that it batches by a loop
        warnings.simplefilter("ignore", UserWarning)
        return torch.autograd.grad(
            losses, parameters, chosen, retain_graph=True, allow_unused=True, is_grads_batched=True
        )
