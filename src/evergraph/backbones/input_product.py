"""The constant product of graph and features below the first weight, in the form with the cheapest epochs."""

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

Measured on one CPU thread, forward and backward, with weights of 256 columns: 4 to 6 with 767 features (the weight
fits into the L2 cache), 9 to 14 with 2,000 to 10,000; with 64 columns 2 to 9. So above a density of a tenth, dense
products are faster."""
STEP_COST = 45.0
"""Adam's step on a row of the weight, in multiply-adds of a dense product, both passes (measured: 35 to 45)."""
GATHER_COST = 70.0
"""Gathering a row of the whole weight and scattering its gradient, in the same unit (measured: 60 to 75)."""
NARROW_BELOW = 0.8
"""Training narrows the first weight to the features that occur if they are at most this share of all."""
MIN_GAIN = 1.5
"""Above a density of 1 / SPARSE_COST a sparse form is used only if its estimate is this many times as fast.

The estimate for sparse forms with few features is up to twice too high (benchmarks/first_product.py), and another
form rounds differently: on the data sets of this repository's results the estimated gain is at most 1.03, so the
results keep their bits."""
DENSE_BYTES = 8 << 30
"""A dense matrix larger than this is not made."""
LINE = 16
"""Numbers in a cache line."""


class Form(Enum):
    """How a constant matrix is stored: dense, as one sparse matrix, or as sparse factors, not multiplied."""

    DENSE = "dense"
    SPARSE = "sparse"
    FACTORS = "factors"


@dataclass(frozen=True)
class InputSize:
    """The size of a matrix and its entries; factor_entries: of all factors; occurring: features with an entry."""

    rows: int
    features: int
    entries: float
    factor_entries: int
    occurring: int

    def cost(self, form: Form) -> float:
        """The cost of an epoch per column of the weight, in multiply-adds of a dense product, both passes.

        It includes the optimiser's step, as if this input were trained on alone. A dense matrix needs the step on
        all rows of the weight, a sparse one on those of the features that occur (evergraph.training.narrowing); if
        these are most of them, the step is done on all and the rows are gathered.
        """
        if form is Form.DENSE:
            return self.features * (self.rows + STEP_COST)
        entries = self.entries if form is Form.SPARSE else self.factor_entries
        if self.occurring <= NARROW_BELOW * self.features:
            return SPARSE_COST * entries + STEP_COST * self.occurring
        return SPARSE_COST * entries + STEP_COST * self.features + GATHER_COST * self.occurring

    def cheapest(self) -> Form:
        """Above a density of 1 / SPARSE_COST dense, unless a sparse form gains MIN_GAIN; else the sparser form."""
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
        self.dense = None if dense is None else aligned(dense)
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
        return self.dense @ weight if self.dense is not None else chain_product(self.factors, weight)

    def dropped(self, dropout: Callable[[Tensor], Tensor]) -> "InputProduct":
        """The product of the same pattern with dropout on the values of M; for a single factor only."""
        if self.dense is not None:
            return InputProduct(dropout(self.dense), [], None)
        (factor,) = self.factors
        return InputProduct(None, [SparseMatrix(factor.pattern, dropout(factor.values))], self.columns)


def aligned(matrix: Tensor) -> Tensor:
    """The same numbers with every row at the beginning of a cache line, as a view of a wider matrix.

    Products with it have the same bits and take up to a tenth less time: 767 columns are 768 numbers apart.
    """
    rows, width = matrix.shape
    if width < LINE or (matrix.stride(1) == 1 and matrix.stride(0) % LINE == 0):
        return matrix
    return _aligned_zeros(rows, width, matrix.device).copy_(matrix)


def _aligned_zeros(rows: int, width: int, device: torch.device) -> Tensor:
    return torch.zeros(rows, -(-width // LINE) * LINE, device=device)[:, :width]


def propagate(
    features: Features, step: sparse.csr_array, nodes: NDArray[np.int64], device: torch.device
) -> InputProduct:
    """step @ features[nodes] in the cheapest form."""
    local: Features = features if len(nodes) == features.shape[0] else features[nodes]
    if isinstance(local, np.ndarray):
        return InputProduct(SparseMatrix.of(step, device) @ torch.as_tensor(local, device=device), [], None)
    form = product_size(step, local).cheapest()
    if form is Form.SPARSE:  # decided again with its exact number of entries
        return as_input(sparse.csr_array(step @ local), device)
    return product_as(form, step, local, device)


def as_input(matrix: Features, device: torch.device) -> InputProduct:
    """A matrix as an input product; a sparse one without its empty columns."""
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
    kept = torch.as_tensor(columns.astype(np.int64), device=device)
    return InputProduct(None, [SparseMatrix.of(compact, device)], kept)


def _dense_product(step: sparse.csr_array, features: sparse.csr_array, device: torch.device) -> Tensor:
    """step @ features as a dense tensor, by blocks of columns: the features are never dense as a whole."""
    operator, by_column = SparseMatrix.of(step, device), features.tocsc()
    result = _aligned_zeros(step.shape[0], features.shape[1], device)
    for start in range(0, features.shape[1], 512):
        block = slice(start, start + 512)
        result[:, block] = operator @ torch.as_tensor(by_column[:, block].toarray(), device=device)
    return result
