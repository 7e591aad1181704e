"""A generated graph of ogbn-products' size through FTF-ER and `analytic`: time and memory of every step.

    python benchmarks/products.py [--memory 8GB] [--epochs 20] [--folder products] [--json products.json]

2,449,029 nodes, 124 million entries, 100 features, 47 classes (`generated.py`), in Parquet tables. The steps:

- convert: `evergraph data convert`
- analytic: `evergraph run --method analytic --protocol whole-graph`, all 23 tasks
- ftf-er: `evergraph run --method ftf-er-det --epochs 20`, all 23 tasks, each learned in its own graph

All within `--memory`; memory is what the process of a command has besides pages of mapped files (RssAnon), sampled.
Figures are stored after every step, and the same command goes on after an interruption.
"""

import argparse
import json
import os
import shutil
from pathlib import Path
from typing import Any

from generated import write_tables
from measuring import Measured
from scale import make_graph

NODES, EDGES, FEATURES, CLASSES = 2_449_029, 61_859_140, 100, 47


def measure(folder: Path, arguments: argparse.Namespace) -> Measured:
    """All steps; `folder` is left with the graph folder alone."""
    budget = ["--memory", arguments.memory]
    measured = Measured(arguments.json, 2 * EDGES // arguments.part, arguments.nodes, arguments.memory)
    edges = EDGES // arguments.part
    graph = make_graph(folder, lambda: write_tables(folder, arguments.nodes, edges, FEATURES, CLASSES), measured)
    words = ["run", "--dataset", f"{graph}/", "--out", str(folder / "runs"), "--resume", "--json", *budget]
    words += ["--scratch", str(folder)]

    def kept(method: str, phases: tuple[str, ...], said: dict[str, Any], figures: dict[str, Any]) -> None:
        measured.graph[method] = {name: said[name] for name in ("aa_global", "aa_local")}
        measured.run(said, figures, phases, f"{method}: ")

    measured.step(
        "analytic",
        *words,
        *("--method", "analytic", "--protocol", "whole-graph"),
        then=lambda *found: kept("analytic", ("load", "statistics", "choose", "evaluate"), *found),
        peak_file=folder / "analytic.peak",
    )
    measured.step(
        "ftf-er",
        *words,
        *("--method", "ftf-er-det", "--epochs", str(arguments.epochs)),
        then=lambda *found: kept("ftf-er", ("load", "train", "score", "select", "evaluate"), *found),
        peak_file=folder / "ftf-er.peak",
    )
    shutil.rmtree(folder / "runs", ignore_errors=True)
    return measured


def markdown(graph: dict[str, Any]) -> str:
    """A table with a row a step: seconds of the processor and of the clock, peak memory."""
    lines = ["| step | processor, s | clock, s | memory, GB |", "|---|---|---|---|"]
    for name, step in graph["steps"].items():
        memory = f"{step['peak_gb']:.2f}" if "peak_gb" in step else ""
        lines.append(f"| {name} | {step['processor']:,.0f} | {step['seconds']:,.0f} | {memory} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", default="8GB")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--part", type=int, default=1, help="so many times fewer nodes and edges, to try it out")
    parser.add_argument("--folder", type=Path, default=Path("products"), help="for the graph, which stays there")
    parser.add_argument("--json", type=Path, default=Path("products.json"))
    arguments = parser.parse_args()
    arguments.nodes = NODES // arguments.part // CLASSES * CLASSES
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    measured = measure(arguments.folder, arguments)
    print(markdown(measured.graph))
    print(json.dumps({name: measured.graph[name] for name in ("analytic", "ftf-er")}))


if __name__ == "__main__":
    main()
