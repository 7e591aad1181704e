"""Accuracy over what it costs: every method a point, over the bytes that it keeps and over its seconds."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evergraph.files import make_folder
from evergraph.report.labels import Box, Canvas, Points
from evergraph.report.plots import ACCENT, FAINT, INK, write_picture
from evergraph.results.frontier import frontier

COSTS = (("kept_bytes", "kept of the past"), ("seconds", "time, s"))
LINEAR = 1000
"""Bytes up to which their axis is linear, so that it has a 0."""
MOST_TICKS = 8
NAME: dict[str, Any] = {
    "fontsize": 8,
    "color": INK,
    "ha": "center",
    "va": "center",
    "parse_math": False,
    "clip_on": False,
}
LEADER: dict[str, Any] = {"arrowstyle": "-", "color": INK, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 3}


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
    bounds = [one for one in methods if one["needs_all_data"]]
    for axes, (cost, label) in zip(figure.subplots(1, 2), COSTS, strict=True):
        in_bytes = cost == "kept_bytes"
        ticks = _scaled(axes, [float(one[cost]) for one in shown], in_bytes=in_bytes)
        _draw(axes, shown, cost)
        for bound in bounds:
            axes.axhline(bound["aa"], color=INK, linewidth=1, linestyle="--")
        axes.set_xticks(ticks, [_size(tick) if in_bytes else _plain(tick) for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlabel(label, color=INK)
        axes.set_ylabel(f"{measure}, %", color=INK)
    figure.draw_without_rendering()  # the layout decides where the points are
    for axes, (cost, _) in zip(figure.axes, COSTS, strict=True):
        _name(axes, shown, bounds, cost)


def _scaled(axes: Axes, costs: Sequence[float], *, in_bytes: bool) -> list[float]:
    """Give an axis of costs its scale; returns ticks from below the least to above the most of them."""
    least, most = min(costs, default=1.0), max(costs, default=1.0)
    if in_bytes:
        axes.set_xscale("symlog", linthresh=LINEAR)
        return [0.0, *_ticks(LINEAR, most, (1,))]
    if least > 0:
        axes.set_xscale("log")
        return _ticks(least, most, (1, 2, 5))
    axes.set_xscale("symlog", linthresh=1)
    return [0.0, *_ticks(1, most, (1, 2, 5))]


def _ticks(least: float, most: float, steps: Sequence[int]) -> list[float]:
    """Steps of powers of ten from below the least to above the most; coarser ones if there are too many."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(max(most, least))) + 2)
    every = [step * 10.0**power for power in powers for step in steps]
    first = max(at for at, tick in enumerate(every) if tick <= least * (1 + 1e-9))
    last = min(at for at, tick in enumerate(every) if tick >= most * (1 - 1e-9))
    ticks = every[first : max(last, first + 1) + 1]
    if len(ticks) > MOST_TICKS and len(steps) > 1:
        return _ticks(least, most, steps[:1])
    return ticks[:: -(-len(ticks) // MOST_TICKS)]


def _plain(number: float) -> str:
    """A number without an exponent."""
    return f"{number:,.0f}" if number >= 1 else np.format_float_positional(number, precision=12, trim="-")


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


def _name(axes: Axes, methods: Sequence[Mapping[str, Any]], bounds: Sequence[Mapping[str, Any]], cost: str) -> None:
    """The names of bounds at their lines, and of methods beside their points."""
    points = 72 / axes.figure.dpi
    inside = Box(*(points * np.asarray(axes.bbox.extents)))
    places = [(float(one[cost]), float(one["aa"])) for one in methods]
    shown = points * axes.transData.transform(places) if places else np.zeros((0, 2))
    corners = np.array(_corners(frontier(places))).reshape(-1, 2)
    lines = [points * axes.transData.transform(corners)] if len(corners) else []
    heights = [points * float(axes.transData.transform((1, bound["aa"]))[1]) for bound in bounds]
    lines += [np.array([[inside.left, height], [inside.right, height]]) for height in heights]
    canvas = Canvas(inside, shown, lines)
    for bound, height in zip(bounds, heights, strict=True):
        text = f"{bound['method']} (needs all data)"
        size = _extent(axes, text)
        x, y = canvas.best(_on_line(inside, height, size), size)
        beside = (float(x) - inside.left, float(y) - height)
        axes.annotate(text, (0, bound["aa"]), beside, ("axes fraction", "data"), "offset points", **NAME)
    for at in sorted(range(len(methods)), key=lambda at: -places[at][1]):
        text = str(methods[at]["method"])
        centre, led = canvas.named(shown[at], _extent(axes, text))
        leader = LEADER if led else None
        x, y = centre - shown[at]
        axes.annotate(text, places[at], (float(x), float(y)), "data", "offset points", arrowprops=leader, **NAME)


def _corners(best: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The line that joins the best methods, by its corners."""
    steps = [((cost, below), (cost, accuracy)) for (_, below), (cost, accuracy) in pairwise(best)]
    return [*best[:1], *(corner for step in steps for corner in step)]


def _extent(axes: Axes, text: str) -> Points:
    """Width and height of a name, with a little room around it."""
    shown = axes.text(0.5, 0.5, text, transform=axes.transAxes, **NAME)
    extent = shown.get_window_extent()
    shown.remove()
    return 72 / axes.figure.dpi * np.array([extent.width, extent.height]) + 1


def _on_line(inside: Box, height: float, size: Points) -> list[tuple[float, Points]]:
    """Places above and below a line, from the right to the left."""
    ends = inside.right - size[0] / 2 - 2, inside.left + size[0] / 2 + 2
    return [
        (at + 0.5 * (side < 0), np.array([x, height + side * (size[1] / 2 + 1.5)]))
        for at, x in enumerate(np.linspace(*ends, 9))
        for side in (1, -1)
    ]
