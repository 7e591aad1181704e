"""Features derived from the graph itself, for graphs that have none; every result on them says so."""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackError, eigsh

from evergraph.errors import ConfigError, ConvergenceError
from evergraph.graph import Graph, standardise

DENSE_BELOW = 600


class Kind(Enum):
    """What the features are made of."""

    SPECTRAL = "spectral"
    DEGREE = "degree"


@dataclass(frozen=True)
class DerivedFeatures:
    """How to derive features: `spectral:D` (D eigenvectors) or `degree` (one-hot bins of the degree)."""

    kind: Kind
    size: int | None = None

    @classmethod
    def parse(cls, text: str) -> "DerivedFeatures":
        """From `spectral:64` or `degree`; ConfigError for anything else."""
        name, colon, size = text.partition(":")
        if name == Kind.DEGREE.value and not colon:
            return cls(Kind.DEGREE)
        if name == Kind.SPECTRAL.value and size.isascii() and size.isdigit() and int(size) > 0:
            return cls(Kind.SPECTRAL, int(size))
        raise ConfigError(f"features must be spectral:D with a whole D above 0, or degree; got {text!r} instead")

    def __str__(self) -> str:
        return self.kind.value if self.size is None else f"{self.kind.value}:{self.size}"

    def derive(self, graph: Graph) -> Graph:
        """The same graph with derived features and a remark that says so; a direction of edges is ignored."""
        plain = standardise(graph, largest_component=False).adjacency
        features = degree_bins(plain) if self.size is None else spectral(plain, self.size)
        remark = f"features derived from the graph ({self}), not the data set's own"
        return replace(graph, features=features, feature_names=None, remarks=(*graph.remarks, remark))


def degree_bins(adjacency: sparse.csr_array) -> NDArray[np.float32]:
    """One-hot rows: the bin of a node of degree d is floor(log2(d + 1))."""
    bins = np.floor(np.log2(np.diff(adjacency.indptr) + 1)).astype(np.int64)
    result: NDArray[np.float32] = np.eye(int(bins.max()) + 1, dtype=np.float32)[bins]
    return result


def spectral(adjacency: sparse.csr_array, size: int) -> NDArray[np.float32]:
    """The top eigenvectors of D^-1/2 A D^-1/2 as columns of mean square 1, largest eigenvalue first.

    The entry of largest magnitude of each column is positive, and the iteration starts from a fixed vector.
    """
    n = adjacency.shape[0]
    if size >= n:
        raise ConfigError(f"features spectral:D needs D below the number of nodes, {n}, got {size} instead")
    degree = np.diff(adjacency.indptr).astype(np.float64)
    scale = sparse.diags_array(1 / np.sqrt(np.maximum(degree, 1)))
    matrix = sparse.csr_array(scale @ adjacency.astype(np.float64) @ scale)
    vectors = _top_eigenvectors(matrix, size)
    peak = vectors[np.abs(vectors).argmax(axis=0), np.arange(size)]
    return np.ascontiguousarray(vectors * (np.sign(peak) * np.sqrt(n)), dtype=np.float32)


def _top_eigenvectors(matrix: sparse.csr_array, size: int) -> NDArray[np.float64]:
    n = matrix.shape[0]
    if n < DENSE_BELOW or 2 * size >= n:
        return np.linalg.eigh(matrix.toarray())[1][:, : -size - 1 : -1]
    start = np.random.default_rng(0).standard_normal(n)
    try:
        values, vectors = eigsh(matrix, k=size, which="LA", v0=start, tol=1e-4)
    except ArpackError as error:
        raise ConvergenceError(f"spectral:{size} must converge, got {error} instead; ask for fewer") from None
    result: NDArray[np.float64] = vectors[:, np.argsort(-values)]
    return result
