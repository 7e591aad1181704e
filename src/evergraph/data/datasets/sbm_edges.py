"""Drawing the edges of a degree-corrected block model in chunks, each edge once and none from a node to itself.

Pairs of nodes are drawn with probability proportional to the product of their degree weights; a pair that was drawn
before is drawn anew. Edges are kept as one sorted array of 64-bit keys row * n + column, 8 bytes an edge.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import csr
from evergraph.errors import ConfigError

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class BlockModel:
    """Nodes sorted by class, each with a weight; `cumulated[i]` is the weight of all nodes before node i."""

    starts: Ids
    node_class: Ids
    weight: NDArray[np.float64]
    cumulated: NDArray[np.float64]
    directed: bool

    @property
    def n(self) -> int:
        return len(self.weight)

    def keys(self, u: Ids, v: Ids) -> Ids:
        """One number per pair; an undirected pair has the same number both ways."""
        return u * self.n + v if self.directed else np.minimum(u, v) * self.n + np.maximum(u, v)


def draw_edges(model: BlockModel, total: int, inside: int, rng: np.random.Generator, chunk: int) -> Ids:
    """The sorted keys of `total` edges, `inside` of them inside the classes, the others between two."""
    keys = np.concatenate([_draw(model, inside, True, rng, chunk), _draw(model, total - inside, False, rng, chunk)])
    keys.sort()
    return keys


def _room(model: BlockModel, inside: bool) -> int:
    """The number of different pairs inside the classes, or between two of them."""
    sizes = np.diff(model.starts)
    ordered = int((sizes * (sizes - 1)).sum())
    return (ordered if inside else model.n * (model.n - 1) - ordered) // (1 if model.directed else 2)


def _draw(model: BlockModel, wanted: int, inside: bool, rng: np.random.Generator, chunk: int) -> Ids:
    """`wanted` different pairs by weight: by repeated draws, or from a list of all pairs where many are wanted."""
    room = _room(model, inside)
    if wanted > room:
        raise ConfigError(
            f"sbm has room for {room} edges {'inside' if inside else 'between'} its classes, got a request for "
            f"{wanted} instead; ask for more nodes, a lower mean_degree or another homophily"
        )
    if wanted > room // 4:
        return _draw_from_all(model, wanted, inside, rng)
    pairs = _sampler(model, inside)
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < wanted:
        fresh = np.empty(wanted - len(keys), dtype=np.int64)
        filled = 0
        for start in range(0, len(fresh), chunk):
            drawn = pairs(rng.random((min(chunk, len(fresh) - start), 2)))
            fresh[filled : filled + len(drawn)] = drawn
            filled += len(drawn)
        keys = _merged(keys, fresh[:filled])
    return keys


def _merged(keys: Ids, fresh: Ids) -> Ids:
    """The sorted union of sorted different keys and of new ones in any order."""
    fresh.sort()
    fresh = fresh[np.diff(fresh, prepend=-1) != 0]
    if not len(keys):
        return fresh
    slot = np.searchsorted(keys, fresh)
    new = keys[np.minimum(slot, len(keys) - 1)] != fresh
    return np.insert(keys, slot[new], fresh[new])


def _at(cumulated: NDArray[np.float64], points: NDArray[np.float64]) -> Ids:
    """The node whose interval of the cumulated weight contains each point."""
    return np.minimum(np.searchsorted(cumulated[1:], points, side="right"), len(cumulated) - 2)


def _sampler(model: BlockModel, inside: bool) -> Callable[[NDArray[np.float64]], Ids]:
    """A function from pairs of uniform numbers to the keys of pairs of nodes inside a class, or of two classes.

    Nothing is rejected but pairs of a node with itself.
    """
    low, mass = model.cumulated[model.starts[:-1]], np.diff(model.cumulated[model.starts])
    rest = model.cumulated[-1] - mass
    between = np.concatenate([[0.0], np.cumsum(model.weight * rest[model.node_class])])
    first = model.cumulated if inside else between

    def pairs(uniform: NDArray[np.float64]) -> Ids:
        u = _at(first, uniform[:, 0] * first[-1])
        own = model.node_class[u]
        if inside:
            point = low[own] + uniform[:, 1] * mass[own]
        else:
            point = uniform[:, 1] * rest[own]
            point += np.where(point >= low[own], mass[own], 0.0)
        v = _at(model.cumulated, point)
        fits = ((model.node_class[v] == own) == inside) & (u != v)
        return model.keys(u[fits], v[fits])

    return pairs


def _draw_from_all(model: BlockModel, wanted: int, inside: bool, rng: np.random.Generator) -> Ids:
    """The same distribution as repeated draws: the `wanted` smallest of exponential numbers over pair weights."""
    sizes = np.diff(model.starts)
    blocks = zip(model.starts[:-1], sizes, strict=True) if inside else [(0, model.n)]
    keys: list[Ids] = []
    times: list[NDArray[np.float64]] = []
    for start, size in blocks:
        u, v = np.divmod(np.arange(size * size), size) if model.directed else np.triu_indices(size, 1)
        fits = u != v if inside else model.node_class[u] != model.node_class[v]
        u, v = u[fits] + start, v[fits] + start
        mass = model.weight[u] * model.weight[v]
        if inside and len(mass):
            mass /= model.weight[start : start + size].sum()
        keys.append(model.keys(u, v))
        times.append(rng.standard_exponential(len(mass)) / mass)
    chosen = np.argsort(np.concatenate(times), kind="stable")[:wanted]
    return np.sort(np.concatenate(keys)[chosen])


def adjacency_from_keys(keys: Ids, place: Ids, directed: bool, chunk: int) -> sparse.csr_array:
    """CSR rows straight from the sorted keys, after every node has moved to its random place."""
    n = len(place)
    entries = np.empty(len(keys) * (1 if directed else 2), dtype=np.int64)
    for start in range(0, len(keys), chunk):
        u, v = np.divmod(keys[start : start + chunk], n)
        u, v = place[u], place[v]
        entries[start : start + len(u)] = u * n + v
        if not directed:
            entries[len(keys) + start : len(keys) + start + len(u)] = v * n + u
    entries.sort()
    indptr = np.searchsorted(entries, np.arange(n + 1) * n)
    columns = np.empty(len(entries), dtype=np.int32)
    for start in range(0, len(entries), chunk):
        columns[start : start + chunk] = entries[start : start + chunk] % n
    del entries
    return csr(np.ones(len(columns), dtype=np.float32), columns, indptr, (n, n))
