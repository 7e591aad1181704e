"""Random features of propagated node features, as small whole numbers, so that their sums are exact.

Â = D^-1/2 (A + I) D^-1/2; hop h of node v is the row x_h(v) of Â^h X.
For a set S of hops, with Ω normal and seeded,

    u = Σ_{h in S} Ωᵀ x_h / ‖Ωᵀ x_h‖,    φ = min(127, round(32 · max(0, √D u / ‖u‖))).

φ depends on the graph and the seed alone. Its entries fit into seven bits, which costs nothing in accuracy.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import Graph
from evergraph.errors import DataError
from evergraph.seeding import Purpose, numpy_generator

Codes: TypeAlias = NDArray[np.uint8]
"""φ of some nodes for each set of hops: (sets, rows, width)."""

TOP = 127
"""The largest entry of φ: 1,024 rows of a product stay below 2^24, so 32-bit floats add them up exactly."""
STEP = 32.0
"""Codes for each unit of a feature whose mean square is one half."""
COLUMNS = 256
"""Columns of Ω at a time, so that memory stays bounded."""
SPARSE = 8.0
"""How many dense multiplications take the time of one sparse one."""


REMEMBERED = 2**26
"""So many entries of Ω are drawn once; larger ones are drawn again each time, so that memory stays bounded."""


class HopFeatures:
    """The map from a graph to φ, for several sets of hops; it is made of a seed and needs nothing else."""

    def __init__(self, hops: Sequence[tuple[int, ...]], width: int, seed: int):
        self.hops = tuple(hops)
        self.width = width
        self.seed = seed
        self._drawn: dict[tuple[int, int], NDArray[np.float32]] = {}
        self.reach = max(hop for one in self.hops for hop in one)

    def __call__(self, graph: Graph, rows: NDArray[np.int64]) -> Codes:
        """φ of some rows of a graph."""
        values = self._projected(graph, rows)
        lengths = [_inverse_lengths(part) for part in values]
        codes = np.empty((len(self.hops), len(rows), self.width), dtype=np.uint8)
        for code, hops in zip(codes, self.hops, strict=True):
            total = sum((values[hop] * lengths[hop] for hop in hops[1:]), values[hops[0]] * lengths[hops[0]])
            total *= _inverse_lengths(total) * np.float32(STEP * np.sqrt(self.width))
            code[:] = np.rint(np.clip(total, 0, TOP))
        return codes

    def _projected(self, graph: Graph, rows: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        """Ωᵀ x_h of the rows for each hop h, (rows, width) each; columns of Ω are drawn block by block."""
        if graph.features is None:
            raise DataError("features are wanted, got a graph without them instead; derive some from the graph")
        step = propagation(graph)
        features = _denser(graph.features)
        late = isinstance(features, np.ndarray) and self._cheaper_late(graph, step.nnz)
        inputs = _hops(step, features, self.reach) if late else [features]
        values = [np.empty((len(rows), self.width), dtype=np.float32) for _ in range(self.reach + 1)]
        for index, start in enumerate(range(0, self.width, COLUMNS)):
            stop = min(start + COLUMNS, self.width)
            omega = self._omega(graph.n_features, index)[:, : stop - start]
            blocks = [part @ omega for part in inputs]
            blocks = blocks if late else _hops(step, np.asarray(blocks[0]), self.reach)
            for value, block in zip(values, blocks, strict=True):
                value[:, start:stop] = block[rows]
        return values

    def _omega(self, n_features: int, index: int) -> NDArray[np.float32]:
        """Block `index` of the columns of Ω: from the seed, or as it was drawn before."""
        known = self._drawn.get((n_features, index))
        if known is None:
            rng = numpy_generator(self.seed, Purpose.PARAMETERS, index)
            known = rng.standard_normal((n_features, COLUMNS), dtype=np.float32)
            if n_features * self.width <= REMEMBERED:
                self._drawn[n_features, index] = known
        return known

    def _cheaper_late(self, graph: Graph, entries: int) -> bool:
        """Whether to propagate the features and then multiply by Ω, rather than the other way round."""
        width, n_features, n = self.width, graph.n_features, graph.n_nodes
        early = n * n_features * width + SPARSE * self.reach * entries * width
        late = SPARSE * self.reach * entries * n_features + (self.reach + 1) * n * n_features * width
        return late < early


def propagation(graph: Graph) -> sparse.csr_array:
    """Â: what one hop does, from every node's neighbours and itself."""
    incoming = sparse.csr_array(graph.adjacency.T) if graph.directed else graph.adjacency
    loops = sparse.csr_array(incoming + sparse.eye_array(graph.n_nodes, dtype=np.float32))
    received = np.asarray(loops.sum(axis=1)) ** -0.5
    sent = np.asarray(loops.sum(axis=0)) ** -0.5
    data = loops.data * np.repeat(received, np.diff(loops.indptr)) * sent[loops.indices]
    return sparse.csr_array((data.astype(np.float32), loops.indices, loops.indptr), shape=loops.shape)


def _hops(step: sparse.csr_array, first: NDArray[np.float32], reach: int) -> list[NDArray[np.float32]]:
    hops = [first]
    for _ in range(reach):
        hops.append(step @ hops[-1])
    return hops


def _denser(features: Any) -> Any:
    """Sparse features as an array where the dense product is the faster one."""
    if isinstance(features, np.ndarray) or features.nnz * SPARSE < np.prod(features.shape, dtype=np.float64):
        return features
    return features.toarray()


def _inverse_lengths(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """1 / ‖row‖ as a column; 0 for a row of zeros."""
    lengths = np.sqrt(np.einsum("ij,ij->i", values, values))[:, None]
    inverse: NDArray[np.float32] = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return inverse


def fingerprints(graph: Graph) -> NDArray[np.uint64]:
    """A hash of each node's own features, by which a node that was seen before is known again."""
    matrix = sparse.csr_array(graph.features)
    bits = matrix.data.astype(np.float32).view(np.uint32).astype(np.uint64)
    mixed = mix(bits ^ (matrix.indices.astype(np.uint64) << np.uint64(32)))
    ends = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    return mix(ends[matrix.indptr[1:]] - ends[matrix.indptr[:-1]])


def mix(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64, modulo 2^64."""
    value = value + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
