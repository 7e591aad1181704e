"""Norms of sums of outer products, the gradients of a linear layer that sees several nodes."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from evergraph.backbones.message import InputProduct
from evergraph.backbones.products import Pattern, SparseMatrix
from evergraph.scores.grand.losses import row_squares
from evergraph.scores.grand.neighbourhoods import Neighbourhoods, neighbourhoods

NARROW = 16
"""Fewer columns than these save no memory worth the time."""


class Messages(NamedTuple):
    """What goes back to a linear layer from b nodes, each through d others: weight (b, d) times vector (b, d, f).

    nodes: (b, d), the row of the layer's inputs that each of them stands for.
    """

    nodes: Tensor
    weight: Tensor
    vector: Tensor


def layer_squares(
    pattern: Pattern,
    inputs: Iterable[Tensor],
    messages: Callable[[Neighbourhoods], Messages],
    outputs: int,
    memory: int,
) -> Tensor:
    """‖Σ_u p_u ⊗ w_iu t_iu‖² for each row i of the pattern: (rows,).

    inputs: blocks of columns of p, each (nodes, features); messages: w and t of some rows; outputs: length of t.
    """
    squares = torch.zeros(pattern.shape[0], device=pattern.device)
    for block in inputs:
        for hoods in neighbourhoods(pattern, block.shape[1] + 2 * outputs, memory):
            squares[hoods.rows] += outer_squares(block, messages(hoods), memory)
    return squares


def outer_squares(inputs: Tensor, sent: Messages, memory: int) -> Tensor:
    """‖Σ_u w_u p_u ⊗ t_u‖², through Σ_uv w_u w_v (p_u·p_v)(t_u·t_v) or through the sum itself: (b,).

    Whichever needs fewer operations: the first d² for each column of p and t, the second d for each pair of them.
    """
    rows, count, outputs = sent.vector.shape
    width = inputs.shape[1]
    if count * (width + outputs) <= width * outputs:
        p = gathered(inputs, sent.nodes)
        products = torch.bmm(p, p.mT).mul_(torch.bmm(sent.vector, sent.vector.mT))
        return (torch.bmm(products, sent.weight[:, :, None]).squeeze(2) * sent.weight).sum(dim=1)
    weighted = sent.vector.mul_(sent.weight[:, :, None])
    parts = range(0, count, max(1, memory // (4 * rows * width)))
    total = inputs.new_empty(rows, outputs, width)
    for start in parts:
        part = slice(start, start + parts.step)
        total.baddbmm_(weighted[:, part].mT, gathered(inputs, sent.nodes[:, part]), beta=float(start > 0))
    return row_squares(total.flatten(1))


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
    by_column = _scipy(last).tocsc()
    for start in starts:
        block = torch.as_tensor(by_column[:, start : start + step].toarray(), device=last.pattern.device)
        for factor in reversed(factors):
            block = factor @ block
        yield block


def with_bias(blocks: Iterable[Tensor]) -> Iterator[Tensor]:
    """A layer's inputs with one more feature that is always 1: its weight is the layer's bias."""
    for number, block in enumerate(blocks):
        yield block if number else torch.cat([block, block.new_ones(len(block), 1)], dim=1)


def _scipy(matrix: SparseMatrix) -> sparse.csr_array:
    values, col, crow = (x.cpu().numpy() for x in (matrix.values, matrix.pattern.col, matrix.pattern.crow))
    return sparse.csr_array((values.astype(np.float32), col, crow), shape=matrix.shape)
