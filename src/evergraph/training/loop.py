"""The one optimiser loop, and the batches it is given."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum

import torch
from pydantic import Field, field_validator
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from evergraph.backbones import ModelInput
from evergraph.backbones.layers import Dropout
from evergraph.config import Settings
from evergraph.errors import ConvergenceError
from evergraph.training.narrowing import narrow
from evergraph.training.optimiser import Adam

SMALL = 512
"""Nodes up to which a second thread slows an epoch down (measured on the digits)."""

MIN_GRADIENT = 1e-20
"""Smaller derivatives of a loss cannot move a weight, for Adam compares them with 1e-8. Nodes that are classified
without doubt have them; their products fall below the smallest normal number of 32 bits, and a matrix product with
such numbers takes many times as long, so that a GIN or an unnormalised GCN trains markedly slower with them."""


class ClassLosses(Enum):
    """What becomes of the mean losses of a batch's classes: their sum, or their mean.

    With means, as the field's public benchmark has them for ER-GNN, a replay batch of many classes counts no more
    than one of two.
    """

    SUM = "sum"
    MEAN = "mean"


class TrainConfig(Settings):
    """The optimiser's settings; the defaults are the paper's. threads = 0 uses every core."""

    epochs: int = Field(200, ge=1)
    lr: float = Field(0.005, gt=0)
    weight_decay: float = Field(5e-4, ge=0)
    class_losses: ClassLosses = ClassLosses.SUM
    device: str = "cpu"
    threads: int = Field(0, ge=0, le=1024)

    @field_validator("device")
    @classmethod
    def _device_exists(cls, value: str) -> str:
        try:
            torch.ones(1, device=value).item()
        except (RuntimeError, AssertionError, NotImplementedError):
            raise ValueError(f"a device that torch can use here is wanted, got {value!r} instead") from None
        return value


@dataclass(frozen=True)
class Batch:
    """Nodes whose loss counts: one row of `input` each, its label, its weight and the classes it competes with.

    labels: (rows,) int64; weights: (rows,); allowed: (rows, classes) bool, None where all classes compete.
    extra: what the logits of these rows cost besides, added to the loss as it is.
    offset: (classes,), added to the logits of every row in its cross-entropy.
    """

    input: ModelInput
    labels: Tensor
    weights: Tensor
    allowed: Tensor | None = None
    extra: Callable[[Tensor], Tensor] | None = None
    offset: Tensor | None = None


def node_losses(logits: Tensor, labels: Tensor, allowed: Tensor | None) -> Tensor:
    """Cross-entropy of each node over the classes it competes with: (rows,)."""
    if allowed is not None:
        logits = logits.masked_fill(~allowed, -math.inf)
    return cross_entropy(logits, labels, reduction="none")


def zero_tiny_gradients(gradient: Tensor) -> Tensor:
    """A gradient with its entries below MIN_GRADIENT set to zero."""
    return gradient.masked_fill(gradient.abs() < MIN_GRADIENT, 0.0)


def batch_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Weighted sum of the node losses of a batch, and what its logits cost besides."""
    logits = model(*batch.input)
    if logits.requires_grad:
        logits.register_hook(zero_tiny_gradients)
    shifted = logits if batch.offset is None else logits + batch.offset
    loss = batch.weights @ node_losses(shifted, batch.labels, batch.allowed)
    return loss if batch.extra is None else loss + batch.extra(logits)


def train(
    model: nn.Module,
    batches: Sequence[Batch],
    config: TrainConfig,
    generator: torch.Generator,
    *,
    penalty: Callable[[], Tensor] | None = None,
    adjust: Callable[[], None] | None = None,
    gradient_weight: float = 0.0,
    on_epoch: Callable[[int, float], None] | None = None,
    whole: bool = False,
) -> None:
    """Minimise the batches' losses plus the penalty; `adjust` may change the gradients before each step.

    `gradient_weight` adds that multiple of ‖∇L‖₁, the sum of the sizes of the derivatives of the batches' loss L.
    With `whole` every parameter is up to date after every epoch, for an `on_epoch` that looks at them.
    """
    give_generator(model, generator)
    model.train()
    # A penalty or an adjustment speaks of the whole weight, so only a plain loss can be narrowed.
    plain = penalty is None and adjust is None and not gradient_weight and not whole
    narrowing = narrow(model, [batch.input for batch in batches]) if plain else None
    optimiser = adam(narrowing.parameters if narrowing else list(model.parameters()), config)
    for epoch in range(config.epochs):
        optimiser.zero_grad()
        loss = sum((batch_loss(model, batch) for batch in batches[1:]), batch_loss(model, batches[0]))
        if gradient_weight:
            parts = torch.autograd.grad(loss, list(model.parameters()), create_graph=True, allow_unused=True)
            sizes = [part.abs().sum() for part in parts if part is not None]
            loss = loss + gradient_weight * torch.stack(sizes).sum()
        if penalty is not None:
            loss = loss + penalty()
        loss.backward()  # type: ignore[no-untyped-call]
        if adjust is not None:
            adjust()
        optimiser.step()
        value = loss.item()
        if not math.isfinite(value):
            raise ConvergenceError(
                f"the loss must stay finite, got {value} in epoch {epoch + 1} instead; "
                "lower train.lr or choose another stream.preprocessing"
            )
        if on_epoch is not None:
            on_epoch(epoch + 1, value)
    if narrowing is not None:
        narrowing.undo(lambda rest: adam([rest], config), config.epochs)
    model.eval()


@contextmanager
def threads_for(batches: Sequence[Batch]) -> Iterator[None]:
    """One thread while all batches are small: their products are over before a second thread has begun."""
    before = torch.get_num_threads()
    if all(len(batch.input.graph.frontier[1]) <= SMALL for batch in batches):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def adam(parameters: list[nn.Parameter], config: TrainConfig) -> Adam:
    """The optimiser with the settings of a configuration."""
    return Adam(parameters, lr=config.lr, weight_decay=config.weight_decay)


def give_generator(model: nn.Module, generator: torch.Generator) -> None:
    """Let every dropout draw from `generator`."""
    for module in model.modules():
        if isinstance(module, Dropout):
            module.generator = generator
