"""Figures of the tables: dots with deviations, and bars."""

from collections.abc import Mapping, Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evergraph.report.plots import ACCENT, FAINT, INK, label_axes
from evergraph.results.groups import Stat

PALETTE = (
    ACCENT, "#e8590c", "#5f3dc4", "#2b8a3e", "#c2255c", "#1864ab", "#a07800", "#495057", "#087f5b", "#862e9c",
)  # fmt: skip
"""Distinguishable colours, the most important first."""
PAPER = "#868e96"
AA_AXIS = "average accuracy (AA), %"


def dots(title: str, labels: Sequence[str], series: Mapping[str, Mapping[str, Stat]]) -> Figure:
    """AA with its deviation: a line for each label, a dot for each series; the paper's is a hollow diamond."""
    shown = {name: values for name, values in series.items() if values}
    figure = Figure(figsize=(8.2, 1.5 + 0.42 * len(labels)), layout="constrained")
    axes = figure.subplots()
    for at, (name, values) in enumerate(shown.items()):
        shift = (at - (len(shown) - 1) / 2) * 0.16
        theirs = name == "paper"
        axes.errorbar(
            [value.mean for value in values.values()],
            [labels.index(label) + shift for label in values],
            xerr=[value.std or 0.0 for value in values.values()],
            fmt="D" if theirs else "o",
            color=PAPER if theirs else PALETTE[at % len(PALETTE)],
            markerfacecolor="white" if theirs else None,
            markersize=6,
            elinewidth=1.4,
            label=name,
        )
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    finish(axes, title, AA_AXIS)
    if shown:
        legend_beside(axes)
    return figure


def legend_beside(axes: Axes) -> None:
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), labelcolor=INK)


def bars(title: str, series: Mapping[str, Mapping[str, float]]) -> Figure:
    """A panel of horizontal bars with their values for each series."""
    rows = max((len(values) for values in series.values()), default=0)
    figure = Figure(figsize=(10.5, 1.6 + 0.4 * rows), layout="constrained")
    panels = figure.subplots(1, len(series), sharey=True)
    for at, (axes, (name, values)) in enumerate(zip(panels, series.items(), strict=True)):
        drawn = axes.barh(list(values), list(values.values()), color=PALETTE[at], height=0.62)
        axes.bar_label(drawn, fmt="{:,.1f}", padding=3, fontsize=9, color=INK)
        axes.margins(x=0.18)
        finish(axes, title if at == 0 else "", name)
    if rows:
        panels[0].invert_yaxis()
    return figure


def finish(axes: Axes, title: str, x_label: str, y_label: str = "", *, grid: Literal["x", "y"] = "x") -> None:
    """The style of all figures of this package."""
    label_axes(axes, title, x_label, y_label)
    axes.grid(axis=grid, color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
