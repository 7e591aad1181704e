"""The optimiser loop and its batches."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Annotated, Protocol

import torch
from pydantic import Field, field_validator
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from evergraph.backbones import ModelInput
from evergraph.backbones.dropout import Dropout
from evergraph.config import Settings
from evergraph.errors import ConvergenceError
from evergraph.training.batching import AUTO, FULL, BatchSetting
from evergraph.training.narrowing import narrow
from evergraph.training.optimiser import Adam

SMALL = 512
"""Up to this many nodes a second thread slows an epoch down (measured on the digits)."""

MIN_GRADIENT = 1e-20
"""Smaller derivatives of a loss cannot change a weight, since Adam compares them with 1e-8. Nodes classified with
near certainty have them; their products are subnormal float32 numbers, which make matrix products many times slower
(noticeable with a GIN or an unnormalised GCN)."""


class ClassLosses(Enum):
    """How the mean losses of a batch's classes are combined.

    With MEAN, as in the field's public benchmark for ER-GNN, the weight of a replay batch does not grow with its
    number of classes.
    """

    SUM = "sum"
    MEAN = "mean"


Fanout = Annotated[int, Field(ge=1)]


class TrainConfig(Settings):
    """The optimiser's settings; the defaults are the paper's."""

    epochs: int = Field(200, ge=1)
    """Passes over the training nodes of each task."""
    lr: float = Field(0.005, gt=0)
    """Learning rate of Adam."""
    weight_decay: float = Field(5e-4, ge=0)
    """Added to the gradient: this times the parameters."""
    class_losses: ClassLosses = ClassLosses.SUM
    """How the mean losses of a batch's classes are combined."""
    device: str = "cpu"
    """Where torch computes, such as cpu or cuda:0."""
    threads: int = Field(0, ge=0, le=1024)
    """Threads of torch; 0 uses every core."""
    batch: BatchSetting = AUTO
    """All training nodes in every step (full), so many of them in a step with a sample of their neighbours, or
    (auto) full where that fits into the budget of memory, else sampled."""
    fanout: tuple[Fanout, Fanout] = (15, 10)
    """Sampled neighbours of a node in the loss, and of each of those."""

    @field_validator("batch", mode="before")
    @classmethod
    def _a_way_to_batch(cls, value: object) -> object:
        if value in (AUTO, FULL) or (type(value) is int and value >= 1):
            return value
        raise ValueError(f"auto, full or a number of nodes from 1 is wanted, got {value!r} instead")

    @field_validator("fanout", mode="before")
    @classmethod
    def _two_numbers(cls, value: object) -> object:
        if isinstance(value, list | tuple) and len(value) == 2 and all(type(n) is int and n >= 1 for n in value):
            return value
        raise ValueError(f"two numbers of neighbours from 1, such as [15, 10], are wanted, got {value!r} instead")

    @field_validator("device")
    @classmethod
    def _device_exists(cls, value: str) -> str:
        try:
            torch.ones(1, device=value).item()
        except (RuntimeError, AssertionError, NotImplementedError):
            raise ValueError(f"a device that torch can use here is wanted, got {value!r} instead") from None
        return value


class ExtraLoss(Protocol):
    """A mean over nodes of something that depends on their logits; at: which of the nodes, None for all."""

    def __call__(self, logits: Tensor, at: Tensor | None = None) -> Tensor: ...


@dataclass(frozen=True)
class Batch:
    """The nodes of a loss: the rows of `input`, with labels (rows,) int64 and weights (rows,).

    allowed: (rows, classes) bool, the classes that compete; None for all. extra: a further loss of these logits.
    offset: (classes,), added to the logits of every row in its cross-entropy.
    """

    input: ModelInput
    labels: Tensor
    weights: Tensor
    allowed: Tensor | None = None
    extra: ExtraLoss | None = None
    offset: Tensor | None = None


def node_losses(logits: Tensor, labels: Tensor, allowed: Tensor | None) -> Tensor:
    """Cross-entropy of each node over its allowed classes: (rows,)."""
    if allowed is not None:
        logits = logits.masked_fill(~allowed, -math.inf)
    return cross_entropy(logits, labels, reduction="none")


def zero_tiny_gradients(gradient: Tensor) -> Tensor:
    """A gradient with its entries below MIN_GRADIENT set to zero."""
    return gradient.masked_fill(gradient.abs() < MIN_GRADIENT, 0.0)


def batch_loss(model: nn.Module, batch: Batch) -> Tensor:
    """Weighted sum of the node losses of a batch, plus its extra loss."""
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
    steps: Callable[[], Iterable[Sequence[Batch]]] | None = None,
) -> None:
    """Minimise the batches' losses plus the penalty; `adjust` may change the gradients before each step.

    `gradient_weight` adds that multiple of ‖∇L‖₁, L the batches' loss. With `whole` all parameters are up to date
    after every epoch, for an `on_epoch` that reads them. An epoch is one step on all `batches`, or where `steps` is
    given a step on each of the batches that it makes anew; its loss is then the mean of theirs.
    """
    give_generator(model, generator)
    model.train()
    # A penalty or an adjustment uses the whole weight, so only a plain loss can be narrowed.
    plain = penalty is None and adjust is None and not gradient_weight and not whole and steps is None
    narrowing = narrow(model, [batch.input for batch in batches]) if plain else None
    adam = partial(Adam, lr=config.lr, weight_decay=config.weight_decay)
    optimiser = adam(narrowing.parameters if narrowing else list(model.parameters()))
    for epoch in range(config.epochs):
        losses = []
        for parts in [batches] if steps is None else steps():
            optimiser.zero_grad()
            loss = sum((batch_loss(model, batch) for batch in parts[1:]), batch_loss(model, parts[0]))
            if gradient_weight:
                slopes = torch.autograd.grad(loss, list(model.parameters()), create_graph=True, allow_unused=True)
                sizes = [slope.abs().sum() for slope in slopes if slope is not None]
                loss = loss + gradient_weight * torch.stack(sizes).sum()
            if penalty is not None:
                loss = loss + penalty()
            loss.backward()  # type: ignore[no-untyped-call]
            if adjust is not None:
                adjust()
            optimiser.step()
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                raise ConvergenceError(
                    f"the loss must stay finite, got {losses[-1]} in epoch {epoch + 1} instead; "
                    "lower train.lr or choose another stream.preprocessing"
                )
        if on_epoch is not None:
            on_epoch(epoch + 1, sum(losses) / len(losses))
    if narrowing is not None:
        narrowing.undo(adam, config.epochs)
    model.eval()


@contextmanager
def threads_for(batches: Sequence[Batch]) -> Iterator[None]:
    """One thread while all batches are small: their products end before a second thread has started."""
    before = torch.get_num_threads()
    if all(len(batch.input.graph.frontier[1]) <= SMALL for batch in batches):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def give_generator(model: nn.Module, generator: torch.Generator) -> None:
    """Let every dropout draw from `generator`."""
    for module in model.modules():
        if isinstance(module, Dropout):
            module.generator = generator
