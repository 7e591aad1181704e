"""Feature preprocessing: it decides a lot, so it is part of every configuration."""

from enum import Enum

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import Features


class Preprocessing(Enum):
    """What happens to the features before a backbone sees them."""

    NONE = "none"
    ROW_L1 = "row-l1"
    ROW_L2 = "row-l2"
    STANDARD = "standard"


def preprocess(features: Features, how: Preprocessing, fit_rows: NDArray[np.int64]) -> Features:
    """Features of the same shape and kind; a row of zeros stays zero, sparse features stay sparse.

    STANDARD takes mean and deviation from `fit_rows` only (the training nodes of the first task, so that no later
    task leaks into an earlier one); sparse features are scaled but not centred.
    """
    if how is Preprocessing.NONE:
        return features
    if how is Preprocessing.STANDARD:
        return _standard(features, fit_rows)
    return _scale_rows(features, _row_norms(features, how))


def _row_norms(features: Features, how: Preprocessing) -> NDArray[np.float32]:
    """Summed in float64: the squares of float32 values can be too large or too small for float32."""
    squared = how is Preprocessing.ROW_L2
    sums: NDArray[np.float64]
    if isinstance(features, np.ndarray):
        sums = (
            np.einsum("ij,ij->i", features, features, dtype=np.float64)
            if squared
            else np.abs(features).sum(axis=1, dtype=np.float64)
        )
    else:
        values = features.data.astype(np.float64)
        matrix = sparse.csr_array(
            (values**2 if squared else np.abs(values), features.indices, features.indptr), features.shape
        )
        sums = matrix.sum(axis=1)
    return (np.sqrt(sums) if squared else sums).astype(np.float32)


def _scale_rows(features: Features, norms: NDArray[np.float32]) -> Features:
    factor = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
    if isinstance(features, np.ndarray):
        return features * factor[:, None]
    data = features.data * np.repeat(factor, np.diff(features.indptr))
    return sparse.csr_array((data, features.indices, features.indptr), shape=features.shape)


def _standard(features: Features, fit_rows: NDArray[np.int64]) -> Features:
    sample = features[fit_rows]
    if isinstance(sample, np.ndarray):
        mean, deviation = sample.mean(axis=0, dtype=np.float64), sample.std(axis=0, dtype=np.float64)
        factor = np.divide(1, deviation, out=np.zeros_like(deviation), where=deviation > 0)
        return ((features - mean) * factor).astype(np.float32)
    deviation = _sparse_deviation(sample.astype(np.float64))
    factor = np.divide(1, deviation, out=np.zeros_like(deviation), where=deviation > 0).astype(np.float32)
    return sparse.csr_array(sparse.csr_array(features) @ sparse.diags_array(factor), dtype=np.float32)


def _sparse_deviation(sample: sparse.csr_array) -> NDArray[np.float64]:
    """The standard deviation of each column, about its mean, so that a constant column has exactly 0."""
    n, width = sample.shape
    mean = np.bincount(sample.indices, sample.data, width) / n
    off = np.bincount(sample.indices, (sample.data - mean[sample.indices]) ** 2, width)
    absent = n - np.bincount(sample.indices, minlength=width)
    deviation: NDArray[np.float64] = np.sqrt((off + absent * mean**2) / n)
    return deviation
