"""Accuracy over what it costs: every method a point, over the bytes that it keeps and over its seconds."""

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evergraph.files import make_folder
from evergraph.report.plots import ACCENT, FAINT, INK, write_picture
from evergraph.results.frontier import frontier

COSTS = (("kept_bytes", "kept of the past", 1000, (1,)), ("seconds", "time, s", 1, (1, 2, 5)))
"""Key, label, the cost up to which an axis is linear, and what the powers of ten at its ticks are multiplied by."""
WIDE, HIGH = 70, 10
"""About the size of a name in points: two that are nearer than this would overlap."""


def write_frontier(methods: Sequence[Mapping[str, Any]], path: Path, heading: str, measure: str = "AA") -> Path:
    """Draw `aa` of methods over `kept_bytes` and `seconds`, and return the path of the picture."""
    make_folder(path.parent)
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    draw_frontier(figure, methods, heading, measure)
    write_picture(path, figure)
    return path


def draw_frontier(figure: Figure, methods: Sequence[Mapping[str, Any]], heading: str, measure: str = "AA") -> None:
    """Draw the same into a figure, for example one of pyplot in a notebook.

    A method with `needs_all_data` is a bound: a line, no point.
    """
    figure.suptitle(f"{heading}: {measure} on validation nodes in the whole graph", x=0.01, ha="left", color=INK)
    shown = [one for one in methods if not one["needs_all_data"]]
    for axes, (cost, label, linear, steps) in zip(figure.subplots(1, 2), COSTS, strict=True):
        axes.set_xscale("symlog", linthresh=linear)
        _draw(axes, shown, cost)
        for bound in (one for one in methods if one["needs_all_data"]):
            axes.axhline(bound["aa"], color=INK, linewidth=1, linestyle="--")
            text = f"{bound['method']} (needs all data)"
            axes.text(0.99, bound["aa"], text, ha="right", va="bottom", transform=axes.get_yaxis_transform())
        ticks = _ticks(max((float(one[cost]) for one in shown), default=0.0), linear, steps)
        axes.set_xticks(ticks, [_size(tick) if cost == "kept_bytes" else f"{tick:g}" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlabel(label, color=INK)
        axes.set_ylabel(f"{measure}, %", color=INK)
    figure.draw_without_rendering()  # the layout decides where the points are
    for axes, (cost, *_) in zip(figure.axes, COSTS, strict=True):
        _name(axes, shown, cost)


def _ticks(most: float, linear: float, steps: Sequence[int]) -> list[float]:
    """0, and the steps of each power of ten until the highest cost is reached."""
    ticks, following = [0.0], (float(step * linear * 10**power) for power in count() for step in steps)
    while len(ticks) < 2 or ticks[-1] < most:
        ticks.append(next(following))
    return ticks


def _size(amount: float) -> str:
    """Bytes, in words."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:g} {unit}" if amount else "0"
        amount /= 1000
    return f"{amount:g} TB"


def _draw(axes: Axes, methods: Sequence[Mapping[str, Any]], cost: str) -> None:
    """One panel; the line joins the methods that no other beats in both accuracy and cost."""
    best = frontier([(float(one[cost]), float(one["aa"])) for one in methods])
    axes.step(*zip(*best, strict=True), where="post", color=ACCENT, linewidth=1.2) if best else None
    for one in methods:
        place = (float(one[cost]), float(one["aa"]))
        axes.plot(*place, marker="o", color=ACCENT if place in best else INK)
    axes.margins(0.12, 0.12)
    axes.grid(color=FAINT, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, length=0)


def _name(axes: Axes, methods: Sequence[Mapping[str, Any]], cost: str) -> None:
    """The names beside the points, lower where one would be over another, to the left in the right quarter."""
    points = 72 / axes.figure.dpi
    taken: list[tuple[float, float]] = []
    for one in sorted(methods, key=lambda one: -float(one["aa"])):
        place = (float(one[cost]), float(one["aa"]))
        x, y = points * axes.transData.transform(place)
        down = 0
        while any(abs(x - other) < WIDE and abs(y - down - height) < HIGH for other, height in taken):
            down += 1
        taken.append((x, y - down))
        left = axes.transAxes.inverted().transform((x / points, y / points))[0] > 0.75
        offset, side = ((-6, 4 - down), "right") if left else ((6, 4 - down), "left")
        axes.annotate(
            one["method"], place, xytext=offset, textcoords="offset points", ha=side, fontsize=8, color=INK
        )
