"""Draws docs/demo.png from the runs of `make demo`: forgetting without and with replay.

python docs/draw_demo.py runs docs/demo.png

Beside it demo-narrow.png, for phones, with the matrices below each other.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from evergraph.report.plots import draw_matrix
from evergraph.results.summary import summarise
from evergraph.runs.store import RunStore

SHOWN = {"finetune": "Fine-tune", "ftf-er-det": "FTF-ER, deterministic", "ftf-er-prob": "FTF-ER, probabilistic"}


def draw(runs: Path, target: Path, *, narrow: bool) -> None:
    """The matrices beside each other, or below each other; as wide as a page, so that text has its size."""
    figure = Figure(figsize=(3.9, 11.4) if narrow else (9, 3.7), layout="constrained")
    panels = figure.subplots(*((len(SHOWN), 1) if narrow else (1, len(SHOWN))))
    for axes, (name, heading) in zip(panels, SHOWN.items(), strict=True):
        (folder,) = runs.glob(f"digits-{name}-gcn-seed0-????????")
        summary = summarise(RunStore(folder).record())
        matrix = np.array(summary.matrix, dtype=np.float64)
        draw_matrix(axes, matrix, f"{heading}\nAA {summary.aa:.1f} %, AF {summary.af:.1f} %")
    figure.savefig(target, dpi=150)


def main() -> None:
    runs, target = Path(sys.argv[1]), Path(sys.argv[2])
    draw(runs, target, narrow=False)
    draw(runs, target.with_stem(f"{target.stem}-narrow"), narrow=True)


if __name__ == "__main__":
    main()
