"""Random features of propagated node features, as small whole numbers, so that their sums are exact.

Â = D^-1/2 (A + I) D^-1/2; hop h of node v is the row x_h(v) of Â^h X.
For a set S of hops, with Ω normal and seeded,

    u = Σ_{h in S} Ωᵀ x_h / ‖Ωᵀ x_h‖,    φ = min(127, round(32 · max(0, √D u / ‖u‖))).

Several sums S_k side by side, k = 0 to m - 1, see an Ω of their own each, and u is the sum of all: these are random
features of the hops in one row. Each is the same Ω, k/m of its columns further on: one product with Ω serves all
sets, and the columns that meet are independent.

φ depends on the graph and the seed alone. Its entries fit into seven bits, which costs nothing in accuracy.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.budget import current_budget
from evergraph.data.graph import Graph
from evergraph.data.on_disk import DiskSteps, Remembered, disk_adjacency, is_on_disk, row_blocks
from evergraph.errors import DataError
from evergraph.methods.row_product import row_product
from evergraph.seeding import Purpose, numpy_generator
from evergraph.splitmix import mixed
from evergraph.threads import in_threads

Codes: TypeAlias = NDArray[np.uint8]
"""φ of some nodes for each set of hops: (sets, rows, width)."""
HopSum: TypeAlias = tuple[int, ...]
"""Hops that are added up."""
HopSet: TypeAlias = HopSum | tuple[HopSum, ...]
"""Hops that are added up, or several such sums side by side."""

TOP = 127
"""The largest entry of φ: 1,024 rows of a product stay below 2^24, so 32-bit floats add them up exactly."""
STEP = 32.0
"""Codes for each unit of a feature whose mean square is one half."""
ROWS = 1024
"""Rows of a product, always so many: in products of other sizes sums may be rounded in another way."""
COLUMNS = 256
"""Columns of Ω at a time, so that memory stays bounded; also rows of elementwise work, for the cache."""
SPARSE = 8.0
"""How many dense multiplications take the time of one sparse one."""
PARTS, SMALL = 8, 2**14
"""Pieces of a product with the graph that are computed side by side, and the entries from which that pays."""
REMEMBERED = 2**26
"""So many entries of Ω are drawn once; larger ones are drawn again each time, so that memory stays bounded."""


class HopFeatures:
    """The map from a graph to φ, for several sets of hops; it is made of a seed and needs nothing else."""

    def __init__(self, hops: Sequence[HopSet], width: int, seed: int):
        self.hops = tuple(hops)
        self.sums = [beside(one) for one in self.hops]
        self.width = width
        self.seed = seed
        self._drawn: dict[tuple[int, int], NDArray[np.float32]] = {}
        self._on_disk = Remembered()
        self.reach = max(hop for sums in self.sums for one in sums for hop in one)

    def __call__(self, graph: Graph, rows: NDArray[np.int64]) -> Codes:
        """φ of some rows of a graph."""
        return self.on(graph)(rows)

    def on(self, graph: Graph) -> "OnGraph":
        """The map on one graph, from rows to φ: what they share is computed once."""
        if graph.features is None:
            raise DataError("features are wanted, got a graph without them instead; derive some from the graph")
        if is_on_disk(graph):
            return self._late_on_disk(graph)
        step, features = propagation(graph), _denser(graph.features)
        if isinstance(features, np.ndarray) and self._cheaper_late(graph, step.nnz):
            return _Late(self, _hops(step, features, self.reach))
        return _Early(self, step, features)

    def _late_on_disk(self, graph: Graph) -> "_Late":
        return _Late(self, self.hops_on_disk(graph))

    def hops_on_disk(self, graph: Graph) -> list[Any]:
        """X, ÂX, … of a graph on disk: one pass over it for each hop, which goes to disk where it is large."""
        adjacency = disk_adjacency(graph)
        steps, hops = self._on_disk.of(adjacency, lambda: (DiskSteps(adjacency), [graph.features]))
        while len(hops) <= self.reach:
            hops.append(steps.times(hops[-1]))
        known: list[Any] = hops
        return known

    def only(self, index: int) -> "HopFeatures":
        """The same map for one of its sets of hops."""
        one = HopFeatures([self.hops[index]], self.width, self.seed)
        one._drawn, one._on_disk = self._drawn, self._on_disk
        return one

    def omega(self, n_features: int, index: int) -> NDArray[np.float32]:
        """Block `index` of the columns of Ω: from the seed, or as it was drawn before."""
        known = self._drawn.get((n_features, index))
        if known is None:
            rng = numpy_generator(self.seed, Purpose.PARAMETERS, index)
            known = rng.standard_normal((n_features, COLUMNS), dtype=np.float32)
            if n_features * self.width <= REMEMBERED:
                self._drawn[n_features, index] = known
        return known[:, : self.width - index * COLUMNS]

    def shift(self, place: int, count: int) -> int:
        """How many columns further on Ω begins for one of so many sums side by side."""
        return place * self.width // count

    def stacked(self, n_features: int, count: int) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """The columns of the Ω of so many sums side by side, one above the other, some at a time."""
        for columns, omega in self.blocks(n_features):
            moved = [self._moved(n_features, columns, self.shift(place, count)) for place in range(1, count)]
            yield columns, np.concatenate([omega, *moved]) if moved else omega

    def _moved(self, n_features: int, columns: slice, shift: int) -> NDArray[np.float32]:
        """Columns of Ω, so many further on; after the last comes the first."""
        wanted = (np.arange(columns.start, columns.stop) + shift) % self.width
        found = np.empty((n_features, len(wanted)), dtype=np.float32)
        for index in np.unique(wanted // COLUMNS).tolist():
            here = wanted // COLUMNS == index
            found[:, here] = self.omega(n_features, index)[:, wanted[here] % COLUMNS]
        return found

    def blocks(self, n_features: int) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """The columns of Ω, some at a time."""
        for index, start in enumerate(range(0, self.width, COLUMNS)):
            yield slice(start, min(start + COLUMNS, self.width)), self.omega(n_features, index)

    def _cheaper_late(self, graph: Graph, entries: int) -> bool:
        """Whether to propagate the features and then multiply by Ω, rather than the other way round."""
        width, n_features, n = self.width, graph.n_features, graph.n_nodes
        early = n * n_features * width + SPARSE * self.reach * entries * width
        late = SPARSE * self.reach * entries * n_features + n * n_features * (width + (self.reach + 1) * n_features)
        return late < early


class OnGraph(ABC):
    """The map on one graph."""

    at_once: ClassVar[int]
    """Rows whose φ are computed at a time where there are many."""

    def in_blocks(self, rows: NDArray[np.int64]) -> Iterator[tuple[slice, Codes]]:
        """φ of many rows, some at a time, so that memory stays bounded; the slices say which."""
        at_once = self.within_budget
        for start in range(0, len(rows), at_once):
            here = slice(start, start + at_once)
            yield here, self(rows[here])

    @property
    def within_budget(self) -> int:
        """How many rows that is here."""
        return self.at_once

    def times(self, rows: NDArray[np.int64], columns: NDArray[Any]) -> NDArray[Any]:
        """φ of the first set of hops, times a matrix of floats: (rows, columns)."""
        found = [codes[0].astype(columns.dtype) @ columns for _, codes in self.in_blocks(rows)]
        return np.concatenate([np.zeros((0, columns.shape[1]), dtype=columns.dtype), *found])

    @abstractmethod
    def only(self, index: int) -> "OnGraph":
        """The same for one of the sets of hops."""

    @abstractmethod
    def __call__(self, rows: NDArray[np.int64]) -> Codes:
        """φ of some rows."""


class _Early(OnGraph):
    """First Ω, then the hops, for wide or sparse features; each call passes over the whole graph."""

    at_once = 65_536

    def __init__(self, features: HopFeatures, step: sparse.csr_array, inputs: Any):
        self.map = features
        self.step = step
        self.inputs = inputs

    def only(self, index: int) -> "_Early":
        return _Early(self.map.only(index), self.step, self.inputs)

    def __call__(self, rows: NDArray[np.int64]) -> Codes:
        own = self.map
        values = [np.empty((len(rows), own.width), dtype=np.float32) for _ in range(own.reach + 1)]
        last = self.step[rows]  # the last hop is needed nowhere else

        def fill(index: int) -> None:
            omega = own.omega(self.inputs.shape[1], index)
            columns = slice(index * COLUMNS, index * COLUMNS + omega.shape[1])
            block = np.asarray(self.inputs @ omega)
            values[0][:, columns] = block[rows]
            for value in values[1:-1]:
                block = self.step @ block
                value[:, columns] = block[rows]
            if own.reach:
                values[-1][:, columns] = last @ block

        in_threads(fill, range(-(-own.width // COLUMNS)))
        codes = np.empty((len(own.hops), len(rows), own.width), dtype=np.uint8)

        def encode(start: int) -> None:
            here = slice(start, start + COLUMNS)
            scaled = [value[here] * _inverse_lengths(value[here]) for value in values]
            for code, sums in zip(codes, own.sums, strict=True):
                total = np.zeros_like(scaled[0])
                for place, hops in enumerate(sums):
                    part = sum((scaled[hop] for hop in hops[1:]), scaled[hops[0]])
                    total += np.roll(part, -own.shift(place, len(sums)), axis=1) if place else part
                total *= _inverse_lengths(total) * np.float32(STEP * np.sqrt(own.width))
                np.clip(total, 0, TOP, out=total)
                code[here] = np.rint(total, out=total)

        in_threads(encode, range(0, len(rows), COLUMNS))
        return codes


class _Late(OnGraph):
    """First the hops, then Ω, for few features: ‖Ωᵀx‖² = xᵀ ΩΩᵀ x, and u = Ωᵀ Σ_h x_h / ‖Ωᵀx_h‖ is one product."""

    at_once = 16_384

    def __init__(self, features: HopFeatures, hops: list[Any]):
        """hops: X, ÂX, …, each of which gives rows when it is asked for them."""
        self.map = features
        self.hops = hops

    def only(self, index: int) -> "_Late":
        return _Late(self.map.only(index), self.hops)

    @property
    def within_budget(self) -> int:
        """Fewer where the budget of memory is small, of which their φ take an eighth: a few whole products."""
        most = current_budget().memory // 8 // (len(self.map.hops) * self.map.width)
        return min(self.at_once, max(most // ROWS, 1) * ROWS)

    @cached_property
    def gram(self) -> NDArray[np.float64]:
        """ΩΩᵀ."""
        n_features = self.hops[0].shape[1]
        total = np.zeros((n_features, n_features))
        for _, omega in self.map.blocks(n_features):
            wide = omega.astype(np.float64)
            total += wide @ wide.T
        return total

    def __call__(self, rows: NDArray[np.int64]) -> Codes:
        own = self.map
        codes = np.empty((len(own.hops), len(rows), own.width), dtype=np.uint8)

        def fill(start: int) -> None:
            block = rows[start : start + ROWS]
            for code, inputs in zip(codes, self._inputs(block, own.sums), strict=True):
                for here, values in self._values(inputs):
                    code[start : start + ROWS, here] = values[: len(block)]

        in_threads(fill, range(0, len(rows), ROWS))
        return codes

    def times(self, rows: NDArray[np.int64], columns: NDArray[Any]) -> NDArray[Any]:
        found = np.zeros((len(rows), columns.shape[1]), dtype=columns.dtype)

        def fill(start: int) -> None:
            part = found[start : start + ROWS]
            (inputs,) = self._inputs(rows[start : start + ROWS], self.map.sums[:1])
            for here, values in self._values(inputs):  # which never become bytes, nor a wide block
                part += values[: len(part)] @ columns[here]

        in_threads(fill, range(0, len(rows), ROWS))
        return found

    def _inputs(self, block: NDArray[np.int64], sets: Sequence[Sequence[HopSum]]) -> list[NDArray[np.float32]]:
        """For each set of hops what Ω multiplies: rows with their scale, and zeros up to ROWS.

        Where sums stand side by side their rows do, too, and the scale of the whole is left to `_values`.
        """
        every = {hop for sums in sets for hops in sums for hop in hops}
        scaled = {hop: self._scaled(self._filled(hop, block)) for hop in every}
        found = []
        for sums in sets:
            parts = [sum((scaled[hop] for hop in hops[1:]), scaled[hops[0]]) for hops in sums]
            total = np.concatenate(parts, axis=1) if len(parts) > 1 else self._scaled(parts[0])
            found.append((total * (STEP * np.sqrt(self.map.width))).astype(np.float32))
        return found

    def _filled(self, hop: int, block: NDArray[np.int64]) -> NDArray[np.float64]:
        """Rows of a hop, and zeros up to ROWS."""
        filled = np.zeros((ROWS, self.hops[hop].shape[1]))
        filled[: len(block)] = self.hops[hop][block]
        return filled

    def _scaled(self, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """x / ‖Ωᵀx‖; 0 where that is 0."""
        squares = np.maximum(np.einsum("ij,ij->i", inputs @ self.gram, inputs), 0)[:, None]
        return np.asarray(np.divide(inputs, np.sqrt(squares), out=np.zeros_like(inputs), where=squares > 0))

    def _values(self, inputs: NDArray[np.float32]) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """φ of what `_inputs` gives, some columns at a time, as floats."""
        n_features = self.hops[0].shape[1]
        count = inputs.shape[1] // n_features
        products = ((here, row_product(inputs, omega)) for here, omega in self.map.stacked(n_features, count))
        for columns, values in products if count == 1 else self._in_scale(products):
            np.clip(values, 0, TOP, out=values)
            np.rint(values, out=values)
            yield columns, values

    def _in_scale(
        self, products: Iterator[tuple[slice, NDArray[np.float32]]]
    ) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """All columns of a product at once, as long as those of the others."""
        values = np.concatenate([product for _, product in products], axis=1)
        values *= _inverse_lengths(values) * np.float32(STEP * np.sqrt(self.map.width))
        yield slice(0, self.map.width), values


def beside(hops: HopSet) -> tuple[HopSum, ...]:
    """The sums that stand side by side in a set of hops; one where hops are only added up."""
    sums = tuple(one for one in hops if isinstance(one, tuple))
    return sums or (tuple(one for one in hops if isinstance(one, int)),)


def on_hops(features: HopFeatures, hops: list[Any]) -> OnGraph:
    """The map on a graph whose X, ÂX, … are known."""
    return _Late(features, hops)


def propagation(graph: Graph) -> sparse.csr_array:
    """Â: what one hop does, from every node's neighbours and itself."""
    incoming = sparse.csr_array(graph.adjacency.T) if graph.directed else graph.adjacency
    loops = sparse.csr_array(incoming + sparse.eye_array(graph.n_nodes, dtype=np.float32))
    received = np.asarray(loops.sum(axis=1)) ** -0.5
    sent = np.asarray(loops.sum(axis=0)) ** -0.5 if graph.directed else received
    data = loops.data * np.repeat(received, np.diff(loops.indptr)) * sent[loops.indices]
    return sparse.csr_array((data.astype(np.float32), loops.indices, loops.indptr), shape=loops.shape)


def _hops(step: sparse.csr_array, first: NDArray[np.float32], reach: int) -> list[NDArray[np.float32]]:
    hops = [first]
    parts = _row_parts(step)
    for _ in range(reach):
        hops.append(np.concatenate(in_threads(lambda part: part @ hops[-1], parts)))
    return hops


def _row_parts(matrix: sparse.csr_array) -> list[sparse.csr_array]:
    """A large matrix cut into PARTS by rows, with about as many entries each; a small one as it is."""
    if matrix.nnz < PARTS * SMALL:
        return [matrix]
    ends = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, PARTS + 1)[1:-1])
    bounds = [0, *ends.tolist(), matrix.shape[0]]
    return [matrix[start:end] for start, end in pairwise(bounds)]


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
    features: Any = graph.features
    if sparse.issparse(features):
        return np.concatenate(in_threads(_row_hashes, _row_parts(features)))
    found = np.empty(graph.n_nodes, dtype=np.uint64)

    def fill(part: slice) -> None:
        found[part] = _row_hashes(sparse.csr_array(features[part]))

    in_threads(fill, row_blocks(features))
    return found


def _row_hashes(matrix: sparse.csr_array) -> NDArray[np.uint64]:
    bits = matrix.data.astype(np.float32).view(np.uint32).astype(np.uint64)
    words = mixed(bits ^ (matrix.indices.astype(np.uint64) << np.uint64(32)))
    ends = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(words, dtype=np.uint64)])
    return mixed(ends[matrix.indptr[1:]] - ends[matrix.indptr[:-1]])
