"""Graphs of 10^5 to 10^9 entries through the commands: time and peak memory of every step, and how both grow.

    python benchmarks/scale.py [--entries 1e5 1e6 1e7] [--memory 55MB 500MB 4GB] [--in-memory 1e7] [--width 1024]
                               [--folder F] [--json FILE]
    python benchmarks/scale.py --markdown docs/PERFORMANCE.md [--plot FILE]

A graph has 50 entries a node, 64 features and 40 classes (`generated.py`), in Parquet tables. The steps:

- convert: `evergraph data convert`
- open, standardise, stream, views: a graph folder is read, standardised, cut into 20 tasks, and given to a learner
- run: `evergraph run --method analytic --protocol whole-graph`, all 20 tasks: each is learned, and all test nodes
  so far are tested, in the graph known by then and in the graphs of the tasks; of that load, statistics, choose,
  evaluate; the times of a run are those of its tasks, whichever process did them
- fit, test in task graphs, test in the whole graph: once, after the last task of that run
- learn, predict: all nodes at once through `evergraph learn` and `evergraph predict`
- hps: `evergraph score --score hps`
- ftf-er: `evergraph run --method ftf-er-det --epochs 2`, all 20 tasks, each in its own graph; of that train, score,
  select; only up to --in-memory entries, as the rows from here on
- epoch, grand of tasks, hps of tasks: of the training nodes of every task, without a buffer, added up

`--memory` is one size, or one for each of --entries: an exponent over several sizes wants a budget that grows with
the graph. What it does not allow is read from disk in blocks. `--width` is that of the random map of `analytic`.
Memory is what the process of a command has besides pages of mapped files (RssAnon), by samples, with that of the
program itself. The exponents are the slopes of the lines through the logarithms of entries and seconds of the
processor, and of entries and bytes, from 10^6 entries on.

Figures are added to the JSON file step by step, and the same command goes on after an interruption.
`--markdown` writes the table between markers of a page.
"""

import argparse
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from generated import write_tables
from measuring import FIGURES, Measured, command, write

DEGREE, FEATURES, CLASSES, WIDTH = 50, 64, 40, 2048
FROM = 1e6
"""Entries from which on exponents are fitted: below, what is done once for any graph weighs too much."""
BEGIN, END = "<!-- begin scale -->", "<!-- end scale -->"
PARTS = Path(__file__).with_name("scale_parts.py")
SCRIPTS = ("scale_parts load", "scale_parts test", "scale_parts train")
"""Steps that stand for their parts."""
ORDER = (
    *("convert", "open", "standardise", "stream", "views"),
    *("run", "load", "statistics", "choose", "evaluate", "fit", "test in task graphs", "test in the whole graph"),
    *("learn", "predict", "hps"),
    *("ftf-er", "train", "score", "select", "epoch", "grand of tasks", "hps of tasks"),
)
"""Rows of the table."""


def make_graph(folder: Path, tables: Callable[[], tuple[Path, Path]], measured: Measured) -> Path:
    """The graph folder and the step `convert`, whose figures are in a file beside it.

    A graph without them is one that was there when this was killed, and is made again.
    """
    graph, kept, memory = folder / "graph", folder / "convert.json", measured.graph["memory"]
    if "convert" in measured.graph["steps"] and graph.exists():
        return graph
    about = json.loads(kept.read_text()) if kept.exists() else {}
    if not graph.exists() or about.get("memory") != memory:
        shutil.rmtree(graph, ignore_errors=True)
        nodes, edges = tables()
        words = ["--nodes", str(nodes), "--edges", str(edges), "--out", str(graph), "--memory", memory, "--json"]
        words += ["--set", "dataset.options.directed=false", "--set", "dataset.options.duplicates=merge"]
        found = command(["-m", "evergraph", "data", "convert", *words])
        about = {"memory": memory, **{key: found[key] for key in FIGURES}}
        write(kept, json.dumps(about))
    measured.known("convert", {key: about[key] for key in FIGURES})
    for table in ("nodes.parquet", "edges.parquet"):
        (folder / table).unlink(missing_ok=True)
    return graph


def measure(entries: int, memory: str, folder: Path, arguments: argparse.Namespace) -> None:
    """All steps on one graph; `folder` is left with the graph folder alone."""
    nodes = max(entries // DEGREE // CLASSES, 25) * CLASSES
    measured = Measured(arguments.json, entries, nodes, memory)
    measured.graph["width"] = arguments.width
    model, budget = folder / "model", ["--memory", memory]
    graph = make_graph(folder, lambda: write_tables(folder, nodes, entries // 2, FEATURES, CLASSES), measured)
    measured.graph["asked"] = entries
    measured.graph["entries"] = json.loads((graph / "graph.json").read_text())["edges"]
    dataset, nodes_of = ["--dataset", f"{graph}/"], ["--model", str(model), "--nodes", f"{graph}/"]
    scratch, out = ["--scratch", str(folder), "--json"], ["--resume", "--out", str(folder / "runs")]
    part = ["--graph", str(graph), *budget, "--scratch", str(folder)]
    width = ["--set", f"method.width={arguments.width}"]
    run_dir = folder / "run-dir"

    def of_analytic(said: dict[str, Any], figures: dict[str, Any]) -> None:
        measured.graph["aa_global"] = said["aa_global"]
        measured.run(said, figures, ("load", "statistics", "choose", "evaluate"))
        run_dir.write_text(said["run_dir"])

    def of_ftf_er(said: dict[str, Any], figures: dict[str, Any]) -> None:
        measured.run(said, figures, ("train", "score", "select"))

    def of_predict(said: dict[str, Any], figures: dict[str, Any]) -> None:
        measured.graph["right"] = said["right"] / said["labelled"]

    measured.script(PARTS, "load", *part)
    words = ["run", *dataset, "--method", "analytic", "--protocol", "whole-graph", *budget, *scratch, *out, *width]
    measured.step("run", *words, then=of_analytic, peak_file=folder / "run.peak")
    if run_dir.exists():
        measured.script(PARTS, "test", *part, "--run", run_dir.read_text())
    if "learn" not in measured.graph["steps"]:  # one that was stored and not measured knows all nodes already
        shutil.rmtree(model, ignore_errors=True)
    measured.step("learn", "learn", *nodes_of, *budget, *scratch, *width)
    if "predict" not in measured.graph["steps"]:
        if not model.exists():
            command(["-m", "evergraph", "learn", *nodes_of, *budget, *scratch, *width])
        words = ["predict", *nodes_of, "--out", str(folder / "predicted.csv"), *budget, *scratch]
        measured.step("predict", *words, then=of_predict)
    words = ["score", *dataset, "--score", "hps", "--out", str(folder / "score.parquet"), "--json"]
    measured.step("hps", *words, *budget)
    if entries <= arguments.in_memory:
        words = ["run", *dataset, "--method", "ftf-er-det", "--epochs", "2", *budget, *scratch, *out]
        measured.step("ftf-er", *words, then=of_ftf_er, peak_file=folder / "ftf-er.peak")
        measured.script(PARTS, "train", *part)
    for left in ("runs", "model"):
        shutil.rmtree(folder / left, ignore_errors=True)
    for left in ("predicted.csv", "score.parquet", "run-dir"):
        (folder / left).unlink(missing_ok=True)


def steps(graphs: list[dict[str, Any]]) -> list[str]:
    """The steps that were measured, in order."""
    return [name for name in ORDER if any(name in graph["steps"] for graph in graphs)]


def exponents(graphs: list[dict[str, Any]], of: str) -> dict[str, float]:
    """For each step that was measured on two graphs or more how a figure of it grows with the entries."""
    found = {}
    for name in steps(graphs):
        some = {_entries(graph): graph["steps"].get(name, {}).get(of) for graph in graphs}
        points = [(entries, value) for entries, value in some.items() if value and entries >= 0.9 * FROM]
        if len(points) > 1:
            x, y = np.log(np.array(points)).T
            found[name] = float(np.polyfit(x, y, 1)[0])
    return found


def _entries(graph: dict[str, Any]) -> float:
    return float(graph["entries"])


def markdown(graphs: list[dict[str, Any]]) -> str:
    """The machine, the command, and a table with a row a step: seconds of the processor (of the clock), memory."""
    lines, sizes = [], " ".join(_short(graph.get("asked", _entries(graph))) for graph in graphs)
    memory = " ".join(graph["memory"] for graph in graphs)
    widths = " and ".join(sorted({str(graph.get("width", WIDTH)) for graph in graphs}))
    words = f"`python benchmarks/scale.py --entries {sizes} --memory {memory} --width {widths}`"
    for one in {json.dumps(graph.get("machine")): graph.get("machine") for graph in graphs}.values():
        if one is not None:
            lines.append(
                f"Measured on {one['cores']} cores ({one['processor']}) with {one['memory_gb']:.0f} GB of memory, "
                f"OMP_NUM_THREADS={one['threads']}."
            )
    lines += [
        f"Measured by {words}, written by",
        "`python benchmarks/scale.py --markdown docs/PERFORMANCE.md`.",
        "",
    ]
    time, space = exponents(graphs, "processor"), exponents(graphs, "peak_gb")
    heads = [f"{graph['entries']:,} entries, {graph['memory']}" for graph in graphs]
    lines.append("| step: processor (clock), memory | " + " | ".join(heads) + " | time grows as | memory as |")
    lines.append("|---" * (len(graphs) + 3) + "|")
    for name in steps(graphs):
        cells = [_cell(graph["steps"].get(name)) for graph in graphs]
        slopes = [f"m^{slope[name]:.2f}" if name in slope else "" for slope in (time, space)]
        lines.append(f"| {name} | " + " | ".join(cells + slopes) + " |")
    accuracy = [f"{graph['aa_global']:.1f}" if "aa_global" in graph else "" for graph in graphs]
    lines.append("| global accuracy of `analytic`, % | " + " | ".join(accuracy) + " | | |")
    return "\n".join(lines) + "\n"


def _short(number: float) -> str:
    return re.sub(r"e\+0*", "e", f"{number:.0e}")


def _cell(step: dict[str, float] | None) -> str:
    if step is None:
        return ""
    memory = f", {step['peak_gb']:.2f} GB" if "peak_gb" in step else ""
    return f"{step['processor']:,.1f} s ({step['seconds']:,.1f}){memory}"


def write_into(page: Path, text: str) -> None:
    """The text between the markers of a page; the rest stays."""
    before = page.read_text(encoding="utf-8")
    if BEGIN not in before or END not in before:
        raise SystemExit(f"{page} must have the lines {BEGIN} and {END}")
    filled = re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n\n{text}\n{END}", before, flags=re.DOTALL)
    page.write_text(filled, encoding="utf-8")


def plot(graphs: list[dict[str, Any]], path: Path) -> None:
    """Time and memory over entries, a line a step, all axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(12, 5), layout="constrained")
    for axes, of, label in zip(panels, ("processor", "peak_gb"), ("seconds of the processor", "GB"), strict=True):
        for at, name in enumerate(steps(graphs)):
            some = [graph for graph in graphs if graph["steps"].get(name, {}).get(of)]
            values = [graph["steps"][name][of] for graph in some]
            line = "o-" if at < 10 else "s--" if at < 20 else "^:"
            axes.loglog([_entries(graph) for graph in some], values, line, label=name, color=f"C{at % 10}")
        axes.set(xlabel="entries of the adjacency", ylabel=label)
        axes.grid(alpha=0.3)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=float, nargs="+", default=[1e5, 1e6, 1e7])
    parser.add_argument("--memory", nargs="+", default=["2GB"], help="one, or one for each graph")
    parser.add_argument("--in-memory", type=float, default=1e7, help="most entries of graphs for FTF-ER")
    parser.add_argument("--width", type=int, default=WIDTH, help="method.width of analytic")
    parser.add_argument("--folder", type=Path, default=Path("scale"), help="for graphs, which stay there")
    parser.add_argument("--json", type=Path, default=Path("scale.json"))
    parser.add_argument("--markdown", type=Path, help="write the table of the JSON file into this page instead")
    parser.add_argument("--plot", type=Path, help="draw time and memory of the JSON file")
    arguments = parser.parse_args()
    if arguments.markdown is None and arguments.plot is None:
        memory = arguments.memory * (len(arguments.entries) if len(arguments.memory) == 1 else 1)
        if len(memory) != len(arguments.entries):
            raise SystemExit(f"one --memory or {len(arguments.entries)} are wanted, got {len(memory)}")
        os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
        for entries, size in zip(arguments.entries, memory, strict=True):
            folder = arguments.folder / f"{entries:.0e}"
            folder.mkdir(parents=True, exist_ok=True)
            measure(int(entries), size, folder, arguments)
    known = json.loads(arguments.json.read_text())
    if arguments.markdown is not None:
        write_into(arguments.markdown, markdown(known))
    if arguments.plot is not None:
        plot(known, arguments.plot)
    if arguments.markdown is None and arguments.plot is None:
        print(markdown(known))


if __name__ == "__main__":
    main()
