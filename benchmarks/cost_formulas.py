"""What each step costs, as formulas that follow the code, for `cost_model.py`.

The plans for blocks are those of the code itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cost_units
from cost_units import Units
from evergraph.budget import Budget
from evergraph.data.on_disk.blocks import ENTRY_BYTES, block_columns, block_entries
from evergraph.data.on_disk.steps import PORTIONS
from evergraph.methods.analytic import AUTO
from evergraph.methods.hop_features import _Late
from evergraph.methods.statistics_learner import PORTION

FEATURES: int = cost_units.FEATURES
WIDTH: int = cost_units.WIDTH
SETS, HOPS = len(AUTO), 2
NODE_BYTES = 130
"""Vectors of the size of the nodes in `run` and `learn`: ids, labels, split, hashes, degrees."""
ANSWER_BYTES = 60
"""The same in `predict`: ids, labels, degrees, answers."""
POTENTIAL_BYTES = 160
"""The same for the Hodge potential."""
EDGE_BYTES, CELL_BYTES = 192, 240
"""Of `convert`: an edge that is sorted, and a cell of the node table that is read, with all copies."""
TABLE_ROWS = 50_000


@dataclass(frozen=True)
class Cost:
    """A step: peak memory, bytes read and written, processor seconds; shared: whether workers share it.

    network, by_address: bytes of each worker, given their number: with folders on a shared file system, and with
    addresses, from which every worker brings what it reads to its own disk.
    """

    name: str
    memory: float
    read: float
    written: float
    seconds: float
    shared: bool = False
    network: Callable[[int], float] = lambda workers: 0.0
    by_address: Callable[[int], float] = lambda workers: 0.0


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


def costs(shape: Shape, units: Units, iterations: int | None = None) -> list[Cost]:
    """Every step of `convert`, `learn`, `predict` and `score --score hps`.

    iterations: of the potential, where they are others than on the graph of the unit costs.
    """
    turns = iterations or units.potential_iterations
    m, n, program = shape.entries, shape.nodes, units.program
    lasting = program + NODE_BYTES * n
    index = m * shape.index + n * shape.index
    sums = SETS * WIDTH * (WIDTH + 1) // 2
    fit = 3 * 8 * WIDTH**2
    train = int(0.9 * n)  # a tenth is held out
    blocks = shape.threads * block_entries(shape.budget) * ENTRY_BYTES if shape.on_disk else 0
    graph = 0 if shape.on_disk else 4 * (m * (shape.index + 4) + shape.hop)
    rows = min(_Late.at_once, n) * WIDTH * SETS
    hop_reads = shape.passes * (index + shape.hop)

    def exchanged(workers: int) -> float:
        """Of each worker: degrees and inputs of every portion, its rows of the adjacency, and what it writes."""
        own = shape.portions(workers) / workers
        inputs = own * shape.passes * shape.hop
        return 4 * n + HOPS * (inputs + shape.passes * index / workers + shape.hop / workers)

    def brought(workers: int) -> float:
        """Of each worker: degrees, the graph, and every hop as a whole, of which it writes its own rows."""
        return 4 * n + shape.folder + HOPS * (shape.hop + shape.hop / workers)

    def added(workers: int) -> float:
        """Of each worker: sums that go up a tree, two for each addition, and which rows are to be added up."""
        return (16 * train + 2 * -(-train // PORTION) * 4 * sums) / workers

    def reduced(workers: int) -> float:
        """The same and the rows of all hops that it adds up."""
        return added(workers) + train * (HOPS + 1) * 4 * FEATURES / workers

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
            brought,
        ),
        Cost(
            "sums",
            lasting + graph + 2 * rows + 20 * sums,
            (HOPS + 1) * shape.hop,
            0,
            units.sums_row * train,
            True,
            reduced,
            added,
        ),
        Cost("fit", lasting + graph + fit + 12 * sums, 0, 0, units.fit),
        Cost(
            "predict",
            program + ANSWER_BYTES * n + graph + fit,
            (HOPS + 1) * shape.hop,
            60 * n,
            units.predict_row * n,
        ),
        Cost(
            "potential",
            program + POTENTIAL_BYTES * n,
            turns * index,
            30 * n,
            units.potential_entry_iteration * m * turns,
        ),
    ]


def _table_memory(shape: Shape) -> float:
    return min(shape.memory / 4, CELL_BYTES * min(TABLE_ROWS, shape.nodes) * (FEATURES + 2))
