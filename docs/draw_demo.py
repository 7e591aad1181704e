"""Draws docs/demo.png from the runs of `make demo`: forgetting without and with replay.

python docs/draw_demo.py runs docs/demo.png
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from evergraph.report.plots import draw_matrix
from evergraph.results.summary import summarise
from evergraph.runs.store import RunStore

SHOWN = {"finetune": "Fine-tune", "ftf-er-det": "FTF-ER, deterministic", "ftf-er-prob": "FTF-ER, probabilistic"}


def main() -> None:
    runs, target = Path(sys.argv[1]), Path(sys.argv[2])
    figure = Figure(figsize=(12, 4.4), layout="constrained")
    for axes, (name, heading) in zip(figure.subplots(1, len(SHOWN)), SHOWN.items(), strict=True):
        (folder,) = runs.glob(f"digits-{name}-gcn-seed0-????????")
        summary = summarise(RunStore(folder).record())
        matrix = np.array(summary.matrix, dtype=np.float64)
        draw_matrix(axes, matrix, f"{heading}: AA {summary.aa:.1f} %, AF {summary.af:.1f} %")
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    main()
