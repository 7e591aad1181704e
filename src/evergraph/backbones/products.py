"""Differentiable products with sparse matrices of a fixed pattern.

Forward and backward are CSR products and sampled dense-dense products. Each pattern keeps its transpose, because
CSR times dense is an order of magnitude faster on a CPU than gather and scatter.
"""

import warnings
from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

WIDE = 32
"""From this many dense columns on, embedding bags are up to twice as fast as torch's sparse product (measured)."""


@cache
def _first_csr_tensor() -> None:
    """Trigger, and suppress, the warning that torch gives once in a process: that CSR tensors are in beta."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        pointers = torch.zeros(1, dtype=torch.int32)
        torch.sparse_csr_tensor(pointers, pointers[:0], torch.empty(0), size=(0, 0), check_invariants=False)


def csr_tensor(crow: Tensor, col: Tensor, values: Tensor, size: tuple[int, int]) -> Tensor:
    """A CSR tensor, valid by construction, so not checked by torch."""
    _first_csr_tensor()
    return torch.sparse_csr_tensor(crow, col, values, size=size, check_invariants=False)


class Pattern:
    """The positions of the entries of a sparse matrix (rows, columns), in CSR order, on one device."""

    def __init__(self, indptr: NDArray[Any], indices: NDArray[Any], shape: tuple[int, int], device: torch.device):
        self.shape = shape
        self.device = device
        self.crow = torch.as_tensor(indptr.astype(np.int32), device=device)
        self.col = torch.as_tensor(indices.astype(np.int32), device=device)
        self._indptr = indptr

    @property
    def n_entries(self) -> int:
        return len(self.col)

    @cached_property
    def row(self) -> Tensor:
        """The row of each entry."""
        counts = np.diff(self._indptr)
        return torch.as_tensor(np.repeat(np.arange(self.shape[0], dtype=np.int32), counts), device=self.device)

    @cached_property
    def transposed(self) -> tuple["Pattern", Tensor]:
        """The transposed pattern, and for each of its entries the position in this one."""
        positions = (np.arange(self.n_entries), self.col.cpu().numpy(), self._indptr)
        flipped = sparse.csr_array(sparse.csr_array(positions, shape=self.shape).T)
        pattern = Pattern(flipped.indptr, flipped.indices, flipped.shape, self.device)
        return pattern, torch.as_tensor(flipped.data.astype(np.int64), device=self.device)

    def matrix(self, values: Tensor) -> Tensor:
        """The CSR tensor with these values."""
        return csr_tensor(self.crow, self.col, values, self.shape)

    @cached_property
    def _row_incidence(self) -> Tensor:
        return _incidence(self.crow, torch.arange(self.n_entries, device=self.device))

    @cached_property
    def _column_incidence(self) -> Tensor:
        pattern, positions = self.transposed
        return _incidence(pattern.crow, positions)

    def row_sum(self, values: Tensor) -> Tensor:
        """Sum of entry values (entries, k) over each row: (rows, k)."""
        return _SegmentSum.apply(values, self._row_incidence, self.row)  # type: ignore[no-any-return,no-untyped-call]

    def row_total(self, values: Tensor) -> Tensor:
        """Sum of one value for each entry over each row, without gradient: (rows,)."""
        return self._row_incidence @ values

    def column_total(self, values: Tensor) -> Tensor:
        """Sum of one value for each entry over each column, without gradient: (columns,)."""
        return self._column_incidence @ values

    def row_max(self, values: Tensor) -> Tensor:
        """Largest entry value (entries, k) of each row, without gradient: (rows, k); -inf for an empty row."""
        offsets = self.crow.long()
        return torch.segment_reduce(values.detach(), "max", offsets=offsets, axis=0, initial=-float("inf"))

    def of_row(self, values: Tensor) -> Tensor:
        """Row values (rows, k) copied to each entry of the row: (entries, k)."""
        return _Spread.apply(values, self.row, self._row_incidence)  # type: ignore[no-any-return,no-untyped-call]

    def of_column(self, values: Tensor) -> Tensor:
        """Column values (columns, k) copied to each entry of the column: (entries, k)."""
        return _Spread.apply(values, self.col, self._column_incidence)  # type: ignore[no-any-return,no-untyped-call]


def _incidence(crow: Tensor, columns: Tensor) -> Tensor:
    ones = torch.ones(len(columns), device=crow.device)
    return csr_tensor(crow, columns.int(), ones, (len(crow) - 1, len(columns)))


class SparseMatrix:
    """A sparse matrix with fixed values; `matrix @ dense` is differentiable in the dense factor."""

    def __init__(self, pattern: Pattern, values: Tensor):
        self.pattern = pattern
        self.values = values

    @classmethod
    def of(cls, matrix: sparse.csr_array, device: torch.device) -> "SparseMatrix":
        pattern = Pattern(matrix.indptr, matrix.indices, matrix.shape, device)
        return cls(pattern, torch.as_tensor(matrix.data.astype(np.float32), device=device))

    @property
    def shape(self) -> tuple[int, int]:
        return self.pattern.shape

    @cached_property
    def tensor(self) -> Tensor:
        return self.pattern.matrix(self.values)

    @cached_property
    def transposed(self) -> Tensor:
        pattern, positions = self.pattern.transposed
        return pattern.matrix(self.values[positions])

    def __matmul__(self, dense: Tensor) -> Tensor:
        return _ConstantProduct.apply(dense, False, self)  # type: ignore[no-any-return,no-untyped-call]


def weighted_product(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    """The matrix with this pattern and these values times `dense` (columns, k), differentiable in both."""
    return _WeightedProduct.apply(values, dense, pattern)  # type: ignore[no-any-return,no-untyped-call]


def sampled_product(pattern: Pattern, left: Tensor, right: Tensor) -> Tensor:
    """left_i · right_j for each entry (i, j) of (rows, k) and (columns, k), differentiable in both: (entries,)."""
    return _SampledProduct.apply(left, right, pattern)  # type: ignore[no-any-return,no-untyped-call]


def csr_product(matrix: Tensor, dense: Tensor) -> Tensor:
    """A CSR tensor times a dense one; a wide one on a CPU by the kernel of embedding bags, which sums rows."""
    if not (dense.is_cpu and dense.dtype == torch.float32 and dense.shape[1] >= WIDE):
        return matrix @ dense
    columns, rows, values = matrix.col_indices(), matrix.crow_indices(), matrix.values()
    return torch.embedding_bag(dense, columns, rows, per_sample_weights=values, include_last_offset=True)[0]


def chain_product(factors: Sequence[SparseMatrix], dense: Tensor) -> Tensor:
    """The product of several sparse matrices and `dense`, from right to left, differentiable in `dense`."""
    return _ConstantProduct.apply(dense, False, *factors)  # type: ignore[no-any-return,no-untyped-call]


# The gradients below are built from the same functions, so that they can be differentiated again.


def _multiply(factors: Sequence[SparseMatrix], dense: Tensor, transposed: bool) -> Tensor:
    """The product of the factors, or its transposed, and `dense`."""
    for factor in factors if transposed else reversed(factors):
        dense = csr_product(factor.transposed if transposed else factor.tensor, dense)
    return dense


class _ConstantProduct(torch.autograd.Function):
    """The product of the factors and `dense`, or of the transposed product of the factors and `dense`."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, transposed: bool, *factors: SparseMatrix) -> Tensor:
        ctx.transposed, ctx.factors = transposed, factors
        return _multiply(factors, dense, transposed)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        dense, transposed = grads[0].contiguous(), not ctx.transposed
        # Through autograd only if the gradient is differentiated again: it costs as much as a small product.
        if torch.is_grad_enabled():
            grad = _ConstantProduct.apply(dense, transposed, *ctx.factors)  # type: ignore[no-untyped-call]
        else:
            grad = _multiply(ctx.factors, dense, transposed)
        return grad, None, *(None for _ in ctx.factors)


def _transposed_product(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    flipped, positions = pattern.transposed
    return weighted_product(flipped, values.index_select(0, positions), dense)


class _WeightedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, dense: Tensor, pattern: Pattern) -> Tensor:
        ctx.save_for_backward(values, dense)
        ctx.pattern = pattern
        return csr_product(pattern.matrix(values), dense)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        (values, dense), needed, grad = ctx.saved_tensors, ctx.needs_input_grad, grads[0].contiguous()
        for_values = sampled_product(ctx.pattern, grad, dense) if needed[0] else None
        for_dense = _transposed_product(ctx.pattern, values, grad) if needed[1] else None
        return for_values, for_dense, None


class _SampledProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, pattern: Pattern) -> Tensor:
        ctx.save_for_backward(left, right)
        ctx.pattern = pattern
        empty = pattern.matrix(left.new_zeros(pattern.n_entries))
        products: Tensor = torch.sparse.sampled_addmm(empty, left, right.t(), beta=0.0)
        return products.values()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        (left, right), needed, grad = ctx.saved_tensors, ctx.needs_input_grad, grads[0].contiguous()
        for_left = weighted_product(ctx.pattern, grad, right) if needed[0] else None
        for_right = _transposed_product(ctx.pattern, grad, left) if needed[1] else None
        return for_left, for_right, None


class _SegmentSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, incidence: Tensor, segment: Tensor) -> Tensor:
        ctx.incidence, ctx.segment = incidence, segment
        return csr_product(incidence, values)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return _Spread.apply(grads[0], ctx.segment, ctx.incidence), None, None  # type: ignore[no-untyped-call]


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, segment: Tensor, incidence: Tensor) -> Tensor:
        ctx.incidence, ctx.segment = incidence, segment
        return values.index_select(0, segment)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return _SegmentSum.apply(grads[0].contiguous(), ctx.incidence, ctx.segment), None, None  # type: ignore[no-untyped-call]
