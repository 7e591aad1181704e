"""Mini-batches: training nodes in random order, a batch of them at a time with a sample of their neighbourhood.

The loss of a step is an unbiased estimate of that of all nodes, as far as their neighbourhoods allow: with b of n
nodes it is multiplied by n / b. Batches that are given whole, such as replayed nodes, are in every step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from evergraph.backbones.sampling import Links, local_input
from evergraph.training.batching import Batching
from evergraph.training.loop import Batch, ExtraLoss


@dataclass(frozen=True)
class SampledBatch:
    """Nodes of a loss that are taken some at a time; the tensors are those of a Batch, for all `rows`."""

    links: Links
    rows: NDArray[np.int64]
    batching: Batching
    labels: Tensor
    weights: Tensor
    allowed: Tensor | None = None
    extra: ExtraLoss | None = None
    offset: Tensor | None = None

    def part(self, at: NDArray[np.int64], scale: float, rng: np.random.Generator) -> Batch:
        """The nodes at these positions, their weights times `scale`, with neighbours that `rng` draws."""
        device = self.weights.device
        positions = torch.as_tensor(at, device=device)
        inputs = local_input(self.links, self.rows[at], device, self.batching.fanout, rng)
        extra, share = self.extra, scale * len(at) / len(self.rows)  # of an extra loss, which is a mean
        return Batch(
            inputs,
            self.labels[positions],
            self.weights[positions] * scale,
            None if self.allowed is None else self.allowed[positions],
            extra=None if extra is None else lambda logits, at=None: share * extra(logits, positions),
            offset=self.offset,
        )


NodeBatch: TypeAlias = Batch | SampledBatch


def epoch_steps(batches: Sequence[NodeBatch], rng: np.random.Generator) -> Iterator[list[Batch]]:
    """The batches of each step of an epoch: every sampled node is in one step, whole batches are in all."""
    whole = [batch for batch in batches if isinstance(batch, Batch)]
    sampled = [batch for batch in batches if isinstance(batch, SampledBatch)]
    if not sampled:
        yield whole
        return
    count = sum(len(batch.rows) for batch in sampled)
    for chunk in _chunks(sampled, rng):
        size = sum(len(at) for at in chunk)
        yield [*_parts(sampled, chunk, count / size, rng), *whole]


def pieces(batch: NodeBatch, rng: np.random.Generator) -> Iterator[Batch]:
    """A batch in pieces, whose losses add up to (an estimate of) its loss."""
    if isinstance(batch, Batch):
        yield batch
        return
    for chunk in _chunks([batch], rng):
        yield from _parts([batch], chunk, 1.0, rng)


def _parts(
    sampled: Sequence[SampledBatch],
    chunk: Sequence[NDArray[np.int64]],
    scale: float,
    rng: np.random.Generator,
) -> list[Batch]:
    return [batch.part(at, scale, rng) for batch, at in zip(sampled, chunk, strict=True) if len(at)]


def _chunks(sampled: Sequence[SampledBatch], rng: np.random.Generator) -> Iterator[list[NDArray[np.int64]]]:
    """All nodes in random order in chunks of nearly the same size: the positions in each batch, ascending."""
    ends = np.cumsum([len(batch.rows) for batch in sampled])
    starts = np.concatenate([[0], ends[:-1]])
    order = rng.permutation(int(ends[-1]))
    for chunk in np.array_split(order, -(-len(order) // sampled[0].batching.size)):
        ascending = np.sort(chunk)
        bounds = np.searchsorted(ascending, np.append(starts, ends[-1]))
        yield [ascending[low:high] - start for low, high, start in zip(bounds, bounds[1:], starts, strict=False)]
