"""Feature preprocessing: norms, zero rows, sparse like dense, nothing learned from rows that may not be seen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import Features
from evergraph.data.preprocess import Preprocessing, preprocess

ALL = list(Preprocessing)
ROWS = (Preprocessing.ROW_L1, Preprocessing.ROW_L2)
VALUES = st.sampled_from([0.0, 0.0, 0.0]) | st.floats(-100, 100, width=32).filter(lambda v: abs(v) > 1e-3)


@st.composite
def matrices(draw: st.DrawFn) -> NDArray[np.float32]:
    shape = (draw(st.integers(2, 7)), draw(st.integers(1, 5)))
    return draw(npst.arrays(np.float32, shape, elements=VALUES))


def dense(features: Features) -> NDArray[np.float32]:
    return features if isinstance(features, np.ndarray) else features.toarray()


@settings(max_examples=50)
@given(features=matrices(), how=st.sampled_from(ROWS), as_sparse=st.booleans())
def test_rows_have_norm_one_and_zero_rows_stay_zero(
    features: NDArray[np.float32], how: Preprocessing, as_sparse: bool
) -> None:
    given_ = sparse.csr_array(features) if as_sparse else features
    result = dense(preprocess(given_, how, np.arange(1)))
    norms = np.linalg.norm(result.astype(np.float64), ord=1 if how is Preprocessing.ROW_L1 else 2, axis=1)
    zero = ~features.any(axis=1)
    assert np.allclose(norms[~zero], 1, atol=1e-5)
    assert not result[zero].any()
    assert np.array_equal(np.sign(result), np.sign(features))


@settings(max_examples=40)
@given(features=matrices(), how=st.sampled_from([Preprocessing.NONE, *ROWS]))
def test_sparse_is_dense_and_stays_sparse(features: NDArray[np.float32], how: Preprocessing) -> None:
    result = preprocess(sparse.csr_array(features), how, np.arange(1))
    assert sparse.issparse(result)
    assert result.dtype == np.float32
    assert np.allclose(dense(result), dense(preprocess(features, how, np.arange(1))), atol=1e-6)


@pytest.mark.parametrize("how", ROWS)
@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_tiny_and_huge_rows_are_scaled_too(how: Preprocessing, size: float) -> None:
    features = np.array([[size, -size]], dtype=np.float32)
    expected = [[0.5, -0.5]] if how is Preprocessing.ROW_L1 else [[0.5**0.5, -(0.5**0.5)]]
    assert np.allclose(preprocess(features, how, np.arange(1)), expected)
    assert np.allclose(dense(preprocess(sparse.csr_array(features), how, np.arange(1))), expected)


@settings(max_examples=40)
@given(features=matrices(), data=st.data())
def test_standard_is_the_formula_on_the_given_rows(features: NDArray[np.float32], data: st.DataObject) -> None:
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, len(features) - 1), min_size=1))))
    sample = features[rows].astype(np.float64)
    mean, deviation = sample.mean(axis=0), sample.std(axis=0)
    factor = np.where(deviation > 0, 1 / np.where(deviation > 0, deviation, 1), 0)
    centred = preprocess(features, Preprocessing.STANDARD, rows)
    scaled = preprocess(sparse.csr_array(features), Preprocessing.STANDARD, rows)
    assert sparse.issparse(scaled)
    assert np.allclose(centred, (features - mean) * factor, rtol=1e-4, atol=1e-4)
    assert np.allclose(dense(scaled), features * factor, rtol=1e-4, atol=1e-4)
    assert centred.dtype == scaled.dtype == np.float32


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-3, 77.7])
def test_a_constant_column_tells_nothing(value: float) -> None:
    features = np.full((7, 1), value, dtype=np.float32)
    for kind in (features, sparse.csr_array(features)):
        assert not dense(preprocess(kind, Preprocessing.STANDARD, np.arange(7))).any()


@settings(max_examples=20)
@given(features=matrices(), as_sparse=st.booleans())
def test_standard_learns_nothing_from_other_rows(features: NDArray[np.float32], as_sparse: bool) -> None:
    changed = features.copy()
    changed[-1] += 5
    rows = np.arange(len(features) - 1)
    one, other = (
        dense(preprocess(sparse.csr_array(matrix) if as_sparse else matrix, Preprocessing.STANDARD, rows))
        for matrix in (features, changed)
    )
    assert np.array_equal(one[:-1], other[:-1])


@pytest.mark.parametrize("how", ALL)
def test_what_is_given_stays_as_it_was(how: Preprocessing) -> None:
    features = np.array([[1, 2], [3, 5]], dtype=np.float32)
    matrix = sparse.csr_array(features)
    preprocess(features, how, np.arange(2))
    preprocess(matrix, how, np.arange(2))
    assert features.tolist() == matrix.toarray().tolist() == [[1, 2], [3, 5]]


def test_none_changes_nothing() -> None:
    features = np.array([[1, 2], [3, 5]], dtype=np.float32)
    assert preprocess(features, Preprocessing.NONE, np.arange(2)) is features
