"""Where nodes are drawn: springs along edges, repulsion between all nodes (Fruchterman and Reingold, 1991)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.seeding import Purpose, numpy_generator

MOST_NODES, MOST_EDGES = 2_000, 8_000
STEPS, SMOOTHINGS = 40, 40
PULL = 3.0
"""To the middle; a node alone stays at 1/√PULL from it, where all others together push as much."""
NEAREST = np.float32(1e-6)
"""The least square of a distance, so that nodes at one place do not fly apart."""
SEED = 0


@dataclass(frozen=True)
class Drawing:
    """nodes: (m,) the rows that are drawn. places: (m, 2) in [0, 1]. edges: (k, 2) positions in `nodes`.

    remarks: what is not drawn.
    """

    nodes: NDArray[np.int64]
    places: NDArray[np.float64]
    edges: NDArray[np.int64]
    remarks: tuple[str, ...]


def drawing(adjacency: sparse.csr_array) -> Drawing:
    """At most MOST_NODES nodes, those with the most edges, and at most MOST_EDGES edges among them."""
    n_nodes = int(adjacency.shape[0])
    links = sparse.csr_array(abs(adjacency) + abs(adjacency).T)
    links.eliminate_zeros()
    nodes = np.arange(n_nodes)
    remarks = []
    if n_nodes > MOST_NODES:
        nodes = np.sort(np.argsort(-np.diff(links.indptr), kind="stable")[:MOST_NODES])
        links = sparse.csr_array(links[nodes][:, nodes])
        remarks.append(f"{MOST_NODES:,} of {n_nodes:,} nodes are drawn, those with the most edges")
    edges = np.stack(sparse.triu(links, k=1).nonzero(), axis=1).astype(np.int64)
    if len(edges) > MOST_EDGES:
        remarks.append(f"{MOST_EDGES:,} of the {len(edges):,} edges between them are drawn")
        chosen = numpy_generator(SEED, Purpose.SELECTION, 1).choice(len(edges), MOST_EDGES, replace=False)
        shown = edges[np.sort(chosen)]
    else:
        shown = edges
    return Drawing(nodes, places(len(nodes), edges), shown, tuple(remarks))


def places(n_nodes: int, edges: NDArray[np.int64], seed: int = SEED) -> NDArray[np.float64]:
    """(n, 2) in [0, 1]. With k = 1/√n, nodes at distance d repel by k²/d and edges pull by d²/k.

    All nodes are pulled to the middle, so that single ones stay near; the longest move shrinks from step to step.
    """
    if n_nodes < 2:
        return np.full((n_nodes, 2), 0.5)
    x = _smooth(numpy_generator(seed, Purpose.SELECTION, 0).random((n_nodes, 2)), edges)
    k = 1 / np.sqrt(n_nodes)
    for longest in np.linspace(0.1, 0.002, STEPS):
        force = k**2 * _repulsion(x) - _attraction(x, edges) / k - PULL * (x - 0.5)
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-12)
        x = x + force / length * np.minimum(length, longest)
    x -= x.min(axis=0)
    return np.asarray(x / np.maximum(x.max(), 1e-12) + (1 - x.max(axis=0) / np.maximum(x.max(), 1e-12)) / 2)


def _smooth(x: NDArray[np.float64], edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """A start near the final places: random numbers, averaged over neighbours again and again, kept apart by QR."""
    n_nodes = len(x)
    ends = np.concatenate([edges, edges[:, ::-1]])
    links = sparse.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes))
    degree = np.asarray(links.sum(axis=1))[:, None]
    smooth = x - x.mean(axis=0)
    for _ in range(SMOOTHINGS):
        smooth = (smooth + links @ smooth) / (1 + degree)
        smooth = np.linalg.qr(smooth - smooth.mean(axis=0))[0]
    return np.asarray(0.1 * x + 0.4 + 0.2 * smooth * np.sqrt(n_nodes))


def _repulsion(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_j (x_i - x_j) / |x_i - x_j|², by two products with the matrix of weights, in float32."""
    narrow = (x - x.mean(axis=0)).astype(np.float32)
    squares = np.square(narrow).sum(axis=1)
    weights = narrow @ (-2 * narrow.T)
    weights += squares
    weights += squares[:, None]
    np.maximum(weights, NEAREST, out=weights)
    np.reciprocal(weights, out=weights)
    np.fill_diagonal(weights, 0.0)
    return np.asarray(narrow * weights.sum(axis=1, keepdims=True) - weights @ narrow, dtype=np.float64)


def _attraction(x: NDArray[np.float64], edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Σ_j |x_i - x_j| (x_i - x_j) over the edges of each node."""
    apart = x[edges[:, 0]] - x[edges[:, 1]]
    pull = apart * np.linalg.norm(apart, axis=1, keepdims=True)
    ends = np.concatenate([edges[:, 0], edges[:, 1]])
    both = np.concatenate([pull, -pull])
    sums = [np.bincount(ends, weights=both[:, axis], minlength=len(x)) for axis in (0, 1)]
    return np.stack(sums, axis=1)
