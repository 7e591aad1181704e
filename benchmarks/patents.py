"""The patents, step by step in time, through `evergraph learn` and `evergraph predict`, as a person would use them.

    python benchmarks/patents.py [--steps 10] [--picture docs/patents.png] [--json]

For each step two files are written: all patents known by then, and the citations between them. Of the new patents
60 % have a label, the others never get one. Before a step is learned, the model predicts its new patents; after it,
all patents so far that have no label. "at once" is a model that learns every label in the last files.
The 64 columns of features are derived from the whole citation graph (spectral): patents have none of their own.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph import load_dataset


@dataclass(frozen=True)
class Row:
    """A step: nodes so far; accuracies in %, on its nodes before it is learned and on all unlabelled ones after."""

    step: int
    nodes: int
    learned: int
    new_before: float | None
    so_far: float


class Files:
    """The files of each step."""

    def __init__(self, folder: Path, steps: int, data_dir: Path | None):
        self.folder = folder
        self.graph = load_dataset("patents", data_dir=data_dir)
        assert self.graph.times is not None
        order = np.argsort(self.graph.times, kind="stable")
        self.step = np.empty(self.graph.n_nodes, dtype=np.int64)
        self.step[order] = np.arange(len(order)) * steps // len(order)
        self.labelled = np.random.default_rng(0).random(self.graph.n_nodes) < 0.6

    def write(self, nodes: NDArray[np.bool_], shown: NDArray[np.bool_]) -> list[str]:
        """Files of some nodes and the citations between them, with some labels, as arguments of a command."""
        paths = [self.folder / "nodes.csv", self.folder / "edges.csv"]
        names = [f"spectral {place}" for place in range(self.graph.n_features)]
        features = np.asarray(self.graph.features).round(6).tolist()
        labels = [f"category {label + 1}" for label in self.graph.labels.tolist()]
        rows = ([row, labels[row] if shown[row] else "", *features[row]] for row in np.flatnonzero(nodes).tolist())
        _write(paths[0], ["id", "topic", *names], rows)
        source, target = self.graph.adjacency.nonzero()
        both = nodes[source] & nodes[target] & (source < target)
        _write(paths[1], ["source", "target"], zip(source[both].tolist(), target[both].tolist(), strict=True))
        return ["--nodes", str(paths[0]), "--edges", str(paths[1]), "--label-column", "topic"]


def _write(path: Path, header: list[str], rows: Iterable[Iterable[Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def evergraph(*arguments: str) -> None:
    """One command, as it is typed."""
    subprocess.run([sys.executable, "-m", "evergraph", *arguments], check=True, stdout=subprocess.DEVNULL)


def right(files: Files, model: Path, nodes: NDArray[np.bool_], asked: NDArray[np.bool_]) -> float:
    """The share in % of some nodes that `evergraph predict` gets right in the graph of all nodes so far."""
    out = files.folder / "predictions.csv"
    given = files.write(nodes, np.zeros_like(nodes))
    evergraph("predict", "--model", str(model), *given, "--out", str(out))
    with out.open(newline="", encoding="utf-8") as file:
        answers = {int(row["id"]): row["label"] for row in csv.DictReader(file)}
    rows = np.flatnonzero(asked).tolist()
    hits = [answers[row] == f"category {files.graph.labels[row] + 1}" for row in rows]
    return 100 * float(np.mean(hits))


def measure(folder: Path, steps: int, data_dir: Path | None, more: list[str]) -> tuple[list[Row], float]:
    """All steps, and the accuracy of learning everything at once."""
    files = Files(folder, steps, data_dir)
    model, found = folder / "model", []
    for step in range(steps):
        known, new = files.step <= step, files.step == step
        before = right(files, model, known, new) if step else None
        evergraph("learn", "--model", str(model), *files.write(known, new & files.labelled), *more)
        so_far = right(files, model, known, known & ~files.labelled)
        found.append(Row(step + 1, int(known.sum()), int((new & files.labelled).sum()), before, so_far))
    every = np.ones_like(files.labelled)
    evergraph("learn", "--model", str(folder / "at-once"), *files.write(every, files.labelled), *more)
    return found, right(files, folder / "at-once", every, ~files.labelled)


def draw(rows: list[Row], at_once: float, path: Path) -> None:
    """The curve."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.plot([row.step for row in rows], [row.so_far for row in rows], marker="o", label="all so far, unlabelled")
    new = {row.step: row.new_before for row in rows if row.new_before is not None}
    axes.plot(list(new), list(new.values()), marker="s", label="new, before learning")
    axes.plot([rows[-1].step], [at_once], marker="*", markersize=12, linestyle="", label="all learned at once")
    axes.set(xlabel="step", ylabel="patents predicted right, %", xticks=[row.step for row in rows], ylim=(0, 100))
    axes.grid(color="#dddddd", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, loc="outside upper center", ncols=3)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    more = [word for setting in arguments.settings for word in ("--set", setting)]
    with tempfile.TemporaryDirectory() as folder:
        rows, at_once = measure(Path(folder), arguments.steps, arguments.data_dir, more)
    if arguments.picture is not None:
        draw(rows, at_once, arguments.picture)
    if arguments.json:
        print(json.dumps({"steps": [asdict(row) for row in rows], "at_once": at_once}))
        return
    print("| step | patents so far | labels learned | new patents, before | all unlabelled so far |")
    print("|---|---|---|---|---|")
    for row in rows:
        before = "" if row.new_before is None else f"{row.new_before:.1f}"
        print(f"| {row.step} | {row.nodes:,} | {row.learned:,} | {before} | {row.so_far:.1f} |")
    print(f"| everything at once | {rows[-1].nodes:,} | {sum(row.learned for row in rows):,} | | {at_once:.1f} |")


if __name__ == "__main__":
    main()
