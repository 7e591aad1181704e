"""Accuracy over what it costs: every method a point, over the bytes that it keeps and over its seconds."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evergraph.files import make_folder
from evergraph.report.plots import ACCENT, FAINT, INK, write_picture
from evergraph.results.frontier import frontier

COSTS = (("kept_bytes", "kept of the past, bytes", 1000), ("seconds", "time, s", 1))
"""Key, label and the cost up to which an axis is linear."""


def write_frontier(methods: Sequence[Mapping[str, Any]], path: Path, heading: str) -> Path:
    """Draw `aa` of methods over `kept_bytes` and `seconds`, and return the path of the picture."""
    make_folder(path.parent)
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    draw_frontier(figure, methods, heading)
    write_picture(path, figure)
    return path


def draw_frontier(figure: Figure, methods: Sequence[Mapping[str, Any]], heading: str) -> None:
    """Draw the same into a figure, for example one of pyplot in a notebook.

    A method with `needs_all_data` is a bound: a line, no point.
    """
    figure.suptitle(f"{heading}: AA on validation nodes in the whole graph", x=0.01, ha="left", color=INK)
    for axes, (cost, label, linear) in zip(figure.subplots(1, 2), COSTS, strict=True):
        axes.set_xscale("symlog", linthresh=linear)
        _draw(axes, [one for one in methods if not one["needs_all_data"]], cost)
        for bound in (one for one in methods if one["needs_all_data"]):
            axes.axhline(bound["aa"], color=INK, linewidth=1, linestyle="--")
            text = f"{bound['method']} (needs all data)"
            axes.text(0.99, bound["aa"], text, ha="right", va="bottom", transform=axes.get_yaxis_transform())
        axes.set_xlabel(label, color=INK)
        axes.set_ylabel("AA, %", color=INK)


def _draw(axes: Axes, methods: Sequence[Mapping[str, Any]], cost: str) -> None:
    """One panel; the line joins the methods that no other beats in both accuracy and cost."""
    best = frontier([(float(one[cost]), float(one["aa"])) for one in methods])
    axes.step(*zip(*best, strict=True), where="post", color=ACCENT, linewidth=1.2) if best else None
    for one in methods:
        place = (float(one[cost]), float(one["aa"]))
        axes.plot(*place, marker="o", color=ACCENT if place in best else INK)
        axes.annotate(one["method"], place, xytext=(5, 4), textcoords="offset points", fontsize=8, color=INK)
    axes.margins(0.12, 0.12)
    axes.grid(color=FAINT, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, length=0)
