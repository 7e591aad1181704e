"""The t-SNE projections of several runs side by side, with the same colour for the same class in all of them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from evergraph.report.palette import light
from evergraph.report.panels import class_names, measures_text, panel_columns
from evergraph.report.plots import INK
from evergraph.results.projection import Projection
from evergraph.results.summary import backbone_of

QUIET, GROUND = "#56636e", "#f7f9fa"
SIDE, HEAD, GAP, EDGE = 4.4, 0.58, 0.4, 0.3
"""Panel, heading above it, gap between panels and outer margin, in inches."""
VECTORS = 5_000
"""Panels with more dots are rasterised in a PDF."""


def projection_figure(projections: Sequence[Projection]) -> Figure:
    """A panel for each projection, in the given order, and a legend of the classes."""
    columns = panel_columns(len(projections))
    rows = math.ceil(len(projections) / columns)
    names = class_names(projections)
    colours = {label: light(at) for at, label in enumerate(names)}
    width = columns * (SIDE + GAP) - GAP + 2 * EDGE
    key_width = 0.45 + 0.08 * max(map(len, names.values()))  # inches of a dot and the longest name
    across = max(1, min(len(names), int((width - 2 * EDGE) / key_width)))
    below = 0.55 + 0.21 * math.ceil(len(names) / across)
    height = rows * (HEAD + SIDE + GAP) - GAP + EDGE + below
    figure = Figure(figsize=(width, height), facecolor="white")
    for at, projection in enumerate(projections):
        left = EDGE + (at % columns) * (SIDE + GAP)
        top = height - EDGE - HEAD - (at // columns) * (HEAD + SIDE + GAP)
        box = (left / width, (top - SIDE) / height, SIDE / width, SIDE / height)
        draw_projection(figure.add_axes(box), projection, colours)
    _legend(figure, names, colours, across)
    return figure


def draw_projection(axes: Axes, projection: Projection, colours: Mapping[int, str]) -> None:
    """One projection; dots are drawn in random order, so that no class covers the others."""
    order = np.random.default_rng(0).permutation(len(projection.labels))
    x, y = np.array(projection.x)[order], np.array(projection.y)[order]
    dots = [colours[projection.labels[at]] for at in order]
    size = min(18.0, max(3.0, 24_000 / len(dots)))
    axes.scatter(x, y, s=size, c=dots, linewidths=0, alpha=0.85, rasterized=len(dots) > VECTORS)
    reach = 0.53 * max(np.ptp(x), np.ptp(y), 1e-9)
    for values, set_limits in ((x, axes.set_xlim), (y, axes.set_ylim)):
        middle = (values.min() + values.max()) / 2
        set_limits(middle - reach, middle + reach)
    axes.set(xticks=[], yticks=[], facecolor=GROUND)
    axes.spines[:].set_visible(False)
    place: dict[str, Any] = {"transform": axes.transAxes, "va": "baseline"}
    backbone = backbone_of(projection.method, projection.backbone)
    heading = f"{projection.method} · {backbone}" if backbone else projection.method
    axes.text(0, 1.075, heading, fontsize=12.5, color=INK, weight="bold", **place)
    axes.text(1, 1.075, projection.nodes, fontsize=9.5, color=QUIET, ha="right", **place)
    axes.text(0, 1.022, measures_text(projection), fontsize=9.5, color=QUIET, **place)


def _legend(figure: Figure, names: Mapping[int, str], colours: Mapping[int, str], across: int) -> None:
    keys = [Line2D([], [], linestyle="", marker="o", markersize=6, color=colours[label]) for label in names]
    legend = figure.legend(
        keys,
        list(names.values()),
        loc="lower center",
        ncols=across,
        title="class",
        fontsize=9.5,
        title_fontsize=9.5,
        frameon=False,
        labelcolor=INK,
        handletextpad=0.1,
        columnspacing=1.2,
    )
    legend.get_title().set_color(QUIET)
