"""How the pictures look: a light card, legible in a light and in a dark theme, and the same in every run."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

PAPER, INK, SOFT = "#f7f8fa", "#1d2b36", "#66727d"
BLUE, ORANGE, GREEN, RED = "#1b6ca8", "#bf6516", "#2e8b57", "#b5364b"
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "evergraph",
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 12,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.facecolor": PAPER,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 13,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.constrained_layout.w_pad": 0.15,
    "figure.constrained_layout.h_pad": 0.15,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
}
Places = NDArray[np.float64]
"""(nodes, 2), where each node is drawn."""


NARROW: ContextVar[bool] = ContextVar("narrow", default=False)
PHONE = 4.9
"""The width of a picture for a phone, in inches: there its text has the size of the page's."""


def figure(
    width: float, height: float, columns: int = 1, rows: int = 1, *, panel: float | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure with its panels; for a phone they stand below each other, each `panel` inches high."""
    if NARROW.get():
        each = panel or height / rows * PHONE * columns / width
        width, height, columns, rows = PHONE, each * rows * columns, 1, rows * columns
    made = Figure(figsize=(width, height), layout="constrained")
    return made, list(np.atleast_1d(made.subplots(rows, columns)).flat)


def svg(made: Figure) -> str:
    """A figure as text, without a date or the version of matplotlib."""
    file = io.StringIO()
    made.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


@contextmanager
def styled(narrow: bool = False) -> Iterator[None]:
    """A context in which figures have the settings of these pictures, for a phone or not."""
    token = NARROW.set(narrow)
    try:
        with mpl.rc_context(SETTINGS):
            yield
    finally:
        NARROW.reset(token)


def bare(axes: Axes, title: str) -> None:
    """Axes for a drawing: no ticks, no frame, equal units."""
    axes.set_title(title)
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.margins(0.16)


def arrow(axes: Axes, start: Any, end: Any, colour: str = SOFT, width: float = 1.8, style: str = "-|>") -> None:
    """An edge between two nodes, which ends before their circles."""
    line = {"arrowstyle": style, "color": colour, "lw": width, "shrinkA": 15, "shrinkB": 15}
    axes.annotate("", xy=end, xytext=start, arrowprops=line)


def label(axes: Axes, start: Any, end: Any, text: str, colour: str = INK) -> None:
    """The text of an edge, in its middle."""
    middle = (np.asarray(start) + np.asarray(end)) / 2
    card = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none"}
    axes.text(middle[0], middle[1], text, ha="center", va="center", fontsize=11, color=colour, bbox=card)


def nodes(
    axes: Axes, places: Places, colours: Sequence[Any], texts: Sequence[str], ink: Sequence[str] | str = INK
) -> None:
    """Circles with a text in each."""
    axes.scatter(
        places[:, 0], places[:, 1], s=760, c=list(colours), edgecolors=INK, linewidths=1.2, zorder=3, clip_on=False
    )
    inks = [ink] * len(texts) if isinstance(ink, str) else ink
    for place, text, colour in zip(places, texts, inks, strict=True):
        axes.text(place[0], place[1], text, ha="center", va="center", fontsize=10.5, color=colour, zorder=4)
