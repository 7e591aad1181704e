"""Neighbourhoods of many nodes as rectangular arrays, grouped by similar degree and padded."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from evergraph.backbones.products import Pattern

CACHED = 12 << 20
"""Arrays of about this many bytes stay in the processor's cache; larger ones gain nothing (measured)."""
PADDING = 1.15
"""The largest neighbourhood of a chunk has at most this many times the nodes of the smallest, or two more."""


class Neighbourhoods(NamedTuple):
    """Some rows of a pattern, each with its entries side by side.

    rows: (b,); entries: (b, d), the position of each entry in the pattern; nodes: (b, d), its column;
    inside: (b, d), 1 for an entry and 0 for padding.
    """

    rows: Tensor
    entries: Tensor
    nodes: Tensor
    inside: Tensor


def neighbourhoods(pattern: Pattern, width: int, memory: int) -> Iterator[Neighbourhoods]:
    """All rows of a pattern in chunks of one row, or of at most `memory` bytes with `width` floats an entry."""
    crow, col = pattern.crow.long(), pattern.col.long()
    counts = crow.diff()
    order = torch.argsort(counts, stable=True)
    sizes = counts[order].cpu().numpy()
    limit = min(memory, CACHED) // (4 * width)
    start = 0
    while start < len(sizes):
        similar = np.searchsorted(sizes, max(sizes[start] * PADDING, sizes[start] + 2), side="right")
        stop = int(min(similar, start + max(1, limit // max(1, sizes[similar - 1]))))
        rows = order[start:stop]
        places = torch.arange(int(sizes[stop - 1]), device=pattern.device)
        inside = places < counts[rows, None]
        entries = torch.where(inside, crow[rows, None] + places, 0)
        yield Neighbourhoods(rows, entries, col[entries], inside.float())
        start = stop
