"""The constant product of graph and features that the first weight meets, in the form whose epochs cost least."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from evergraph.backbones.products import SparseMatrix, chain_product
from evergraph.data.graph import Features

SPARSE_COST = 10.0
"""A multiply-add with an entry of a sparse matrix, in multiply-adds of a dense product.

Measured on one thread of a CPU, there and back, with weights of 256 columns, where a sparse product is done by the
kernel of embedding bags: 4 to 6 with 767 features, whose weight fits into the second cache, 9 to 14 with 2,000 to
10,000; with 64 columns 2 to 9. So from a tenth of entries on, a dense product is the faster one."""
STEP_COST = 45.0
"""Adam's step on a row of the weight, in multiply-adds of a dense product there and back (measured: 35 to 45)."""
GATHER_COST = 70.0
"""Picking a row out of the whole weight and putting its gradient back, in the same unit (measured: 60 to 75)."""
NARROW_BELOW = 0.8
"""Training narrows the first weight to the features that occur when they are at most this share of all."""
MIN_GAIN = 1.5
"""Where the density speaks for the dense form, another is taken if it is estimated to be so many times as fast.

The estimate is rough: for the sparse forms with few features it is up to twice too high, see
benchmarks/first_product.py. And another form rounds otherwise: on the data sets of the results in this repository
the estimated gain is 1.03 at most, so these results stay the same to the last bit."""
DENSE_BYTES = 8 << 30
"""A dense matrix larger than this is not made."""


class Form(Enum):
    """How a constant matrix is kept: dense, as one sparse matrix, or as sparse factors that were not multiplied."""

    DENSE = "dense"
    SPARSE = "sparse"
    FACTORS = "factors"


@dataclass(frozen=True)
class InputSize:
    """A matrix (rows, features) with so many entries, and so many in all of its factors together.

    occurring: the features that have an entry.
    """

    rows: int
    features: int
    entries: float
    factor_entries: int
    occurring: int

    def cost(self, form: Form) -> float:
        """What an epoch costs for each column of the weight, in multiply-adds of a dense product there and back.

        Besides the product this is the optimiser's step, as if this input were trained on alone. A dense matrix
        needs the step on all rows of the weight, a sparse one on those of the features that occur (see
        evergraph.training.narrowing); where these are most of them, it is done on all and the rows are gathered.
        """
        if form is Form.DENSE:
            return self.features * (self.rows + STEP_COST)
        narrowed = self.occurring <= NARROW_BELOW * self.features
        entries = self.entries if form is Form.SPARSE else self.factor_entries
        if narrowed:
            return SPARSE_COST * entries + STEP_COST * self.occurring
        return SPARSE_COST * entries + STEP_COST * self.features + GATHER_COST * self.occurring

    def cheapest(self) -> Form:
        """Above a density of 1 / SPARSE_COST the dense form, unless a sparse one gains MIN_GAIN; else a sparse one.

        Of the two sparse ones it is the one with fewer entries.
        """
        best = Form.SPARSE if self.entries < self.factor_entries else Form.FACTORS
        thin = SPARSE_COST * self.entries <= self.rows * self.features
        if thin or self.rows * self.features * 4 > DENSE_BYTES:
            return best
        return best if MIN_GAIN * self.cost(best) <= self.cost(Form.DENSE) else Form.DENSE


class InputProduct:
    """A constant matrix M (nodes, features) as a product of factors, to be multiplied with the first weight.

    dense: M itself; or sparse factors, of which the last is restricted to `columns`, the features that occur.
    """

    def __init__(self, dense: Tensor | None, factors: list[SparseMatrix], columns: Tensor | None):
        self.dense = dense
        self.factors = factors
        self.columns = columns

    @property
    def form(self) -> Form:
        if self.dense is not None:
            return Form.DENSE
        return Form.SPARSE if len(self.factors) == 1 else Form.FACTORS

    def linear(self, weight: Tensor, bias: Tensor) -> Tensor:
        """M W + b; W has a row for each of `columns` where those are given, else one for each feature."""
        return torch.addmm(bias, self.dense, weight) if self.dense is not None else self.multiply(weight).add_(bias)

    def multiply(self, weight: Tensor) -> Tensor:
        """M W."""
        if self.dense is not None:
            return self.dense @ weight
        return chain_product(self.factors, weight)

    def dropped(self, dropout: Callable[[Tensor], Tensor]) -> "InputProduct":
        """The product of the same pattern with dropout on the values of M; for a single factor only."""
        if self.dense is not None:
            return InputProduct(dropout(self.dense), [], None)
        (factor,) = self.factors
        return InputProduct(None, [factor.with_values(dropout(factor.values))], self.columns)


def propagate(
    features: Features, step: sparse.csr_array, nodes: NDArray[np.int64], device: torch.device
) -> InputProduct:
    """step @ features[nodes] in whichever form makes the products of an epoch cheapest."""
    local: Features = features if len(nodes) == features.shape[0] else features[nodes]
    if isinstance(local, np.ndarray):
        return InputProduct(SparseMatrix.of(step, device) @ torch.as_tensor(local, device=device), [], None)
    form = product_size(step, local).cheapest()
    if form is Form.SPARSE:  # now its entries are known
        return as_input(sparse.csr_array(step @ local), device)
    return product_as(form, step, local, device)


def as_input(matrix: Features, device: torch.device) -> InputProduct:
    """A matrix as an input product, without the features that no node has where it is sparse."""
    if isinstance(matrix, np.ndarray):
        return InputProduct(torch.as_tensor(matrix, device=device), [], None)
    rows, width = matrix.shape
    size = InputSize(rows, width, matrix.nnz, matrix.nnz, _occurring(matrix))
    if size.cheapest() is Form.DENSE:
        return InputProduct(torch.as_tensor(matrix.toarray(), device=device), [], None)
    return _sparse_input(matrix, device)


def product_size(step: sparse.csr_array, features: sparse.csr_array) -> InputSize:
    """The size of step @ features, with the entries estimated from at most 64 of its rows."""
    rows, width = step.shape[0], features.shape[1]
    sample = np.linspace(0, rows - 1, min(64, rows)).astype(np.int64)
    entries = (step[sample] @ features).nnz / max(len(sample), 1)
    return InputSize(rows, width, entries * rows, features.nnz + step.nnz, _occurring(features))


def product_as(
    form: Form, step: sparse.csr_array, features: sparse.csr_array, device: torch.device
) -> InputProduct:
    """step @ features in a given form."""
    if form is Form.DENSE:
        return InputProduct(_dense_product(step, features, device), [], None)
    if form is Form.SPARSE:
        return _sparse_input(sparse.csr_array(step @ features), device)
    last = _sparse_input(features, device)
    return InputProduct(None, [SparseMatrix.of(step, device), *last.factors], last.columns)


def _occurring(matrix: sparse.csr_array) -> int:
    return int(np.count_nonzero(np.bincount(matrix.indices, minlength=matrix.shape[1])))


def _sparse_input(matrix: sparse.csr_array, device: torch.device) -> InputProduct:
    """A sparse matrix without its empty columns."""
    columns, positions = np.unique(matrix.indices, return_inverse=True)
    compact = sparse.csr_array((matrix.data, positions, matrix.indptr), shape=(matrix.shape[0], len(columns)))
    return InputProduct(
        None, [SparseMatrix.of(compact, device)], torch.as_tensor(columns.astype(np.int64), device=device)
    )


def _dense_product(step: sparse.csr_array, features: sparse.csr_array, device: torch.device) -> Tensor:
    """step @ features as a dense tensor, a block of columns at a time: the features are never dense as a whole."""
    operator = SparseMatrix.of(step, device)
    by_column = features.tocsc()
    result = torch.empty(step.shape[0], features.shape[1], device=device)
    width = 512
    for start in range(0, features.shape[1], width):
        block = by_column[:, start : start + width].toarray()
        result[:, start : start + width] = operator @ torch.as_tensor(block, device=device)
    return result
