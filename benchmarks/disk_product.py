"""Propagation of a graph that is read in blocks: compiled loops against scipy's products, in turn, same bits.

    python benchmarks/disk_product.py [--nodes 1000000] [--degree 50] [--columns 64] [--share 0.5] [--turns 5]
                                      [--json]

A random graph, as the whole and as some of its nodes. Nanoseconds of the processor for an entry that counts, the
median of the turns; one thread.
"""

import argparse
import json
import statistics
import time
from unittest.mock import patch

import numpy as np
from scipy import sparse

from evergraph.budget import memory_budget
from evergraph.data.on_disk import DiskAdjacency, DiskSteps
from evergraph.data.on_disk.jit import kernels

MEMORY = 4 * 10**9


def random_graph(nodes: int, degree: int, rng: np.random.Generator) -> sparse.csr_array:
    columns = rng.integers(0, nodes, (nodes, degree), dtype=np.int32)
    columns.sort(axis=1)
    indptr = np.arange(0, nodes * degree + 1, degree, dtype=np.int32)
    ones = np.ones(nodes * degree, dtype=np.float32)
    matrix = sparse.csr_array((ones, columns.ravel(), indptr), shape=(nodes, nodes))
    matrix.sum_duplicates()
    return matrix


def compare(adjacency: DiskAdjacency, x: np.ndarray, turns: int) -> dict[str, float]:
    """Nanoseconds for an entry of both ways, of the first block of rows."""
    part, ways = adjacency.parts[0], {"compiled": kernels, "scipy": lambda: None}
    entries = adjacency.rows(part).nnz
    taken: dict[str, list[float]] = {name: [] for name in ways}
    found = {}
    for turn in range(turns + 1):  # the first is not counted: loops are compiled, and pages are new
        for name, way in ways.items():
            with patch("evergraph.data.on_disk.steps.kernels", way):
                steps = DiskSteps(adjacency)
                start = time.thread_time()
                found[name] = steps._product(part, x)
                if turn:
                    taken[name].append((time.thread_time() - start) * 1e9 / entries)
    assert np.array_equal(found["compiled"], found["scipy"])
    median = {name: statistics.median(values) for name, values in taken.items()}
    return {**median, "times as fast": median["scipy"] / median["compiled"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=int, default=50)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--share", type=float, default=0.5, help="of the nodes that are there in the second graph")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if kernels() is None:
        raise SystemExit("compiled loops are wanted, which need evergraph[jit]; none are here")
    rng = np.random.default_rng(0)
    matrix = random_graph(arguments.nodes, arguments.degree, rng)
    some = np.flatnonzero(rng.random(arguments.nodes) < arguments.share)
    found = {}
    with memory_budget(MEMORY):
        for name, nodes in (("all nodes", None), ("some nodes", some)):
            adjacency = DiskAdjacency(matrix, nodes, weighted=False, loops=True)
            x = rng.standard_normal((adjacency.n_nodes, arguments.columns), dtype=np.float32)
            found[name] = compare(adjacency, x, arguments.turns)
            if not arguments.json:
                print(name, ", ".join(f"{key} {value:.2f}" for key, value in found[name].items()))
    if arguments.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
