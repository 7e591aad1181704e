"""Products with fixed patterns: values and gradients against the dense equivalents."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch import Tensor

from evergraph.backbones.products import Pattern, SparseMatrix, chain_product, sampled_product, weighted_product
from helpers import CPU


def random_matrix(rows: int, columns: int, seed: int) -> sparse.csr_array:
    """Random entries; the first row and the last column are empty."""
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < 0.4)
    dense[0] = dense[:, -1] = 0
    return sparse.csr_array(dense.astype(np.float32))


def values(*shape: int, seed: int = 0) -> Tensor:
    return torch.empty(shape).uniform_(-1, 1, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def pattern_of(matrix: sparse.csr_array) -> Pattern:
    return Pattern(matrix.indptr, matrix.indices, matrix.shape, CPU)


def agree(ours: Callable[..., Tensor], plain: Callable[..., Tensor], *inputs: Tensor) -> None:
    """Both functions have the same value and the same two derivatives in all inputs, the second in float64."""
    doubles = [value.detach().double().requires_grad_() for value in inputs]
    found, wanted = ours(*inputs), plain(*doubles)
    assert found.shape == wanted.shape
    assert torch.allclose(found.double(), wanted, atol=1e-5)
    cotangent = torch.empty(wanted.shape).uniform_(-1, 1, generator=torch.Generator().manual_seed(9))
    results = []
    for result, given_ in ((found, inputs), (wanted, doubles)):
        grads = torch.autograd.grad((result.sin() * cotangent).sum(), given_, create_graph=True)
        bent = sum((grad.sin().sum() for grad in grads), torch.zeros(()))
        results.append([*grads, *torch.autograd.grad(bent, given_)])
    for grad, target in zip(*results, strict=True):
        assert grad.shape == target.shape
        assert torch.allclose(grad.double(), target, atol=1e-4)


SHAPES = given(rows=st.integers(1, 7), columns=st.integers(1, 7), width=st.integers(1, 4), seed=st.integers(0, 99))


@settings(max_examples=25)
@SHAPES
def test_constant_product(rows: int, columns: int, width: int, seed: int) -> None:
    matrix = random_matrix(rows, columns, seed)
    dense = torch.as_tensor(matrix.toarray()).double()
    ours = SparseMatrix.of(matrix, CPU)
    assert ours.shape == (rows, columns)
    agree(lambda x: ours @ x, lambda x: dense @ x, values(columns, width))


@settings(max_examples=25)
@SHAPES
def test_weighted_product(rows: int, columns: int, width: int, seed: int) -> None:
    matrix = random_matrix(rows, columns, seed)
    pattern = pattern_of(matrix)
    row, column = (torch.as_tensor(part.astype(np.int64)) for part in matrix.nonzero())

    def plain(entries: Tensor, x: Tensor) -> Tensor:
        dense = torch.zeros(rows, columns, dtype=torch.float64).index_put((row, column), entries)
        return dense @ x

    agree(lambda v, x: weighted_product(pattern, v, x), plain, values(matrix.nnz), values(columns, width, seed=1))


@settings(max_examples=25)
@SHAPES
def test_sampled_product(rows: int, columns: int, width: int, seed: int) -> None:
    matrix = random_matrix(rows, columns, seed)
    pattern = pattern_of(matrix)
    row, column = (torch.as_tensor(part.astype(np.int64)) for part in matrix.nonzero())
    agree(
        lambda left, right: sampled_product(pattern, left, right),
        lambda left, right: (left @ right.T)[row, column],
        values(rows, width),
        values(columns, width, seed=1),
    )


@settings(max_examples=25)
@SHAPES
def test_chain_product(rows: int, columns: int, width: int, seed: int) -> None:
    matrices = [random_matrix(rows, 3, seed), random_matrix(3, columns, seed + 1)]
    first, second = (torch.as_tensor(matrix.toarray()).double() for matrix in matrices)
    factors = [SparseMatrix.of(matrix, CPU) for matrix in matrices]
    agree(lambda x: chain_product(factors, x), lambda x: first @ second @ x, values(columns, width))


@settings(max_examples=25)
@SHAPES
def test_spreading_and_summing(rows: int, columns: int, width: int, seed: int) -> None:
    matrix = random_matrix(rows, columns, seed)
    pattern = pattern_of(matrix)
    row, column = (torch.as_tensor(part.astype(np.int64)) for part in matrix.nonzero())
    assert torch.equal(pattern.row.long(), row)
    agree(pattern.of_row, lambda v: v[row], values(rows, width))
    agree(pattern.of_column, lambda v: v[column], values(columns, width))
    zeros = torch.zeros(rows, width, dtype=torch.float64)
    agree(pattern.row_sum, lambda v: zeros.index_add(0, row, v), values(matrix.nnz, width))


def test_the_largest_of_each_row() -> None:
    matrix = random_matrix(6, 6, 3)
    entries = values(matrix.nnz, 2)
    largest = pattern_of(matrix).row_max(entries)
    for k in range(6):
        own = entries[matrix.indptr[k] : matrix.indptr[k + 1]]
        expected = own.max(dim=0).values if len(own) else torch.full((2,), -torch.inf)
        assert torch.equal(largest[k], expected)
    assert not largest.requires_grad


def test_transposing_moves_every_entry() -> None:
    matrix = random_matrix(5, 7, 4)
    flipped, positions = pattern_of(matrix).transposed
    found = flipped.matrix(torch.as_tensor(matrix.data)[positions]).to_dense()
    assert torch.equal(found, torch.as_tensor(matrix.toarray().T.copy()))


def test_other_values_on_the_same_pattern() -> None:
    matrix = SparseMatrix.of(random_matrix(5, 7, 5), CPU)
    doubled = SparseMatrix(matrix.pattern, matrix.values * 2)
    x = values(7, 3)
    assert torch.allclose(doubled @ x, 2 * (matrix @ x), atol=1e-6)


@pytest.mark.parametrize("step", [1e-2])
def test_gradients_are_finite_differences(step: float) -> None:
    """The dense equivalents are a judge of ours; differences are a judge of both."""
    matrix = random_matrix(4, 5, 6)
    pattern, entries, x = pattern_of(matrix), values(matrix.nnz), values(5, 2, seed=1)

    def loss(v: Tensor) -> Tensor:
        return (weighted_product(pattern, v, x.detach()) ** 2).sum()

    (grad,) = torch.autograd.grad(loss(entries), entries)
    for k in range(matrix.nnz):
        shift = torch.zeros(matrix.nnz)
        shift[k] = step
        difference = (loss(entries.detach() + shift) - loss(entries.detach() - shift)) / (2 * step)
        assert float(difference) == pytest.approx(float(grad[k]), abs=2e-3)
