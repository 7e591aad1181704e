"""Pictures of sums: two Gram matrices add up to that of both batches, and what that does to accuracy."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import Normalize
from numpy.typing import NDArray

from evergraph.data.datasets import load_dataset
from evergraph.methods.hop_features import HopFeatures
from explanations.style import BLUE, GREEN, INK, ORANGE, PAPER, RED, SOFT, figure, svg

RESULTS = Path(__file__).parents[2] / "results"
SHOWN = {
    "finetune": ("fine-tune", SOFT),
    "random-replay": ("replay of random nodes", ORANGE),
    "ftf-er-prob": ("FTF-ER", RED),
    "joint": ("joint: all data again", GREEN),
    "analytic": ("analytic: sums", BLUE),
}
WIDTH, SEED = 12, 3


def runs(file: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((RESULTS / file).read_text(encoding="utf-8"))["runs"]
    return found


def mean_matrix(method: str) -> NDArray[np.float64]:
    """Accuracy on each task after each task on the digits in the whole graph, mean over seeds; NaN while unseen."""
    own = [run["matrix_global"] for run in runs("whole-digits.json") if run["config"]["method"]["name"] == method]
    return np.asarray(np.mean([np.array(matrix, dtype=np.float64) for matrix in own], axis=0))


def accuracy() -> str:
    """The first task after each task, and all tasks at the end."""
    made, (first, last) = figure(9.6, 4.0, 2)
    for method, (name, colour) in SHOWN.items():
        matrix = mean_matrix(method)
        tasks = np.arange(1, len(matrix) + 1)
        dash = "--" if method == "joint" else "-"
        first.plot(tasks, matrix[:, 0], dash, marker="o", color=colour, lw=2.4, label=name)
        last.plot(tasks, matrix[-1], dash, marker="o", color=colour, lw=2.4)
    for axes, title, below in (
        (first, "accuracy on the first task, %", "tasks learned"),
        (last, "accuracy at the end, %", "task"),
    ):
        axes.set_title(title)
        axes.set_xlabel(below)
        axes.set_xticks(tasks)
        axes.set_ylim(-4, 104)
    first.legend(frameon=True, facecolor=PAPER, edgecolor="none", loc="center right", bbox_to_anchor=(1, 0.42))
    return svg(made)


def adding() -> str:
    """Gram matrices of the random features φ of digits 0 and 1, of 2 and 3, and of all four."""
    graph = load_dataset("digits")
    features = HopFeatures([(0, 1, 2)], WIDTH, SEED)
    grams = []
    for some in ((0, 1), (2, 3)):
        codes = features(graph, np.flatnonzero(np.isin(graph.labels, some)))[0].astype(np.float64)
        grams.append(codes.T @ codes)
    titles = ("first task: digits 0, 1", "second task: digits 2, 3", "both at once")
    scale = Normalize(0, float((grams[0] + grams[1]).max()))
    made, panels = figure(9.6, 3.4, 3, panel=2.5)
    for axes, gram, title in zip(panels, (*grams, grams[0] + grams[1]), titles, strict=True):
        axes.pcolormesh(gram, cmap="Blues", norm=scale, edgecolors=PAPER, linewidth=0.5)
        axes.set_title(title)
        axes.set_aspect("equal")
        axes.invert_yaxis()
        axes.set_axis_off()
    for axes, sign in ((panels[1], "+"), (panels[2], "=")):
        axes.text(-1.6, WIDTH / 2, sign, fontsize=30, ha="center", va="center", color=INK)
    return svg(made)
