"""Grouping of neighbours with the same active units: they get the same gradient, so their inputs are summed first.

After training most nodes share a few patterns of activity: hundreds of neighbours become a few sums, exactly.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from evergraph.backbones.products import Pattern, SparseMatrix, csr_product, csr_tensor
from evergraph.scores.grand.neighbourhoods import Neighbourhoods


class Alike:
    """The entries of an operator (rows, nodes), in each row those of one pattern of activity next to each other.

    pattern: (rows, patterns of activity), with the rows in the order `order`, that of their number of patterns;
    example: a node of each pattern of activity.
    """

    def __init__(self, operator: SparseMatrix, active: Tensor):
        self.device = operator.pattern.device
        codes, example = _codes(active)
        crow, col = (x.cpu().numpy() for x in (operator.pattern.crow, operator.pattern.col))
        shape = (operator.shape[0], len(example))
        entries = sparse.csr_array((np.arange(len(col)), codes[col], crow), shape=shape)
        entries.sort_indices()
        order = np.argsort(np.diff(_starts(entries)[1]), kind="stable")
        entries = entries[order]
        starts, per_row = _starts(entries)
        self.pattern = Pattern(per_row, entries.indices[starts], shape, self.device)
        self.order, self.example, entry, self._starts = (
            torch.as_tensor(x.astype(np.int64), device=self.device)
            for x in (order, example, entries.data, np.append(starts, len(col)))
        )
        self._nodes, self._weights = operator.pattern.col[entry], operator.values[entry]

    def sums(self, block: Tensor, hoods: Neighbourhoods, part: slice) -> Tensor:
        """Σ_u a_iu block_u over the nodes u of each pattern of activity, zero for padding: (b, d, columns).

        hoods: consecutive rows of `pattern`; part: which of the d, all of them if there are several rows.
        """
        rows, crow = hoods.rows[:, None], self.pattern.crow.long()
        places = torch.arange(part.start, min(part.stop, hoods.nodes.shape[1]) + 1, device=self.device)
        begins = self._starts[torch.minimum(crow[rows] + places, crow[rows + 1])]
        pointers = torch.cat([begins[:, :-1].flatten(), begins[-1, -1:]])
        entries = slice(int(pointers[0]), int(pointers[-1]))
        crow, size = (pointers - pointers[0]).int(), (len(pointers) - 1, len(block))
        matrix = csr_tensor(crow, self._nodes[entries], self._weights[entries], size)
        return csr_product(matrix, block).view(len(rows), -1, block.shape[1])

    def unsorted(self, values: Tensor) -> Tensor:
        """Values of the rows of `pattern` as values of the rows of the operator."""
        return torch.empty_like(values).index_copy_(0, self.order, values)


def _codes(active: Tensor) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each pattern of activity (nodes, units), and a node that has it."""
    bits = np.packbits(active.cpu().numpy(), axis=1)
    whole = np.ascontiguousarray(bits).view(f"V{bits.shape[1]}").ravel()
    _, example, codes = np.unique(whole, return_index=True, return_inverse=True)
    return codes.ravel(), example


def _starts(entries: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions in sorted rows where a new column begins, and their number before each row."""
    fresh = np.ones(entries.nnz + 1, dtype=bool)  # one more, where empty rows at the end begin
    fresh[1:-1] = entries.indices[1:] != entries.indices[:-1]
    fresh[entries.indptr] = True
    return np.flatnonzero(fresh[:-1]), np.concatenate([[0], np.cumsum(fresh)])[entries.indptr]
