"""A million nodes through `evergraph learn` and `evergraph predict`: time and peak memory of each command.

    python benchmarks/million.py [--nodes 1000000] [--edges 5000000] [--labelled 0.5] [--parquet] [--json]

Tables are generated: 16 numbers, a category and a topic of ten for each node, ids that are text; 70 % of the edges
join nodes of one topic. Memory is that of the whole command, the reading of its files included.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

TOPICS, NUMBERS = 10, 16


def write_tables(folder: Path, arguments: argparse.Namespace) -> dict[str, Path]:
    """Nodes with some labels, nodes with all of them, and edges."""
    rng = np.random.default_rng(0)
    n = arguments.nodes
    topic = rng.integers(0, TOPICS, n)
    means = rng.standard_normal((TOPICS, NUMBERS)) / 2
    numbers = (means[topic] + rng.standard_normal((n, NUMBERS))).astype(np.float32)
    nodes = pd.DataFrame(numbers, columns=[f"number {place}" for place in range(NUMBERS)])
    nodes.insert(0, "id", [f"user-{place:07d}" for place in range(n)])
    nodes["kind"] = rng.choice(["a", "b", "c"], n)
    nodes["topic"] = [f"topic {place}" for place in topic]
    source = rng.integers(0, n, arguments.edges)
    order = np.argsort(topic, kind="stable")
    first = np.searchsorted(topic[order], np.arange(TOPICS + 1))
    low, high = first[topic[source]], first[topic[source] + 1]
    alike = order[low + (rng.random(len(source)) * (high - low)).astype(np.int64)]
    target = np.where(rng.random(len(source)) < 0.7, alike, rng.integers(0, n, len(source)))
    pairs = np.unique(np.stack([source, target], axis=1)[source != target], axis=0)
    ids = nodes["id"].to_numpy()
    edges = pd.DataFrame({"source": ids[pairs[:, 0]], "target": ids[pairs[:, 1]]})
    some = nodes.assign(topic=nodes["topic"].where(rng.random(n) < arguments.labelled, None))
    suffix = "parquet" if arguments.parquet else "csv"
    paths = {name: folder / f"{name}.{suffix}" for name in ("nodes", "truth", "edges")}
    for table, path in zip((some, nodes, edges), paths.values(), strict=True):
        table.to_parquet(path) if arguments.parquet else table.to_csv(path, index=False)
    return paths


def measured(*command: str) -> dict[str, float]:
    """Wall seconds, processor seconds and peak memory in GB of one command of evergraph."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "evergraph", *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"evergraph {command[0]} failed")
    return {
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_gb": usage.ru_maxrss * 1024 / 1e9,
    }


def right(predictions: Path, truth: Path) -> float:
    """The share of predictions that are right."""
    read: Any = pd.read_parquet if truth.suffix == ".parquet" else pd.read_csv
    found, wanted = pd.read_csv(predictions), read(truth)
    return float((found["label"].to_numpy() == wanted["topic"].to_numpy()).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--labelled", type=float, default=0.5)
    parser.add_argument("--parquet", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_tables(folder, arguments)
        common = ["--model", str(folder / "model"), "--nodes", str(paths["nodes"]), "--edges", str(paths["edges"])]
        common += ["--label-column", "topic"]
        found: dict[str, Any] = {"learn": measured("learn", *common)}
        found["predict"] = measured("predict", *common, "--out", str(folder / "predictions.csv"))
        found["accuracy"] = right(folder / "predictions.csv", paths["truth"])
    if arguments.json:
        print(json.dumps(found))
        return
    for command in ("learn", "predict"):
        cost = found[command]
        times = f"{cost['seconds']:.0f} s ({cost['processor_seconds']:.0f} s of the processor)"
        print(f"{command:8}{times}, peak {cost['peak_gb']:.2f} GB")
    print(f"{100 * found['accuracy']:.1f} % of all nodes right")


if __name__ == "__main__":
    main()
