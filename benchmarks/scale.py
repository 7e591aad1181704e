"""Graphs of 10^5 to 10^9 entries through the commands: time and peak memory of every step, and how both grow.

    python benchmarks/scale.py [--entries 1e5 1e6 1e7] [--memory 2GB] [--in-memory 1e7] [--folder F] [--json FILE]
    python benchmarks/scale.py --markdown FILE [--plot FILE]

A graph has 50 entries a node, 64 features and 40 classes (`generated.py`), in Parquet tables. The steps:

- convert: `evergraph data convert`
- load, statistics, choose, evaluate: of `evergraph run --method analytic --protocol whole-graph`, all 20 tasks:
  each is learned, and all test nodes so far are tested, in the graph known by then and in the graphs of the tasks
- learn, predict: all nodes at once through `evergraph learn` and `evergraph predict`
- hps: `evergraph score --score hps`
- train, select: of `evergraph run --method ftf-er-det --epochs 2`, all 20 tasks: epochs, and GraNd and HPS with the
  choice of nodes; only up to --in-memory entries, as these need a graph in memory

What `--memory` does not allow is read from disk in blocks. Memory is what the process of a command has besides
pages of mapped files (RssAnon), by samples. The exponent is the slope of the line through the logarithms of entries
and seconds, from 10^6 entries on. Figures are added to the JSON file graph by graph.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from generated import write_tables

DEGREE, FEATURES, CLASSES = 50, 64, 40
FROM = 1e6
"""Entries from which on the exponent is fitted: below, what is done once for any graph weighs too much."""


def command(*words: str) -> dict[str, Any]:
    """Seconds, processor seconds, peak memory and the printed JSON of one command."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "evergraph", *words], stdout=subprocess.PIPE, text=True)
    peak = 0
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
            peak = max(peak, int(status.partition("RssAnon:")[2].split()[0]) * 1024)
        except (OSError, IndexError):  # it has just ended
            pass
        time.sleep(0.1)
    text = process.stdout.read() if process.stdout is not None else ""
    if process.returncode:
        raise SystemExit(f"evergraph {' '.join(words[:2])} failed")
    return {"seconds": time.perf_counter() - start, "peak_gb": peak / 1e9, "said": json.loads(text)}


def phases(record: dict[str, Any]) -> dict[str, float]:
    """The seconds of each phase of a run, over all tasks."""
    total: dict[str, float] = {}
    for task in record["seconds"]:
        for name, seconds in task.items():
            total[name] = total.get(name, 0.0) + seconds
    return total


def measure(entries: int, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """All steps on one graph; `folder` is left with the graph folder alone."""
    graph, budget = folder / "graph", ["--memory", arguments.memory]
    nodes = max(entries // DEGREE // CLASSES, 25) * CLASSES
    steps: dict[str, dict[str, float]] = {}

    def done(name: str, found: dict[str, Any]) -> Any:
        steps[name] = {"seconds": found["seconds"], "peak_gb": found["peak_gb"]}
        print(
            f"{entries:.0e} {name}: {found['seconds']:.1f} s, {found['peak_gb']:.2f} GB",
            file=sys.stderr,
            flush=True,
        )
        return found["said"]

    if not graph.exists():
        tables = write_tables(folder, nodes, entries // 2, FEATURES, CLASSES)
        words = [
            "data",
            "convert",
            "--nodes",
            str(tables[0]),
            "--edges",
            str(tables[1]),
            "--out",
            str(graph),
            *budget,
        ]
        words += ["--set", "dataset.options.directed=false", "--set", "dataset.options.duplicates=merge", "--json"]
        done("convert", command(*words))
        for table in tables:
            table.unlink()
    scratch, out = ["--scratch", str(folder)], ["--out", str(folder / "runs"), "--json"]
    words = ["run", "--dataset", f"{graph}/", "--method", "analytic", "--protocol", "whole-graph"]
    found = command(*words, *budget, *scratch, *out)
    said = done("run", found)
    for name, seconds in phases(_record(said)).items():
        steps[name] = {"seconds": seconds, "peak_gb": found["peak_gb"]}
    model = str(folder / "model")
    done("learn", command("learn", "--model", model, "--nodes", str(graph), *budget, *scratch, "--json"))
    words = ["predict", "--model", model, "--nodes", str(graph), "--out", str(folder / "predicted.csv"), "--json"]
    predicted = done("predict", command(*words, *budget, *scratch))
    words = ["score", "--dataset", f"{graph}/", "--score", "hps", "--out", str(folder / "score.parquet"), "--json"]
    done("hps", command(*words, *budget))
    if entries <= arguments.in_memory:
        words = ["run", "--dataset", f"{graph}/", "--method", "ftf-er-det", "--epochs", "2"]
        found = command(*words, *out)
        for name, seconds in phases(_record(done("ftf-er", found))).items():
            if name in ("train", "select"):
                steps[name] = {"seconds": seconds, "peak_gb": found["peak_gb"]}
    for left in ("runs", "model"):
        shutil.rmtree(folder / left)
    for left in ("predicted.csv", "score.parquet"):
        (folder / left).unlink()
    return {
        "entries": json.loads((graph / "graph.json").read_text())["edges"],
        "nodes": nodes,
        "memory": arguments.memory,
        "aa_global": said["aa_global"],
        "right": predicted["right"] / predicted["labelled"],
        "steps": steps,
    }


def _record(said: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(said["run_dir"]) / "record.json").read_text())
    return found


def exponents(graphs: list[dict[str, Any]]) -> dict[str, float]:
    """For each step that was measured on two graphs or more how its seconds grow with the entries."""
    found = {}
    for name in dict.fromkeys(step for graph in graphs for step in graph["steps"]):
        some = [graph for graph in graphs if name in graph["steps"] and graph["entries"] >= 0.9 * FROM]
        if len(some) > 1:
            entries, seconds = [_entries(graph) for graph in some], [_seconds(graph, name) for graph in some]
            found[name] = float(np.polyfit(np.log(entries), np.log(seconds), 1)[0])
    return found


def _entries(graph: dict[str, Any]) -> float:
    return float(graph["entries"])


def _seconds(graph: dict[str, Any], name: str) -> float:
    return float(graph["steps"][name]["seconds"])


def markdown(graphs: list[dict[str, Any]]) -> str:
    """A table with a row a step: seconds and peak memory on every graph, and the exponent."""
    grown = exponents(graphs)
    names = list(dict.fromkeys(step for graph in graphs for step in graph["steps"]))
    lines = ["| step | " + " | ".join(f"{graph['entries']:,} entries" for graph in graphs) + " | exponent |"]
    lines.append("|---" * (len(graphs) + 2) + "|")
    for name in names:
        cells = []
        for graph in graphs:
            step = graph["steps"].get(name)
            cells.append("" if step is None else f"{step['seconds']:,.1f} s, {step['peak_gb']:.2f} GB")
        slope = f"{grown[name]:.2f}" if name in grown else ""
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {slope} |")
    accuracy = " | ".join(f"{graph['aa_global']:.1f}" for graph in graphs)
    lines.append(f"| global accuracy of `analytic` | {accuracy} | |")
    return "\n".join(lines) + "\n"


def plot(graphs: list[dict[str, Any]], path: Path) -> None:
    """Seconds over entries, a line a step, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for name in dict.fromkeys(step for graph in graphs for step in graph["steps"]):
        some = [graph for graph in graphs if name in graph["steps"]]
        axes.loglog(
            [_entries(graph) for graph in some], [_seconds(graph, name) for graph in some], "o-", label=name
        )
    axes.set(xlabel="entries of the adjacency", ylabel="seconds")
    axes.grid(alpha=0.3)
    axes.legend(ncols=2, fontsize=8)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=float, nargs="+", default=[1e5, 1e6, 1e7])
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--in-memory", type=float, default=1e7)
    parser.add_argument("--folder", type=Path, default=Path("scale"), help="for graphs, which stay there")
    parser.add_argument("--json", type=Path, default=Path("scale.json"))
    parser.add_argument("--markdown", type=Path, help="write the table of the JSON file instead")
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    known = json.loads(arguments.json.read_text()) if arguments.json.exists() else []
    if arguments.markdown is None:
        os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
        for entries in arguments.entries:
            folder = arguments.folder / f"{entries:.0e}"
            folder.mkdir(parents=True, exist_ok=True)
            found = measure(int(entries), folder, arguments)
            known = sorted([g for g in known if g["nodes"] != found["nodes"]] + [found], key=_entries)
            arguments.json.write_text(json.dumps(known, indent=1))
        print(markdown(known))
        return
    arguments.markdown.write_text(markdown(known))
    if arguments.plot is not None:
        plot(known, arguments.plot)


if __name__ == "__main__":
    main()
