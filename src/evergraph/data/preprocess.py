"""Feature preprocessing."""

from enum import Enum
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import Features
from evergraph.data.on_disk import DiskFeatures, Scale


class Preprocessing(Enum):
    """How features are scaled before a backbone gets them."""

    NONE = "none"
    ROW_L1 = "row-l1"
    ROW_L2 = "row-l2"
    STANDARD = "standard"


def preprocess(features: Features, how: Preprocessing, fit_rows: NDArray[np.int64]) -> Features:
    """Features of the same shape and kind; a row of zeros stays zero, sparse features stay sparse.

    STANDARD takes mean and deviation from `fit_rows` only (the training nodes of the first task, so that no later
    task leaks into an earlier one). It scales sparse features but does not centre them.
    """
    if how is Preprocessing.NONE:
        return features
    if isinstance(features, DiskFeatures):
        return cast("Features", features.scaled(_scale(features, how, fit_rows)))
    if how is Preprocessing.STANDARD:
        return _standard(features, fit_rows)
    return _by_rows(features, how)


def _scale(features: DiskFeatures, how: Preprocessing, fit_rows: NDArray[np.int64]) -> Scale:
    """What is done to rows on disk when they are read."""
    if how is not Preprocessing.STANDARD:
        return lambda rows: np.asarray(_by_rows(rows, how))
    sample = features[fit_rows]
    mean, factor = _column_scale(sample)
    return lambda rows: ((rows - mean) * factor).astype(np.float32)


def _by_rows(features: Features, how: Preprocessing) -> Features:
    factor = _inverse(_row_norms(features, squared=how is Preprocessing.ROW_L2))
    if isinstance(features, np.ndarray):
        return features * factor[:, None]
    data = features.data * np.repeat(factor, np.diff(features.indptr))
    return sparse.csr_array((data, features.indices, features.indptr), shape=features.shape)


def _inverse(values: NDArray[Any]) -> NDArray[Any]:
    """1 / x of each value, 0 for 0."""
    inverse: NDArray[Any] = np.divide(1, values, out=np.zeros_like(values), where=values > 0)
    return inverse


def _row_norms(features: Features, *, squared: bool) -> NDArray[np.float32]:
    """L2 norms if squared, else L1; in float64, since the squares of float32 values can overflow or vanish."""
    if not isinstance(features, np.ndarray):
        values = features.data.astype(np.float64)
        values = values**2 if squared else np.abs(values)
        sums = sparse.csr_array((values, features.indices, features.indptr), features.shape).sum(axis=1)
    elif squared:
        sums = np.einsum("ij,ij->i", features, features, dtype=np.float64)
    else:
        sums = np.abs(features).sum(axis=1, dtype=np.float64)
    return np.asarray(np.sqrt(sums) if squared else sums, dtype=np.float32)


def _standard(features: Features, fit_rows: NDArray[np.int64]) -> Features:
    sample = features[fit_rows]
    if isinstance(sample, np.ndarray):
        mean, factor = _column_scale(sample)
        return ((features - mean) * factor).astype(np.float32)
    factor = _inverse(_sparse_deviation(sample.astype(np.float64))).astype(np.float32)
    return sparse.csr_array(sparse.csr_array(features) @ sparse.diags_array(factor), dtype=np.float32)


def _column_scale(sample: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean of each column, and 1 over its standard deviation."""
    return sample.mean(axis=0, dtype=np.float64), _inverse(sample.std(axis=0, dtype=np.float64))


def _sparse_deviation(sample: sparse.csr_array) -> NDArray[np.float64]:
    """The standard deviation of each column, about its mean, so that a constant column has exactly 0."""
    n, width = sample.shape
    mean = np.bincount(sample.indices, sample.data, width) / n
    off = np.bincount(sample.indices, (sample.data - mean[sample.indices]) ** 2, width)
    absent = n - np.bincount(sample.indices, minlength=width)
    return np.asarray(np.sqrt((off + absent * mean**2) / n))
