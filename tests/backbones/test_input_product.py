"""The product that the first weight meets: every form is the same matrix, and the cheapest form is taken."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from evergraph.backbones import MessageGraph, Norm, input_product, model_input
from evergraph.backbones.input_product import (
    MIN_GAIN,
    SPARSE_COST,
    Form,
    InputProduct,
    InputSize,
    aligned,
    as_input,
    product_as,
    product_size,
    propagate,
)
from evergraph.data.datasets.sbm import SbmOptions, generate
from helpers import CPU

NODES = 60
ALL_TO_ALL = sparse.csr_array(np.ones((NODES, NODES), dtype=np.float32))
ALONE = sparse.csr_array(sparse.eye_array(NODES, dtype=np.float32))


def words(each: int, width: int) -> sparse.csr_array:
    """Features in which every node has `each` words that no other node has, as far as there are so many."""
    columns = np.arange(NODES * each) % width
    values = np.linspace(1, 2, NODES * each, dtype=np.float32)
    return sparse.csr_array((values, columns, np.arange(NODES + 1) * each), shape=(NODES, width))


def whole(product: InputProduct, width: int) -> NDArray[np.float32]:
    """The matrix that an input product stands for."""
    weight = torch.eye(width)
    return product.multiply(weight if product.columns is None else weight[product.columns]).numpy()


@pytest.mark.parametrize(
    ("step", "each", "width", "expected"),
    [
        (ALL_TO_ALL, 5, 300, Form.DENSE),
        (ALL_TO_ALL, 10, 40, Form.DENSE),
        (ALONE, 30, 100, Form.DENSE),
        (ALONE, 5, 2000, Form.SPARSE),
        (ALL_TO_ALL, 3, 2000, Form.FACTORS),
    ],
    ids=["full product", "few features", "dense features", "nobody to hear from", "thin product"],
)
def test_the_form_follows_the_density(step: sparse.csr_array, each: int, width: int, expected: Form) -> None:
    product = propagate(words(each, width), step, np.arange(NODES), CPU)
    assert product.form is expected
    assert np.allclose(whole(product, width), (step @ words(each, width)).toarray(), rtol=1e-5)


def test_a_product_that_is_dense_enough_is_left_in_factors_where_these_are_much_cheaper() -> None:
    size = product_size(ALL_TO_ALL, words(5, 2000))
    assert size == InputSize(NODES, 2000, NODES * 300, NODES * NODES + NODES * 5, 300)
    assert SPARSE_COST * size.entries > size.rows * size.features
    assert MIN_GAIN * size.cost(Form.FACTORS) < size.cost(Form.DENSE)
    assert propagate(words(5, 2000), ALL_TO_ALL, np.arange(NODES), CPU).form is Form.FACTORS


def test_bags_of_words_on_a_graph_of_degree_66_take_the_factors() -> None:
    """The product of 1,779 nodes with 8,189 features is over 10 % dense, but two sparse factors are faster."""
    graph = generate(SbmOptions(nodes=1779, classes=2, mean_degree=66, features=8189, words=25))
    x = model_input(graph, None, CPU).x
    step = MessageGraph(graph, None, CPU).step_matrix(Norm.SYMMETRIC, 1)
    size = product_size(step, sparse.csr_array(graph.features))
    assert 0.1 < size.entries / (size.rows * size.features) < 0.13
    assert size.cost(Form.DENSE) > 3 * size.cost(Form.FACTORS)
    assert {x.propagated(norm).form for norm in Norm} == {Form.FACTORS}
    assert x.restricted().form is Form.SPARSE


@given(
    rows=st.integers(1, 5000),
    features=st.integers(1, 20_000),
    density=st.floats(0, 1),
    degree=st.floats(1, 300),
    words=st.floats(0, 1),
    occurring=st.floats(0, 1),
)
def test_the_dense_form_is_never_taken_where_a_sparse_one_is_much_cheaper(
    rows: int, features: int, density: float, degree: float, words: float, occurring: float
) -> None:
    entries, factors = density * rows * features, int(rows * (degree + words * features))
    size = InputSize(rows, features, entries, factors, int(occurring * features))
    form = size.cheapest()
    others = {Form.SPARSE: entries, Form.FACTORS: factors}
    if form is Form.DENSE:
        assert SPARSE_COST * entries > rows * features
        assert size.cost(form) < MIN_GAIN * min(size.cost(other) for other in others)
    else:
        assert others[form] == min(others.values())


def test_a_matrix_that_is_too_large_is_not_made_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    assert as_input(words(30, 100), CPU).form is Form.DENSE
    monkeypatch.setattr(input_product, "DENSE_BYTES", NODES * 100 * 4 - 1)
    assert as_input(words(30, 100), CPU).form is Form.SPARSE
    assert propagate(words(30, 100), ALL_TO_ALL, np.arange(NODES), CPU).dense is None


@pytest.mark.parametrize("columns", [3, 64])
def test_all_forms_are_the_same_product_and_have_the_same_gradient(columns: int) -> None:
    rng = np.random.default_rng(0)
    step, features = (
        sparse.csr_array(sparse.random(NODES, width, 0.2, dtype=np.float32, random_state=rng))
        for width in (NODES, 90)
    )
    weight = rng.standard_normal((90, columns), dtype=np.float32)
    back = rng.standard_normal((NODES, columns), dtype=np.float32)
    dense = (step @ features).toarray()
    for form in Form:
        product = product_as(form, step, features, CPU)
        assert product.form is form
        met = torch.tensor(weight, requires_grad=True)
        rows: Tensor = met if product.columns is None else met[product.columns]
        bias = torch.ones(columns)
        result = product.linear(rows, bias)
        (result * torch.as_tensor(back)).sum().backward()  # type: ignore[no-untyped-call]
        assert met.grad is not None
        assert np.allclose(result.detach().numpy(), dense @ weight + 1, atol=1e-5)
        assert np.allclose(met.grad.numpy(), dense.T @ back, atol=1e-5)


def test_only_the_given_nodes_are_propagated() -> None:
    nodes = np.array([4, 1, 7])
    step = sparse.csr_array(np.array([[1, 2, 0], [0, 0, 3]], dtype=np.float32))
    product = propagate(words(2, 100), step, nodes, CPU)
    assert np.allclose(whole(product, 100), step.toarray() @ words(2, 100).toarray()[nodes])


@pytest.mark.parametrize("width", [3, 16, 17, 40])
def test_rows_begin_at_cache_lines_and_products_keep_their_bits(width: int) -> None:
    generator = torch.Generator().manual_seed(width)
    matrix, weight = (torch.randn(size, generator=generator) for size in ((NODES, width), (width, 5)))
    found = aligned(matrix)
    assert torch.equal(found, matrix)
    assert found.stride(0) % 16 == 0 or width < 16
    assert torch.equal(found @ weight, matrix @ weight)
    assert aligned(found) is found
