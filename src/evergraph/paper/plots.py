"""The figures of the tables: dots with deviations, and bars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evergraph.report.plots import ACCENT, FAINT, INK
from evergraph.results.groups import Stat

PALETTE = (
    ACCENT,
    "#e8590c",
    "#5f3dc4",
    "#2b8a3e",
    "#c2255c",
    "#1864ab",
    "#a07800",
    "#495057",
    "#087f5b",
    "#862e9c",
)
"""Colours that stay apart from each other, the first for what matters most."""
PAPER = "#868e96"


@dataclass(frozen=True)
class Dots:
    """Rows from top to bottom, and for each series a value with its deviation where it has one."""

    title: str
    labels: Sequence[str]
    series: Mapping[str, Mapping[str, Stat]]
    axis: str


def dots(content: Dots) -> Figure:
    """One line for each row, one dot for each series, the paper's as a hollow diamond."""
    shown = {name: values for name, values in content.series.items() if values}
    figure = Figure(figsize=(8.2, 1.5 + 0.42 * len(content.labels)), layout="constrained")
    axes = figure.subplots()
    for at, (name, values) in enumerate(shown.items()):
        shift = (at - (len(shown) - 1) / 2) * 0.16
        heights = [content.labels.index(label) + shift for label in values]
        means = [value.mean for value in values.values()]
        spread = [value.std or 0.0 for value in values.values()]
        theirs = name == "paper"
        axes.errorbar(
            means,
            heights,
            xerr=spread,
            fmt="D" if theirs else "o",
            color=PAPER if theirs else PALETTE[at % len(PALETTE)],
            markerfacecolor="white" if theirs else None,
            markersize=6,
            elinewidth=1.4,
            label=name,
        )
    axes.set_yticks(range(len(content.labels)), content.labels)
    axes.invert_yaxis()
    finish(axes, content.title, content.axis, grid="x")
    if shown:
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), labelcolor=INK)
    return figure


def bars(title: str, series: Mapping[str, Mapping[str, float]]) -> Figure:
    """A panel of horizontal bars for each series, with the values written beside them."""
    rows = max((len(values) for values in series.values()), default=0)
    figure = Figure(figsize=(10.5, 1.6 + 0.4 * rows), layout="constrained")
    panels = figure.subplots(1, len(series), sharey=True)
    for at, (axes, (name, values)) in enumerate(zip(panels, series.items(), strict=True)):
        drawn = axes.barh(list(values), list(values.values()), color=PALETTE[at], height=0.62)
        axes.bar_label(drawn, fmt="{:,.1f}", padding=3, fontsize=9, color=INK)
        axes.margins(x=0.18)
        finish(axes, title if at == 0 else "", name, grid="x")
    if rows:
        panels[0].invert_yaxis()
    return figure


def finish(axes: Axes, title: str, axis: str, *, grid: str) -> None:
    """The look that all figures share."""
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    axes.set_xlabel(axis, color=INK)
    axes.grid(axis="x" if grid == "x" else "y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
    axes.tick_params(colors=INK, length=0)
