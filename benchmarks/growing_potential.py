"""The Hodge potential of a graph that grows: begun at the potential before, against begun at zero.

    python benchmarks/growing_potential.py --data-dir FOLDER [--dataset ogbn-arxiv] [--growth 0.01 0.1] [--json]

A share of the nodes (seeded) is new. Both solves reach the same certified residual; they take turns, and of several
the fastest counts.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from evergraph.data.datasets import load_dataset
from evergraph.hodge import grown_start, hodge_potential


def measure(adjacency: csr_array, growth: float, seed: int, repeats: int) -> dict[str, Any]:
    """Iterations and seconds of both ways, where this share of the nodes has just come."""
    n = adjacency.shape[0]
    came = np.random.default_rng(seed).permutation(n)[: max(1, round(growth * n))]
    old = np.setdiff1d(np.arange(n), came)
    before = hodge_potential(csr_array(adjacency[old][:, old]))
    seconds: dict[str, list[float]] = {"cold": [], "warm": []}
    for _ in range(repeats):
        begun = time.perf_counter()
        cold = hodge_potential(adjacency)
        seconds["cold"].append(time.perf_counter() - begun)
        begun = time.perf_counter()
        warm = hodge_potential(adjacency, start=grown_start(adjacency, before.value, old))
        seconds["warm"].append(time.perf_counter() - begun)
    return {
        "growth": growth,
        "iterations_cold": cold.iterations,
        "iterations_warm": warm.iterations,
        "time_ratio": min(seconds["warm"]) / min(seconds["cold"]),
        "largest_difference": float(np.abs(warm.value - cold.value).max() / np.abs(cold.value).max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--dataset", default="ogbn-arxiv")
    parser.add_argument("--growth", type=float, nargs="+", default=[0.001, 0.01, 0.1])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    adjacency = csr_array(load_dataset(arguments.dataset, data_dir=arguments.data_dir).adjacency, dtype=np.float64)
    rows = [measure(adjacency, growth, arguments.seed, arguments.repeats) for growth in arguments.growth]
    if arguments.json:
        print(json.dumps({"dataset": arguments.dataset, "rows": rows}))
        return
    print(f"{arguments.dataset}: {adjacency.shape[0]:,} nodes, {adjacency.nnz:,} entries")
    for row in rows:
        print(
            f"{row['growth']:.1%} new nodes: {row['iterations_warm']} iterations for {row['iterations_cold']}, "
            f"{row['time_ratio']:.2f} times as long, scores differ by {row['largest_difference']:.0e}"
        )


if __name__ == "__main__":
    main()
