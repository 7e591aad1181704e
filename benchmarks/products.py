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
from scale import Measured

NODES, EDGES, FEATURES, CLASSES = 2_449_029, 61_859_140, 100, 47


def measure(folder: Path, arguments: argparse.Namespace) -> Measured:
    """All steps; `folder` is left with the graph folder alone."""
    graph, budget = folder / "graph", ["--memory", arguments.memory]
    measured = Measured(arguments.json, 2 * EDGES, NODES, arguments.memory)
    if not graph.exists():
        tables = write_tables(folder, NODES, EDGES, FEATURES, CLASSES)
        words = ["--nodes", str(tables[0]), "--edges", str(tables[1]), "--out", str(graph), *budget, "--json"]
        words += ["--set", "dataset.options.directed=false", "--set", "dataset.options.duplicates=merge"]
        measured.step("convert", "data", "convert", *words)
        for table in tables:
            table.unlink()
    words = ["run", "--dataset", f"{graph}/", "--out", str(folder / "runs"), "--resume", "--json", *budget]

    def kept(method: str, phases: tuple[str, ...], said: dict[str, Any], figures: dict[str, Any]) -> None:
        measured.graph[method] = {name: said[name] for name in ("aa_global", "aa_local")}
        measured.parts(said, phases, figures["peak_gb"])

    measured.step(
        "analytic",
        *words,
        *("--method", "analytic", "--protocol", "whole-graph", "--scratch", str(folder)),
        then=lambda said, figures: kept("analytic", ("statistics",), said, figures),
    )
    measured.step(
        "ftf-er",
        *words,
        *("--method", "ftf-er-det", "--epochs", str(arguments.epochs)),
        then=lambda said, figures: kept("ftf-er", ("train", "score", "select", "evaluate"), said, figures),
    )
    shutil.rmtree(folder / "runs", ignore_errors=True)
    return measured


def markdown(graph: dict[str, Any]) -> str:
    """A table with a row a step: seconds of the processor and of the clock, peak memory."""
    lines = ["| step | processor, s | clock, s | memory, GB |", "|---|---|---|---|"]
    for name, step in graph["steps"].items():
        lines.append(f"| {name} | {step['processor']:,.0f} | {step['seconds']:,.0f} | {step['peak_gb']:.2f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", default="8GB")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--folder", type=Path, default=Path("products"), help="for the graph, which stays there")
    parser.add_argument("--json", type=Path, default=Path("products.json"))
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    measured = measure(arguments.folder, arguments)
    print(markdown(measured.graph))
    print(json.dumps({name: measured.graph[name] for name in ("analytic", "ftf-er")}))


if __name__ == "__main__":
    main()
