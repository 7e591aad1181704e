"""Norms of sums of outer products, the gradients of a linear layer with several nodes as inputs."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import torch
from scipy import sparse
from torch import Tensor

from evergraph.backbones.input_product import InputProduct
from evergraph.backbones.products import Pattern
from evergraph.scores.grand.losses import row_squares
from evergraph.scores.grand.neighbourhoods import Neighbourhoods, neighbourhoods

NARROW = 16
"""The smallest width of a block: narrower ones save little memory and take longer."""

Select = Callable[[Tensor, Neighbourhoods, slice], Tensor]
"""From a layer's inputs (nodes, columns) to those of the neighbourhoods, a part of the d: (b, part, columns)."""


def layer_squares(
    pattern: Pattern,
    inputs: Iterable[Tensor],
    select: Select,
    messages: Callable[[Neighbourhoods], Tensor],
    outputs: int,
    memory: int,
    *,
    absolute: bool = False,
) -> Tensor:
    """‖Σ_u p_iu ⊗ t_iu‖² for each row i of the pattern, or the sum of its absolute values: (rows,).

    inputs: blocks of columns, each (nodes, columns), from which `select` takes p; messages: t, (b, d, outputs).
    One of the two must be zero for padding.
    """
    measure = outer_sizes if absolute else outer_squares
    squares = torch.zeros(pattern.shape[0], device=pattern.device)
    for block in inputs:
        for hoods in neighbourhoods(pattern, block.shape[1] + 2 * outputs, memory):
            squares[hoods.rows] += measure(partial(select, block, hoods), block.shape[1], messages(hoods), memory)
    return squares


def outer_squares(p: Callable[[slice], Tensor], width: int, t: Tensor, memory: int) -> Tensor:
    """‖Σ_u p_u ⊗ t_u‖², as Σ_uv (p_u·p_v)(t_u·t_v) or from the sum itself, whichever is cheaper: (b,).

    The first takes d² operations for each column of p and t, the second d for each pair of them.
    p: a part of the d to (b, part, width); t: (b, d, outputs).
    """
    rows, count, outputs = t.shape
    if count * (width + outputs) <= width * outputs:
        every = p(slice(0, count))
        return torch.bmm(every, every.mT).mul_(torch.bmm(t, t.mT)).sum(dim=(1, 2))
    parts = range(0, count, max(1, memory // (4 * rows * width)))
    total = t.new_empty(rows, outputs, width)
    for start in parts:
        part = slice(start, start + parts.step)
        total.baddbmm_(t[:, part].mT, p(part), beta=float(start > 0))
    return row_squares(total.flatten(1))


def outer_sizes(p: Callable[[slice], Tensor], width: int, t: Tensor, memory: int) -> Tensor:
    """Σ |Σ_u p_u ⊗ t_u| over all elements, through the sum itself, some rows at a time: (b,)."""
    every = p(slice(0, t.shape[1]))
    step = max(1, memory // (4 * width * t.shape[2]))
    parts = (slice(start, start + step) for start in range(0, len(t), step))
    return torch.cat([torch.bmm(t[part].mT, every[part]).abs_().sum(dim=(1, 2)) for part in parts])


def gathered(table: Tensor, index: Tensor) -> Tensor:
    """table[index], faster: (b, d, columns)."""
    return table.index_select(0, index.reshape(-1)).view(*index.shape, table.shape[1])


def feature_blocks(product: InputProduct, memory: int) -> Iterator[Tensor]:
    """The matrix of an input product as dense blocks of columns, each of `memory` bytes or of NARROW columns."""
    rows, width = (product.dense if product.dense is not None else product.factors[-1]).shape
    step = max(NARROW, memory // (4 * max(1, rows)))
    starts = range(0, width, step)
    if product.dense is not None:
        yield from (product.dense[:, start : start + step].contiguous() for start in starts)
        return
    *factors, last = product.factors
    values, col, crow = (x.cpu().numpy() for x in (last.values, last.pattern.col, last.pattern.crow))
    by_column = sparse.csr_array((values, col, crow), shape=last.shape).tocsc()
    for start in starts:
        block = torch.as_tensor(by_column[:, start : start + step].toarray(), device=last.pattern.device)
        for factor in reversed(factors):
            block = factor @ block
        yield block


def with_bias(blocks: Iterable[Tensor]) -> Iterator[Tensor]:
    """A layer's inputs with one more feature, always 1, whose weight is the bias."""
    for number, block in enumerate(blocks):
        yield block if number else torch.cat([block, block.new_ones(len(block), 1)], dim=1)
