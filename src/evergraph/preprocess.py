"""Feature preprocessing: it decides a lot, so it is part of every configuration."""

from enum import Enum

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.graph import Features


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
    if isinstance(features, np.ndarray):
        order = 1 if how is Preprocessing.ROW_L1 else 2
        norms: NDArray[np.float32] = np.linalg.norm(features, ord=order, axis=1).astype(np.float32)
        return norms
    values = np.abs(features.data) if how is Preprocessing.ROW_L1 else features.data.astype(np.float64) ** 2
    matrix = sparse.csr_array((values, features.indices, features.indptr), features.shape)
    sums: NDArray[np.float64] = matrix.sum(axis=1)
    return (sums if how is Preprocessing.ROW_L1 else np.sqrt(sums)).astype(np.float32)


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
    mean = np.asarray(sample.mean(axis=0, dtype=np.float64))
    square = np.asarray((sample * sample).mean(axis=0, dtype=np.float64))
    deviation = np.sqrt(np.maximum(square - mean**2, 0))
    factor = np.divide(1, deviation, out=np.zeros_like(deviation), where=deviation > 0).astype(np.float32)
    return sparse.csr_array(sparse.csr_array(features) @ sparse.diags_array(factor), dtype=np.float32)
