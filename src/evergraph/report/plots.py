"""The figures of a run: the accuracy matrix as a heat map, and AA after each task."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.text import Text
from numpy.typing import NDArray

from evergraph.files import write_output
from evergraph.results.summary import summarise, title
from evergraph.runs.record import Record

INK, ACCENT, FAINT = "#1f2933", "#0b7285", "#d9dfe4"
COLOURS = "YlGnBu"


def write_figures(record: Record, folder: Path) -> list[Path]:
    """Draw both figures into a folder and return their paths."""
    figures = {"matrix.png": matrix_figure(record), "accuracy.png": curve_figure(record)}
    for name, figure in figures.items():
        write_picture(folder / name, figure)
    return [folder / name for name in figures]


def write_picture(path: Path, figure: Figure, **options: Any) -> None:
    """Write a figure in the format of the suffix, as a whole or not at all; StoreError where that fails.

    A dollar in the name of a data set or a class is a dollar, no formula.
    """
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_parse_math(False)
    write_output(path, lambda place: figure.savefig(place, dpi=160, format=path.suffix[1:], **options))


def matrix_figure(record: Record) -> Figure:
    """Accuracy on each task (column) after learning each task (row)."""
    matrix = np.array(summarise(record).matrix, dtype=np.float64)
    side = min(9.0, 3.2 + 0.36 * len(matrix))
    figure = Figure(figsize=(side + 1.2, side), layout="constrained")
    axes = figure.subplots()
    image = draw_matrix(axes, matrix, title(record))
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    bar.set_label("accuracy, %", color=INK)
    bar.outline.set_visible(False)
    return figure


def draw_matrix(axes: Axes, matrix: NDArray[np.float64], heading: str) -> AxesImage:
    """An accuracy matrix in percent as a heat map, with its values if there is room."""
    size = len(matrix)
    image = axes.imshow(np.ma.masked_invalid(matrix), cmap=COLOURS, vmin=0, vmax=100)
    ticks = range(0, size, max(1, size // 12))
    axes.set_xticks(ticks, [str(k + 1) for k in ticks])
    axes.set_yticks(ticks, [str(k + 1) for k in ticks])
    for (row, column), value in np.ndenumerate(matrix):
        if size <= 12 and not np.isnan(value):
            colour = "white" if value > 55 else INK
            axes.text(column, row, f"{value:.1f}", ha="center", va="center", fontsize=8, color=colour)
    label_axes(axes, heading, "accuracy on task", "after learning task")
    axes.spines[:].set_visible(False)
    return image


def curve_figure(record: Record) -> Figure:
    """AA after each task."""
    curve = summarise(record).aa_curve
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.subplots()
    tasks = range(1, len(curve) + 1)
    axes.plot(tasks, curve, color=ACCENT, marker="o", markersize=5, linewidth=2)
    end = (len(curve), curve[-1])
    axes.annotate(f"{end[1]:.1f}", end, xytext=(0, 9), textcoords="offset points", ha="center", color=ACCENT)
    axes.set_ylim(0, 108)
    axes.set_xticks(list(tasks)[:: max(1, len(curve) // 12)])
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    label_axes(axes, title(record), "tasks learned", "average accuracy (AA), %")
    return figure


def label_axes(axes: Axes, heading: str, x: str, y: str) -> None:
    """Title, axis labels and ticks of all figures."""
    axes.set_title(heading, loc="left", fontsize=11, color=INK)
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    axes.tick_params(colors=INK, length=0)
