"""The cost of a graph of any size, from measured unit costs: memory, disk, network and time by step.

    python benchmarks/cost_model.py --measured scale.json [--write docs/PERFORMANCE.md]

The unit costs are those that `cost_units.py` has stored. The formulas follow the code, and the plans for blocks are
those of the code itself. They are compared with what `scale.py` measured through the commands. What a command took
over what was computed, at the largest graph (disk, caches, whatever it does besides), goes into the tables for the
graphs of --to, where it is more than 1.
"""

import argparse
import json
import math
import re
from pathlib import Path
from typing import Any

import cost_units
from cost_formulas import NODE_BYTES, Cost, Shape, costs
from cost_units import DEGREE, FEATURES, Units
from evergraph.budget import parse_memory

BEGIN, END = "<!-- begin cost-model -->", "<!-- end cost-model -->"
COMMANDS = {
    "convert": ("convert",),
    "learn": ("open", "degrees", "propagate", "sums", "fit"),
    "predict": ("open", "degrees", "propagate", "predict"),
    "hps": ("open", "potential"),
}
"""The steps of each command that `scale.py` measures."""


def command_cost(found: list[Cost], names: tuple[str, ...]) -> tuple[float, float]:
    """Seconds of the processor and peak memory of a command."""
    some = [cost for cost in found if cost.name in names]
    return sum(cost.seconds for cost in some), max(cost.memory for cost in some)


def checked(graphs: list[dict[str, Any]], units: Units) -> tuple[list[str], dict[str, float]]:
    """A table of the formulas against what was measured, and measured over computed seconds at the largest graph.

    The start of a command is what it took on the smallest graph beyond what was computed. Where the work is less
    than the start, nothing is concluded. Of `convert`, the measured seconds an entry count.
    """
    lines = [
        "| entries | command | processor: computed | measured | memory: computed | measured |",
        "|---" * 6 + "|",
    ]
    ratios: dict[str, float] = {}
    starts: dict[str, float] = {}
    for graph in sorted(graphs, key=lambda graph: float(graph["entries"])):
        shape = Shape(int(graph["entries"]), parse_memory(graph["memory"]), int(graph["nodes"]))
        found = costs(shape, units)
        for name, steps in COMMANDS.items():
            if name not in graph["steps"]:
                continue
            measured, peak = (float(graph["steps"][name][key]) for key in ("processor", "peak_gb"))
            seconds, memory = command_cost(found, steps)
            if name == "convert":
                ratios[name], computed = measured / shape.entries, ""
            else:
                start = starts.setdefault(name, max(measured - seconds, 0.0))
                computed = f"{start:.1f} + {seconds:,.1f} s"
                if seconds > start:
                    ratios[name] = (measured - start) / seconds
            lines.append(
                f"| {shape.entries:,} | {name} | {computed} | {measured:,.1f} s | {memory / 1e9:.2f} GB "
                f"| {peak:.2f} GB |"
            )
    return lines, ratios


def carried(shape: Shape, units: Units, ratios: dict[str, float], workers: list[int], iterations: int) -> list[str]:
    """The table of one graph: a row a step."""
    heads = ["step", "memory", "read", "written", "processor, one core"]
    heads += [f"each of {count} workers, {way}" for way in ("shared folder", "addresses") for count in workers]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for cost in costs(shape, units, iterations):
        cells = [cost.name, _size(cost.memory), _size(cost.read), _size(cost.written)]
        cells.append(_hours(_seconds(cost, shape, ratios)))
        cells += [_size(way(count)) for way in (cost.network, cost.by_address) for count in workers]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _seconds(cost: Cost, shape: Shape, ratios: dict[str, float]) -> float:
    """Those of the formula, times what was measured over it where that is more than 1."""
    if cost.name == "convert":
        return ratios.get("convert", float("nan")) * float(shape.entries)
    command = "hps" if cost.name == "potential" else "predict" if cost.name == "predict" else "learn"
    return float(cost.seconds) * max(ratios.get(command, 1.0), 1.0)


def verdict(shape: Shape, units: Units, ratios: dict[str, float], arguments: argparse.Namespace) -> list[str]:
    """Hours of `learn` by workers: of their processors, and of the storage that all of them share."""
    learning = [cost for cost in costs(shape, units) if cost.name in COMMANDS["learn"]]
    alone = sum(_seconds(cost, shape, ratios) for cost in learning if not cost.shared)
    together = sum(_seconds(cost, shape, ratios) for cost in learning if cost.shared)
    heads = [
        "workers",
        "processor of each",
        "a shared folder serves",
        "that takes",
        "addresses serve",
        "that takes",
    ]
    lines = ["| " + " | ".join([*heads, "`learn` at least"]) + " |", "|---" * 7 + "|"]
    lines.append(f"| none, one core | {_hours(alone + together)} | | | | | {_hours(alone + together)} |")
    shared = [cost for cost in learning if cost.shared]
    for count in arguments.workers:
        served = [count * sum(cost.network(count) for cost in shared)]
        served.append(count * sum(cost.by_address(count) for cost in shared))
        least = _hours(alone + max(together / count, min(served) / arguments.storage))
        cells = [cell for size in served for cell in (_size(size), _hours(size / arguments.storage))]
        lines.append("| " + " | ".join([str(count), _hours(together / count), *cells, least]) + " |")
    return lines


def page(arguments: argparse.Namespace, units: Units) -> str:
    """The whole section."""
    graphs = json.loads(arguments.measured.read_text())
    compared, ratios = checked(graphs, units)
    largest = max(int(graph["entries"]) for graph in graphs)
    lines = [
        f"Unit costs (`cost_units.py`, {units.entries:,} entries, one thread, seconds of the processor): "
        f"{1e9 * units.open_entry:.1f} ns an entry to open, {1e9 * units.degree_entry:.0f} ns for the degrees, "
        f"{1e9 * units.pass_entry:.0f} ns an entry for each pass and {1e9 * units.pass_entry_column:.2f} ns an "
        f"entry and column, {1e6 * units.sums_row:.0f} µs a row for the sums, {units.fit:.1f} s for the fit, "
        f"{1e6 * units.predict_row:.0f} µs a row for predictions, "
        f"{1e9 * units.potential_entry_iteration:.1f} ns an entry and iteration for the potential "
        f"({units.potential_iterations} iterations).",
        "",
        f"Against the commands, as `scale.py` measured them (the largest graph has {largest:,} entries):",
        "",
        *compared,
    ]
    for entries in arguments.to:
        for memory in arguments.memory:
            shape = Shape(int(entries), parse_memory(memory), int(entries) // DEGREE)
            lines += ["", _title(shape, memory), ""]
            lines += carried(shape, units, ratios, arguments.workers, arguments.iterations)
            lines += ["", *verdict(shape, units, ratios, arguments)]
    return "\n".join(lines) + "\n"


def _title(shape: Shape, memory: str) -> str:
    return (
        f"**{shape.entries:,} entries, {shape.nodes:,} nodes, `--memory {memory}`**: a folder of "
        f"{_size(shape.folder)}, {shape.columns} of {FEATURES} columns at a time, so "
        f"{shape.passes} times over the entries for each hop; vectors of nodes take "
        f"{_size(NODE_BYTES * shape.nodes)} beside the budget."
    )


def _size(count: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return "" if not count else f"{count / 1e6:.2g} MB"


def _hours(seconds: float) -> str:
    if math.isnan(seconds):
        return "not measured"
    return (
        f"{seconds / 3600:.3g} h" if seconds >= 3600 else f"{seconds / 60:.3g} min" if seconds >= 60 else "< 1 min"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=Path, default=cost_units.STORED)
    parser.add_argument("--measured", type=Path, required=True, help="JSON file of scale.py")
    parser.add_argument("--to", type=float, nargs="+", default=[1e10])
    parser.add_argument("--memory", nargs="+", default=["7GB", "64GB"], help="of a process or worker")
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 16])
    parser.add_argument("--storage", type=float, default=2e9, help="bytes a second that the storage serves in all")
    parser.add_argument("--iterations", type=int, default=1000, help="of the potential of the graphs of --to")
    parser.add_argument("--write", type=Path, help="a page with markers, such as docs/PERFORMANCE.md")
    arguments = parser.parse_args()
    text = page(arguments, Units(**json.loads(arguments.units.read_text())))
    if arguments.write is None:
        print(text)
        return
    before = arguments.write.read_text(encoding="utf-8")
    filled = re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n\n{text}\n{END}", before, flags=re.DOTALL)
    if BEGIN not in before:
        raise SystemExit(f"{arguments.write} has no {BEGIN}")
    arguments.write.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main()
