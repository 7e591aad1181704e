"""Pictures of the Hodge potential: a decomposition of a small flow, and what one new edge changes."""

from collections.abc import Iterable

import numpy as np
from matplotlib import colormaps
from scipy.sparse import csr_array

from evergraph.hodge import edge_list, flow_from_matrix, hodge_decomposition, hodge_potential
from explanations.style import BLUE, INK, ORANGE, PAPER, RED, SOFT, Places, arrow, bare, figure, label, nodes, svg

NAMES = "ABCDEF"
CITED = ((0, 1), (1, 2), (2, 0), (1, 3), (3, 4), (4, 5), (2, 5))
"""A directed graph of six nodes: a triangle that goes round, and a longer way beside a shorter one."""
PLACES = np.array([[0.0, 1.0], [1.1, 2.0], [1.1, 0.0], [2.4, 2.0], [3.5, 1.0], [2.4, 0.0]])
TINY, FAINT = 1e-9, "#cdd3d8"
"""Below this an edge has nothing of a part, and is drawn faint."""


def adjacency(edges: Iterable[tuple[int, int]], count: int, *, directed: bool = False) -> csr_array:
    made = np.zeros((count, count))
    for tail, head in edges:
        made[tail, head] = 1
        made[head, tail] = 0 if directed else 1
    return csr_array(made)


def decomposition() -> str:
    """The flow of a small directed graph, what its potential explains of it, and the two parts that are left."""
    graph = adjacency(CITED, len(NAMES))
    directed = adjacency(CITED, len(NAMES), directed=True).toarray()
    parts = hodge_decomposition(graph, flow_from_matrix(graph, csr_array(directed - directed.T)))
    edges = edge_list(graph)
    made, panels = figure(9.6, 6.0, 2, 2)
    titles = ("flow: 1 along each edge", "potential and its gradient", "left: curl part", "left: harmonic part")
    found = (parts.gradient + parts.curl + parts.harmonic, parts.gradient, parts.curl, parts.harmonic)
    for axes, title, part, colour in zip(panels, titles, found, (SOFT, ORANGE, RED, BLUE), strict=True):
        bare(axes, title)
        for tail, head, value in zip(edges.tail, edges.head, part, strict=True):
            ends = (PLACES[tail], PLACES[head]) if value > -TINY else (PLACES[head], PLACES[tail])
            if abs(value) > TINY:
                arrow(axes, *ends, colour)
                label(axes, *ends, f"{abs(value):.2f}".removesuffix(".00"))
            else:
                arrow(axes, *ends, FAINT, style="-")
        if axes is not panels[1]:  # there nodes show their potential
            nodes(axes, PLACES, ["#ffffff"] * len(NAMES), list(NAMES))
    values = parts.potential.value
    shades = colormaps["viridis"]((values - values.min()) / np.ptp(values))
    dark = [INK if shade[:3].mean() > 0.55 else "#ffffff" for shade in shades]
    nodes(panels[1], PLACES, shades, [f"{value:.2f}" for value in values], dark)
    return svg(made)


CHAIN = (*((at, at + 1) for at in range(9)), (0, 2), (1, 3), (5, 7), (6, 8), (6, 9))
NEW = (0, 3)
"""Ten nodes in a chain with a few more edges, and one edge that comes later."""


def reach() -> str:
    """One new edge at the left end: the degree of two nodes changes, and the potential of every node."""
    before, after = adjacency(CHAIN, 10), adjacency((*CHAIN, NEW), 10)
    potential = hodge_potential(after).value - hodge_potential(before).value
    degree = np.diff(after.indptr) - np.diff(before.indptr)
    places = _chain_places()
    made, (drawn, bars) = figure(9.6, 3.4, 2)
    bare(drawn, "a graph, and one new edge")
    for one, other in CHAIN:
        arrow(drawn, places[one], places[other], style="-")
    arrow(drawn, places[NEW[0]], places[NEW[1]], RED, 3.2, "-")
    nodes(drawn, places, ["#ffffff"] * 10, [str(at) for at in range(10)])
    at = np.arange(10)
    bars.bar(at - 0.2, degree, 0.4, color=SOFT, label="degree")
    bars.bar(at + 0.2, potential, 0.4, color=ORANGE, label="Hodge potential")
    bars.axhline(0, color=INK, lw=0.8)
    bars.set_title("change at each node")
    bars.set_xlabel("node")
    bars.set_xticks(at)
    bars.legend(frameon=True, facecolor=PAPER, edgecolor="none")
    return svg(made)


def _chain_places() -> Places:
    at = np.arange(10)
    return np.stack([at * 0.6, 1.7 * (at % 2) + 0.2 * (at // 2 % 2)], axis=1)
