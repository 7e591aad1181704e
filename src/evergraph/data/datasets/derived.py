"""Features derived from the graph itself, for graphs that have none; a remark on the graph reports it."""

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from evergraph.data.cache import cache_dir
from evergraph.data.graph import Graph
from evergraph.data.graph_folder.npy import mapped
from evergraph.data.standardise import Standardisation, standardise
from evergraph.errors import ConfigError, ConvergenceError, DataError, StoreError
from evergraph.files import make_folder, write_atomically

WORTH_KEEPING = 10_000_000
"""Edges times eigenvectors from which the eigenvectors are kept on disk."""
DENSE_BELOW = 600
TOLERANCE = 1e-3
DEGREES = (8, 16, 32, *(40,) * 40)
DROWNED = np.log(1e12)
"""The ratio of filtered eigenvalues, as a logarithm, from which float32 has nothing left of the smaller one."""

Block: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class DerivedFeatures:
    """How to derive features: `spectral:D` (D = size eigenvectors), `random:D` (D numbers a node) or `degree`.

    `degree`, one-hot bins of it, has no size.
    """

    name: str
    size: int | None = None

    @classmethod
    def parse(cls, text: str) -> "DerivedFeatures":
        """From `spectral:64`, `random:64` or `degree`; ConfigError for anything else."""
        name, colon, size = text.partition(":")
        if name == "degree" and not colon:
            return cls(name)
        if name in ("spectral", "random") and size.isascii() and size.isdigit() and int(size) > 0:
            return cls(name, int(size))
        raise ConfigError(
            f"features must be spectral:D or random:D with a whole D above 0, or degree; got {text!r} instead"
        )

    def __str__(self) -> str:
        return self.name if self.size is None else f"{self.name}:{self.size}"

    @property
    def knows_edges(self) -> bool:
        """Whether features tell of edges; where a graph grows, of those that come later, too."""
        return self.name != "random"

    def derive(self, graph: Graph) -> Graph:
        """The graph with derived features and a remark on them; edge directions are ignored."""
        how = "derived from the graph" if self.knows_edges else "drawn at random"
        remark = f"features {how} ({self}), not the data set's own"
        return replace(graph, features=self._features(graph), feature_names=None, remarks=(*graph.remarks, remark))

    def _features(self, graph: Graph) -> NDArray[np.float32]:
        if self.name == "random":
            return random_rows(graph.n_nodes, self.size or 0)
        plain = standardise(graph, Standardisation(largest_component=False)).adjacency
        return degree_bins(plain) if self.size is None else kept_spectral(plain, self.size)


def random_rows(n: int, size: int) -> NDArray[np.float32]:
    """Normal numbers; a row is the same in every graph. Propagated, they tell who is near whom."""
    return np.random.default_rng(0).standard_normal((n, size), dtype=np.float32)


def degree_bins(adjacency: sparse.csr_array) -> NDArray[np.float32]:
    """One-hot rows: the bin of a node of degree d is floor(log2(d + 1))."""
    bins = np.floor(np.log2(np.diff(adjacency.indptr) + 1)).astype(np.int64)
    return np.asarray(np.eye(int(bins.max()) + 1, dtype=np.float32)[bins])


def kept_spectral(adjacency: sparse.csr_array, size: int) -> NDArray[np.float32]:
    """`spectral`; a large result is cached on disk, under a hash of the graph and the parameters."""
    if adjacency.nnz * size < WORTH_KEEPING:
        return spectral(adjacency, size)
    digest = hashlib.sha256(f"spectral {size} {TOLERANCE} {DEGREES} {adjacency.shape[0]}".encode())
    for part in (adjacency.indptr, adjacency.indices):
        digest.update(part.astype(np.int64).data)
    path = cache_dir() / "derived" / f"{digest.hexdigest()}.npy"
    kept = _kept(path, (int(adjacency.shape[0]), size))
    if kept is None:
        kept = spectral(adjacency, size)
        _keep(path, kept)
    return kept


def _kept(path: Path, shape: tuple[int, int]) -> NDArray[np.float32] | None:
    """What the cache has of this shape; None for anything else, whatever it is."""
    try:
        size = path.stat().st_size
        return np.array(mapped(path.parent, path.name, "<f4", shape, size), dtype=np.float32)
    except (OSError, DataError):
        return None


def _keep(path: Path, values: NDArray[np.float32]) -> None:
    """Cache values; a folder that cannot be written is ignored."""

    def save(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.save(file, values)

    with suppress(StoreError):
        make_folder(path.parent)
        write_atomically(path, save)


def spectral(adjacency: sparse.csr_array, size: int) -> NDArray[np.float32]:
    """The top eigenvectors of D^-1/2 A D^-1/2 as columns of mean square 1, largest eigenvalue first.

    The entry of largest magnitude of each column is positive, and the iteration starts from fixed vectors.
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


def _top_eigenvectors(matrix: sparse.csr_array, size: int) -> Block:
    """Orthonormal columns, largest eigenvalue first: dense for a small matrix, else by filtered iteration.

    Unlike Lanczos (eigsh) it multiplies a block of vectors at once: the eigenvalues of a graph cluster below 1,
    where Lanczos needs many restarts; spectral:128 on ogbn-arxiv takes less than half of its time. Where the wanted
    ones reach far below 1, the filter drowns the lowest in the rounding of the highest, and Lanczos takes over.
    """
    n = matrix.shape[0]
    width = size + max(size // 4, 8)
    if n < DENSE_BELOW or 2 * width >= n:
        return np.linalg.eigh(matrix.toarray())[1][:, : -size - 1 : -1]
    matrix = matrix.astype(np.float32)
    block = np.random.default_rng(0).standard_normal((n, width), dtype=np.float32)
    bound, lowest = 0.5, 1.0
    for degree in DEGREES:
        if degree * (_growth(1, bound) - _growth(lowest, bound)) > DROWNED:
            return _lanczos(matrix, size)
        basis, _ = np.linalg.qr(_filtered(matrix, block, bound, degree))
        product = matrix @ basis
        values, rotation = np.linalg.eigh(basis.T @ product)
        values, rotation = values[::-1], rotation[:, ::-1]
        block = basis @ rotation
        residual = np.linalg.norm((product @ rotation - block * values)[:, :size], axis=0).max()
        if residual < TOLERANCE:
            return np.asarray(block[:, :size])
        bound, lowest = float(values[-1]), float(values[size - 1])
    raise ConvergenceError(
        f"spectral:{size} must reach a residual of {TOLERANCE}, got {residual:.1e} instead; ask for fewer or more"
    )


def _growth(value: float, bound: float) -> float:
    """The logarithm of what a degree of the filter multiplies an eigenvalue by, against those below bound."""
    return float(np.arccosh(max((2 * value + 1 - bound) / (1 + bound), 1)))


def _lanczos(matrix: sparse.csr_array, size: int) -> Block:
    start = np.random.default_rng(0).standard_normal(matrix.shape[0])
    try:
        values, vectors = eigsh(matrix.astype(np.float64), k=size, which="LA", v0=start, tol=TOLERANCE / 10)
    except ArpackNoConvergence as error:
        raise ConvergenceError(
            f"spectral:{size} must converge, got no convergence instead ({error}); ask for fewer or more"
        ) from None
    return np.asarray(vectors[:, np.argsort(-values, kind="stable")])


def _filtered(matrix: sparse.csr_array, block: Block, bound: float, degree: int) -> Block:
    """A Chebyshev polynomial of the matrix times the block: 1 at eigenvalue 1, small on [-1, bound]."""
    centre, half = (bound - 1) / 2, (bound + 1) / 2
    first = factor = half / (1 - centre)
    before = block
    now: Block = (matrix @ block - np.float32(centre) * block) * np.float32(factor / half)
    for _ in range(degree - 1):
        following = 1 / (2 / first - factor)
        after = matrix @ now
        after -= np.float32(centre) * now
        after *= np.float32(2 * following / half)
        after -= np.float32(factor * following) * before
        before, now, factor = now, after, following
    return now
