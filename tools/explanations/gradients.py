"""A picture of merged neighbours: those with the same active units become one sum."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from explanations.style import BLUE, GREEN, INK, ORANGE, PAPER, SOFT, arrow, bare, figure, nodes, svg

UNITS = np.array([[1, 0, 1, 1], [0, 1, 1, 0], [1, 0, 1, 1], [1, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0]], dtype=bool)
"""Which of four hidden units are active in each of six neighbours."""
PALETTE = (ORANGE, BLUE, GREEN)


def merging() -> str:
    """Six neighbours with their active units, and the three sums that they make."""
    patterns, group = np.unique(UNITS, axis=0, return_inverse=True)
    order = np.argsort([-np.count_nonzero(group == at) for at in range(len(patterns))], kind="stable")
    rank = np.argsort(order)[group.ravel()]
    made, (before, after) = figure(9.6, 4.2, 2)
    _star(before, "six neighbours and their active units", UNITS, rank, [f"u{at + 1}" for at in range(len(UNITS))])
    members = [" + ".join(f"p{at + 1}" for at in np.flatnonzero(rank == place)) for place in range(len(order))]
    _star(after, "three sums", patterns[order], np.arange(len(order)), ["Σ"] * 3, members)
    return svg(made)


def _star(
    axes: Axes,
    title: str,
    units: NDArray[np.bool_],
    rank: NDArray[np.int64],
    names: list[str],
    below: list[str] | None = None,
) -> None:
    bare(axes, title)
    count = len(units)
    heights = np.linspace(2.2, 0, count)
    places = np.stack([np.full(count, 1.6), heights], axis=1)
    centre = np.array([0.0, 1.1])
    for place in places:
        arrow(axes, place, centre)
    colours = [PALETTE[at] for at in rank]
    nodes(axes, np.vstack([centre, places]), [INK, *colours], ["i", *names], "#ffffff")
    for at, (place, active) in enumerate(zip(places, units, strict=True)):
        for unit, on in enumerate(active):
            corner = (place[0] + 0.32 + 0.2 * unit, place[1] - 0.09)
            face = colours[at] if on else PAPER
            axes.add_patch(Rectangle(corner, 0.18, 0.18, facecolor=face, edgecolor=SOFT, lw=1))
        if below:
            axes.text(place[0] + 1.25, place[1], below[at], va="center", fontsize=12)
    axes.set_xlim(-0.4, 3.4)
    axes.set_ylim(-0.35, 2.55)
