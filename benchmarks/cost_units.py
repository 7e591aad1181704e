"""What the steps cost on one generated graph, for `cost_model.py`: seconds of the processor, one thread.

    python benchmarks/cost_units.py [--entries 2e6] [--folder F] [--json benchmarks/cost_units.json]

Opening costs a time for each entry, a pass over the graph one for each entry and one for each entry and column,
sums and predictions one for each row, the fit one at all, the Hodge potential one for each entry and iteration.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evergraph.budget import LEAST, memory_budget
from evergraph.data.graph_folder import read_folder
from evergraph.data.graph_folder.reading import mapped_csr
from evergraph.data.on_disk import DiskSteps, disk_adjacency
from evergraph.hodge import hodge_potential
from evergraph.methods.analytic import Analytic
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from generated import graph_folder

STORED = Path(__file__).with_name("cost_units.json")
DEGREE, FEATURES, CLASSES, WIDTH = 50, 64, 40, 2048
FEW = 8
"""Columns of a narrow product, by which what a pass costs is told from what a column costs."""


@dataclass(frozen=True)
class Units:
    """Seconds of the processor: by entry, by entry and column, by row, by entry and iteration; program: bytes."""

    open_entry: float
    degree_entry: float
    pass_entry: float
    pass_entry_column: float
    sums_row: float
    fit: float
    predict_row: float
    potential_entry_iteration: float
    potential_iterations: int
    program: int
    entries: int


def measure(entries: int, folder: Path) -> Units:
    """The unit costs on one graph, one thread."""
    torch.set_num_threads(1)
    program = _anonymous_bytes()
    path = graph_folder(folder, entries, DEGREE, FEATURES, CLASSES)
    with memory_budget(LEAST, folder):
        opening, graph = _timed(lambda: read_folder(path))
        adjacency = disk_adjacency(graph)
        m, n = adjacency.nnz, graph.n_nodes
        degrees, steps = _timed(lambda: DiskSteps(adjacency))
        dense = np.asarray(graph.features[:])
        wide, _ = _timed(lambda: steps.times(dense))
        narrow, _ = _timed(lambda: steps.times(np.ascontiguousarray(dense[:, :FEW])))
        column = max(wide - narrow, 0) / (m * (FEATURES - FEW))
        learner = make_learner(RunConfig.from_values({"method": {"name": "analytic", "width": WIDTH}}), FEATURES)
        assert isinstance(learner, Analytic)
        on, labels = learner.features.on(graph), np.asarray(graph.labels)
        rows = np.arange(n)
        adding, _ = _timed(
            lambda: learner.statistics.add((codes, labels[here]) for here, codes in on.in_blocks(rows)), times=1
        )
        fitting, _ = _timed(lambda: learner.linear, times=1)
        predicting, _ = _timed(lambda: learner.logits(graph, rows))
        whole = mapped_csr(path)
        solving, solution = _timed(lambda: hodge_potential(whole, method="blocks"))
    return Units(
        open_entry=opening / m,
        degree_entry=degrees / m,
        pass_entry=(wide / m - FEATURES * column),
        pass_entry_column=column,
        sums_row=adding / n,
        fit=fitting,
        predict_row=predicting / n,
        potential_entry_iteration=solving / m / solution.iterations,
        potential_iterations=solution.iterations,
        program=program,
        entries=m,
    )


def _timed(call: Callable[[], Any], times: int = 2) -> tuple[float, Any]:
    """The least processor seconds of some calls, and what the last one gave."""
    spent, found = [], None
    for _ in range(times):
        start = time.process_time()
        found = call()
        spent.append(time.process_time() - start)
    return min(spent), found


def _anonymous_bytes() -> int:
    """Memory of this process besides pages of mapped files."""
    return int(Path("/proc/self/status").read_text().partition("RssAnon:")[2].split()[0]) * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=float, default=2e6)
    parser.add_argument("--folder", type=Path, help="for the graph, which stays there")
    parser.add_argument("--json", type=Path, default=STORED)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        units = measure(int(arguments.entries), arguments.folder or Path(temporary))
    text = json.dumps(asdict(units), indent=1) + "\n"
    arguments.json.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
