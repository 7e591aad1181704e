"""Graphs of 10^5 to 10^9 entries through the commands: time and peak memory of every step, and how both grow.

    python benchmarks/scale.py [--entries 1e5 1e6 1e7] [--memory 2GB] [--in-memory 1e7] [--folder F] [--json FILE]
    python benchmarks/scale.py --markdown FILE [--plot FILE]

A graph has 50 entries a node, 64 features and 40 classes (`generated.py`), in Parquet tables. The steps:

- convert: `evergraph data convert`
- load, statistics, choose, evaluate: of `evergraph run --method analytic --protocol whole-graph`, all 20 tasks:
  each is learned, and all test nodes so far are tested, in the graph known by then and in the graphs of the tasks
- learn, predict: all nodes at once through `evergraph learn` and `evergraph predict`
- hps: `evergraph score --score hps`
- train, score, select: of `evergraph run --method ftf-er-det --epochs 2`, all 20 tasks: epochs, GraNd and HPS, the
  choice of nodes; only up to --in-memory entries, as these need a graph in memory

What `--memory` does not allow is read from disk in blocks. Memory is what the process of a command has besides
pages of mapped files (RssAnon), by samples. The exponent is the slope of the line through the logarithms of entries
and seconds of the processor, from 10^6 entries on. Figures are added to the JSON file step by step, and the same
command
goes on after an interruption.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
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
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen([sys.executable, "-m", "evergraph", *words], stdout=printed)
        peak, ended, usage = 0, 0, None
        while not ended:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
                peak = max(peak, int(status.partition("RssAnon:")[2].split()[0]) * 1024)
            except (OSError, IndexError):  # it has just ended
                pass
            time.sleep(0.1)
            ended, code, usage = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(code)
        printed.seek(0)
        text = printed.read()
    if process.returncode:
        raise SystemExit(f"evergraph {' '.join(words[:2])} failed")
    seconds = time.perf_counter() - start
    processor = usage.ru_utime + usage.ru_stime if usage is not None else 0.0
    return {"seconds": seconds, "processor": processor, "peak_gb": peak / 1e9, "said": json.loads(text)}


def phases(times: list[dict[str, float]]) -> dict[str, float]:
    """The seconds of each phase of a run, over all tasks."""
    total: dict[str, float] = {}
    for task in times:
        for name, seconds in task.items():
            total[name] = total.get(name, 0.0) + seconds
    return total


class Measured:
    """The figures of one graph, stored after every step: what is stored is not done again."""

    def __init__(self, path: Path, entries: int, nodes: int, memory: str) -> None:
        self.path, self.entries = path, entries
        graphs = json.loads(path.read_text()) if path.exists() else []
        self.others = [graph for graph in graphs if graph["nodes"] != nodes]
        found = [graph for graph in graphs if graph["nodes"] == nodes and graph["memory"] == memory]
        self.graph: dict[str, Any] = (
            found[0] if found else {"entries": entries, "nodes": nodes, "memory": memory, "steps": {}}
        )

    def step(
        self, name: str, *words: str, then: Callable[[dict[str, Any], dict[str, Any]], None] | None = None
    ) -> None:
        """One command as one step; `then` takes what it printed and the step's figures to more of them."""
        if name in self.graph["steps"]:
            return
        found = command(*words)
        figures = {key: found[key] for key in ("seconds", "processor", "peak_gb")}
        self.graph["steps"][name] = figures
        if then is not None:
            then(found["said"], figures)
        self.path.write_text(json.dumps(sorted([*self.others, self.graph], key=_entries), indent=1))
        text = (
            f"{figures['seconds']:.1f} s ({figures['processor']:.1f} of the processor), {figures['peak_gb']:.2f} GB"
        )
        print(f"{self.entries:.0e} {name}: {text}", file=sys.stderr, flush=True)

    def parts(self, said: dict[str, Any], names: tuple[str, ...], peak_gb: float) -> None:
        """The phases of a run as steps of their own."""
        record = json.loads((Path(said["run_dir"]) / "record.json").read_text())
        seconds, processor = phases(record["seconds"]), phases(record["processor_seconds"])
        for name in names:
            self.graph["steps"][name] = {"seconds": seconds[name], "processor": processor[name], "peak_gb": peak_gb}


def measure(entries: int, folder: Path, arguments: argparse.Namespace) -> None:
    """All steps on one graph; `folder` is left with the graph folder alone."""
    graph, model, budget = folder / "graph", str(folder / "model"), ["--memory", arguments.memory]
    nodes = max(entries // DEGREE // CLASSES, 25) * CLASSES
    measured = Measured(arguments.json, entries, nodes, arguments.memory)
    if not graph.exists():
        tables = write_tables(folder, nodes, entries // 2, FEATURES, CLASSES)
        words = ["--nodes", str(tables[0]), "--edges", str(tables[1]), "--out", str(graph), *budget, "--json"]
        words += ["--set", "dataset.options.directed=false", "--set", "dataset.options.duplicates=merge"]
        measured.step("convert", "data", "convert", *words)
        for table in tables:
            table.unlink()
    measured.graph["entries"] = json.loads((graph / "graph.json").read_text())["edges"]
    dataset, nodes_of = ["--dataset", f"{graph}/"], ["--model", model, "--nodes", f"{graph}/"]
    scratch, out = ["--scratch", str(folder), "--json"], ["--out", str(folder / "runs")]

    def of_analytic(said: dict[str, Any], figures: dict[str, Any]) -> None:
        measured.graph["aa_global"] = said["aa_global"]
        measured.parts(said, ("load", "statistics", "choose", "evaluate"), figures["peak_gb"])

    def of_ftf_er(said: dict[str, Any], figures: dict[str, Any]) -> None:
        measured.parts(said, ("train", "score", "select"), figures["peak_gb"])

    def of_predict(said: dict[str, Any], figures: dict[str, Any]) -> None:
        measured.graph["right"] = said["right"] / said["labelled"]

    words = ["run", *dataset, "--method", "analytic", "--protocol", "whole-graph", "--resume"]
    measured.step("run", *words, *budget, *scratch, *out, then=of_analytic)
    measured.step("learn", "learn", *nodes_of, *budget, *scratch)
    words = ["predict", *nodes_of, "--out", str(folder / "predicted.csv")]
    measured.step("predict", *words, *budget, *scratch, then=of_predict)
    words = ["score", *dataset, "--score", "hps", "--out", str(folder / "score.parquet"), "--json"]
    measured.step("hps", *words, *budget)
    if entries <= arguments.in_memory:
        words = ["run", *dataset, "--method", "ftf-er-det", "--epochs", "2", "--json"]
        measured.step("ftf-er", *words, *out, then=of_ftf_er)
    for left in ("runs", "model"):
        shutil.rmtree(folder / left, ignore_errors=True)
    for left in ("predicted.csv", "score.parquet"):
        (folder / left).unlink(missing_ok=True)


def exponents(graphs: list[dict[str, Any]]) -> dict[str, float]:
    """For each step that was measured on two graphs or more how its processor seconds grow with the entries."""
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
    return float(graph["steps"][name]["processor"])


def markdown(graphs: list[dict[str, Any]]) -> str:
    """A table with a row a step: seconds of the processor (of the clock), peak memory, and the exponent."""
    grown = exponents(graphs)
    names = list(dict.fromkeys(step for graph in graphs for step in graph["steps"]))
    lines = ["| step | " + " | ".join(f"{graph['entries']:,} entries" for graph in graphs) + " | exponent |"]
    lines.append("|---" * (len(graphs) + 2) + "|")
    for name in names:
        cells = []
        for graph in graphs:
            step = graph["steps"].get(name)
            cells.append(
                ""
                if step is None
                else f"{step['processor']:,.1f} s ({step['seconds']:,.1f}), {step['peak_gb']:.2f} GB"
            )
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
    axes.set(xlabel="entries of the adjacency", ylabel="seconds of the processor")
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
    if arguments.markdown is None:
        os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
        for entries in arguments.entries:
            folder = arguments.folder / f"{entries:.0e}"
            folder.mkdir(parents=True, exist_ok=True)
            measure(int(entries), folder, arguments)
        print(markdown(json.loads(arguments.json.read_text())))
        return
    known = json.loads(arguments.json.read_text())
    arguments.markdown.write_text(markdown(known))
    if arguments.plot is not None:
        plot(known, arguments.plot)


if __name__ == "__main__":
    main()
