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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cost_units
from cost_units import Units
from evergraph.budget import Budget, parse_memory
from evergraph.data.on_disk.blocks import ENTRY_BYTES, block_columns, block_entries
from evergraph.data.on_disk.steps import PORTIONS
from evergraph.methods.analytic import AUTO
from evergraph.methods.hop_features import _Late
from evergraph.methods.statistics_learner import PORTION

DEGREE: int = cost_units.DEGREE
FEATURES: int = cost_units.FEATURES
WIDTH: int = cost_units.WIDTH
SETS, HOPS = len(AUTO), 2
NODE_BYTES = 100
"""Vectors of the size of the nodes in `learn` and `predict`: ids, labels, split, hashes, degrees, answers."""
POTENTIAL_BYTES = 160
"""The same for the Hodge potential."""
EDGE_BYTES, CELL_BYTES = 192, 240
"""Of `convert`: an edge that is sorted, and a cell of the node table that is read, with all copies."""
TABLE_ROWS = 50_000
BEGIN, END = "<!-- begin cost-model -->", "<!-- end cost-model -->"


@dataclass(frozen=True)
class Cost:
    """A step: peak memory, bytes read and written, processor seconds; shared: whether workers share it.

    network: bytes of each worker, given their number.
    """

    name: str
    memory: float
    read: float
    written: float
    seconds: float
    shared: bool = False
    network: Callable[[int], float] = lambda workers: 0.0


@dataclass(frozen=True)
class Shape:
    """A graph of the kind of `generated.py`, and the memory and threads of a process (or of each worker)."""

    entries: int
    memory: int
    nodes: int
    threads: int = 2

    @property
    def index(self) -> int:
        """Bytes of an index of the adjacency."""
        return 4 if max(self.entries, self.nodes) < 2**31 - 1 else 8

    @property
    def hop(self) -> int:
        """Bytes of the features, and of each hop of them."""
        return 4 * self.nodes * FEATURES

    @property
    def names(self) -> int:
        return 4 * self.nodes * len(str(self.nodes - 1))

    @property
    def folder(self) -> int:
        """Bytes of the graph folder."""
        return self.entries * (self.index + 4) + self.nodes * (self.index + 8) + self.hop + self.names

    @property
    def on_disk(self) -> bool:
        """Whether it is read in blocks (`bytes_in_memory`)."""
        return 4 * (self.entries * (self.index + 4) + self.nodes * (8 + 4 * FEATURES)) > self.memory

    @property
    def budget(self) -> Budget:
        return Budget(self.memory, Path())

    @property
    def columns(self) -> int:
        return block_columns(self.budget, self.nodes, FEATURES) if self.on_disk else FEATURES

    @property
    def passes(self) -> int:
        """Over the entries, for each hop."""
        return -(-FEATURES // self.columns)

    def portions(self, workers: int) -> int:
        """Into which the rows of a hop are cut for workers; each reads all columns of its inputs."""
        return max(PORTIONS * workers, -(-8 * self.hop // self.memory))


def costs(shape: Shape, units: Units) -> list[Cost]:
    """Every step of `convert`, `learn`, `predict` and `score --score hps`."""
    m, n, program = shape.entries, shape.nodes, units.program
    lasting = program + NODE_BYTES * n
    index = m * shape.index + n * shape.index
    sums = SETS * WIDTH * (WIDTH + 1) // 2
    fit = 3 * 8 * WIDTH**2
    train = int(0.9 * n)  # a tenth is held out
    blocks = shape.threads * block_entries(shape.budget) * ENTRY_BYTES
    graph = 0 if shape.on_disk else 4 * (m * (shape.index + 4) + shape.hop)
    rows = min(_Late.at_once, n) * WIDTH * SETS
    hop_reads = shape.passes * (index + shape.hop)

    def exchanged(workers: int) -> float:
        """Of each worker: degrees and inputs of every portion, its rows of the adjacency, and what it writes."""
        own = shape.portions(workers) / workers
        inputs = own * shape.passes * shape.hop
        return 4 * n + HOPS * (inputs + shape.passes * index / workers + shape.hop / workers)

    def reduced(workers: int) -> float:
        """Of each worker: the rows it adds up, and sums that go up a tree."""
        parts = -(-train // PORTION)
        return (train * (16 + (HOPS + 1) * 4 * FEATURES) + 2 * parts * 4 * sums) / workers

    return [
        Cost(
            "convert",
            program / 2 + max(min(shape.memory / 2, EDGE_BYTES * m / 2), _table_memory(shape)),
            30 * m + 12 * n * (FEATURES + 2),
            shape.folder + 30 * m + 12 * n * (FEATURES + 2),
            float("nan"),  # only measured
        ),
        Cost("open", program + 2**25, index + 8 * n + shape.names, 0, units.open_entry * m),
        Cost("degrees", lasting + graph + blocks, index, 0, units.degree_entry * m, True),
        Cost(
            "propagate",
            lasting + graph + (4 * n * shape.columns + blocks if shape.on_disk else (HOPS + 1) * shape.hop),
            HOPS * hop_reads if shape.on_disk else 0,
            HOPS * shape.hop if shape.on_disk else 0,
            HOPS * (shape.passes * m * units.pass_entry + m * FEATURES * units.pass_entry_column),
            True,
            exchanged,
        ),
        Cost(
            "sums",
            lasting + graph + 2 * rows + 20 * sums,
            (HOPS + 1) * shape.hop,
            0,
            units.sums_row * train,
            True,
            reduced,
        ),
        Cost("fit", lasting + graph + fit + 12 * sums, 0, 0, units.fit),
        Cost("predict", lasting + graph + fit, (HOPS + 1) * shape.hop, 60 * n, units.predict_row * n),
        Cost(
            "potential",
            program + POTENTIAL_BYTES * n,
            units.potential_iterations * index,
            30 * n,
            units.potential_entry_iteration * m * units.potential_iterations,
        ),
    ]


def _table_memory(shape: Shape) -> float:
    return min(shape.memory / 4, CELL_BYTES * min(TABLE_ROWS, shape.nodes) * (FEATURES + 2))


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

    Of `convert` the measured seconds an entry.
    """
    lines = [
        "| entries | command | processor: computed | measured | memory: computed | measured |",
        "|---" * 6 + "|",
    ]
    ratios: dict[str, float] = {}
    for graph in sorted(graphs, key=lambda graph: float(graph["entries"])):
        shape = Shape(int(graph["entries"]), parse_memory(graph["memory"]), int(graph["nodes"]))
        found = costs(shape, units)
        for name, steps in COMMANDS.items():
            if name not in graph["steps"]:
                continue
            step = graph["steps"][name]
            seconds, memory = command_cost(found, steps)
            ratios[name] = step["processor"] / (shape.entries if name == "convert" else seconds)
            computed = "" if name == "convert" else f"{seconds:,.1f} s"
            lines.append(
                f"| {shape.entries:,} | {name} | {computed} | {step['processor']:,.1f} s | {memory / 1e9:.2f} GB "
                f"| {step['peak_gb']:.2f} GB |"
            )
    return lines, ratios


def carried(shape: Shape, units: Units, ratios: dict[str, float], workers: list[int]) -> list[str]:
    """The table of one graph: a row a step."""
    heads = ["step", "memory", "read", "written", "processor, one core"]
    heads += [f"network of each of {count} workers" for count in workers]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for cost in costs(shape, units):
        cells = [cost.name, _size(cost.memory), _size(cost.read), _size(cost.written)]
        cells.append(_hours(_seconds(cost, shape, ratios)))
        cells += [_size(cost.network(count)) if cost.shared else "" for count in workers]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _seconds(cost: Cost, shape: Shape, ratios: dict[str, float]) -> float:
    """Those of the formula, times what was measured over it; a step below 1 of it is not believed."""
    if cost.name == "convert":
        return ratios.get("convert", float("nan")) * shape.entries
    command = "hps" if cost.name == "potential" else "predict" if cost.name == "predict" else "learn"
    return cost.seconds * max(ratios.get(command, 1.0), 1.0)


def verdict(shape: Shape, units: Units, ratios: dict[str, float], arguments: argparse.Namespace) -> list[str]:
    """Hours of `learn` with so many workers, and what takes them: the processor, or the shared storage."""
    found = costs(shape, units)
    learning = [cost for cost in found if cost.name in COMMANDS["learn"]]
    alone = sum(_seconds(cost, shape, ratios) for cost in learning if not cost.shared)
    together = sum(_seconds(cost, shape, ratios) for cost in learning if cost.shared)
    reads = sum(cost.read + cost.written for cost in learning)
    lines = ["| workers | processor of each | storage serves in all | at the stated rate | `learn` at least |"]
    lines.append("|---" * 5 + "|")
    slowest = max(alone + together, reads / arguments.storage)
    lines.append(
        f"| none, one core | {_hours(alone + together)} | {_size(reads)} | {_hours(reads / arguments.storage)} "
        f"| {_hours(slowest)} |"
    )
    for count in arguments.workers:
        served = count * sum(cost.network(count) for cost in learning if cost.shared)
        each, storage = together / count, served / arguments.storage
        least = _hours(alone + max(each, storage))
        lines.append(f"| {count} | {_hours(each)} | {_size(served)} | {_hours(storage)} | {least} |")
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
            lines += carried(shape, units, ratios, arguments.workers)
            lines += ["", *verdict(shape, units, ratios, arguments)]
    return "\n".join(lines) + "\n"


def _title(shape: Shape, memory: str) -> str:
    return (
        f"**{shape.entries:,} entries, {shape.nodes:,} nodes, `--memory {memory}`**: a folder of "
        f"{_size(shape.folder)}, {shape.columns} of {FEATURES} columns at a time, so "
        f"{shape.passes} passes over the entries for each hop; vectors of nodes take "
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
    parser.add_argument("--memory", nargs="+", default=["7GB", "64GB", "256GB"], help="of a process or worker")
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 16])
    parser.add_argument("--storage", type=float, default=2e9, help="bytes a second that the storage serves in all")
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
