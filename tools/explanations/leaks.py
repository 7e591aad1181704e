"""Pictures of what testing gives away: one test node in two graphs, and both tests of every method."""

import numpy as np
from matplotlib.axes import Axes

from explanations.style import BLUE, INK, NARROW, ORANGE, PAPER, RED, SOFT, arrow, bare, figure, nodes, svg
from explanations.sums import runs

PLACES = np.array([[1.7, 1.0], [0.6, 1.7], [0.3, 0.8], [0.9, 0.1], [2.6, 1.8], [3.1, 1.0], [2.6, 0.2]])
CLASSES = ("?", "a", "b", "a", "c", "c", "d")
EDGES = ((0, 1), (0, 2), (0, 4), (0, 5), (0, 6), (1, 2), (2, 3), (4, 5), (5, 6))
LEFT = (0, 1, 2, 3)
"""A test node, three nodes of classes a and b (task 1), three of classes c and d (task 2)."""


def example() -> str:
    """The test node among all its neighbours, and among those that its task leaves it."""
    made, (whole, task) = figure(9.6, 3.9, 2)
    _graph(whole, "whole graph: what a user has", EDGES, [True] * len(CLASSES))
    kept = [at in LEFT for at in range(len(CLASSES))]
    inside = tuple(edge for edge in EDGES if kept[edge[0]] and kept[edge[1]])
    _graph(task, "task graph: what the test hands over", inside, kept)
    return svg(made)


def _graph(axes: Axes, title: str, edges: tuple[tuple[int, int], ...], kept: list[bool]) -> None:
    bare(axes, title)
    for one, other in EDGES:
        if (one, other) in edges:
            arrow(axes, PLACES[one], PLACES[other], INK if one == 0 else SOFT, 2.4 if one == 0 else 1.6, "-")
    colours = [RED, *[BLUE] * 3, *[ORANGE] * 3]
    shown = [colour if here else PAPER for colour, here in zip(colours, kept, strict=True)]
    inks = ["#ffffff" if here else SOFT for here in kept]
    nodes(axes, PLACES, shown, CLASSES, inks)
    axes.set_xlim(-0.1, 3.5)
    axes.set_ylim(-0.65, 2.2)
    axes.text(0.3, -0.45, "classes of task 1", color=BLUE, fontsize=12, ha="left")
    if all(kept):
        axes.text(3.3, -0.45, "classes of task 2", color=ORANGE, fontsize=12, ha="right")


def figures() -> list[tuple[str, float, float]]:
    """Method, mean global and mean local AA on Amazon Computers, learned in the whole graph; the best last."""
    found = runs("whole-amazon.json")
    names = dict.fromkeys(str(run["config"]["method"]["name"]) for run in found)
    rows = []
    for name in names:
        own = [run for run in found if run["config"]["method"]["name"] == name]
        everywhere, within = (float(np.mean([run[key] for run in own])) for key in ("aa_global", "aa_local"))
        rows.append((name, everywhere, within))
    return sorted(rows, key=lambda row: row[1])


def table() -> str:
    """The same figures for the page, the best first."""
    lines = ["| method | global AA | local AA | local minus global |", "|---|---:|---:|---:|"]
    for name, everywhere, within in reversed(figures()):
        more = round(within - everywhere, 1) + 0.0  # no minus before a zero
        lines.append(f"| `{name}` | {everywhere:.1f} | {within:.1f} | {more:.1f} |")
    return "\n".join(lines)


def both_tests() -> str:
    """Each method twice: tested in the whole graph and in task graphs."""
    rows = figures()
    made, (axes,) = figure(8.6, 6.8, panel=7.2)
    at = np.arange(len(rows))
    tested = np.array([row[1:] for row in rows])
    labels = ["global: whole graph, no task id", "local: each task's own graph"]
    if NARROW.get():
        labels = [label.partition(":")[0] for label in labels]
    axes.hlines(at, *tested.T, color=SOFT, lw=2)
    axes.scatter(tested[:, 0], at, s=80, color=BLUE, zorder=3, label=labels[0])
    axes.scatter(tested[:, 1], at, s=80, color=ORANGE, zorder=3, label=labels[1])
    axes.set_yticks(at, [row[0] for row in rows])
    axes.set_xlabel("average accuracy on Amazon Computers, %")
    axes.set_xlim(0, 100)
    axes.grid(axis="x", color=SOFT, alpha=0.25)
    axes.legend(frameon=True, facecolor=PAPER, edgecolor="none", loc="upper left")
    return svg(made)
