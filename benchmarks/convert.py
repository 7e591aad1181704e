"""Tables larger than memory through `evergraph data convert`: time and peak memory beside the size of the files.

    python benchmarks/convert.py [--edges 10000000] [--nodes 1000000] [--memory 500MB] [--text-ids] [--json]

Parquet tables are generated in chunks: random edges, and for each node numbers, a category and a class of ten; ids
are whole numbers in another order than the rows, or text. Peak memory is that of the process of the command; beside
it that of a process that only imports what the command needs.
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
import pyarrow as arrow
from numpy.typing import NDArray
from pyarrow import parquet

CHUNK = 500_000
COMMAND = "from evergraph.cli import run_main; code = run_main(sys.argv[2:])"
IMPORTS = "import pyarrow.parquet, evergraph.data.convert; code = 0"
REPORT = "open(sys.argv[1], 'w').write(open('/proc/self/status').read()); sys.exit(code)"
"""The peak of a process by itself: what the system reports to its parent may be that of the parent."""


def names(rows: NDArray[np.int64], nodes: int, *, text: bool) -> Any:
    """The ids of some rows: a permutation of 0 to nodes - 1."""
    ids = (rows * 7919 + 13) % nodes if np.gcd(7919, nodes) == 1 else nodes - 1 - rows
    return arrow.array([f"user-{node:09d}" for node in ids.tolist()]) if text else arrow.array(ids)


def write_tables(folder: Path, arguments: argparse.Namespace) -> tuple[Path, Path]:
    """Nodes and edges, a chunk after the other."""
    rng = np.random.default_rng(0)
    paths = folder / "nodes.parquet", folder / "edges.parquet"
    for path, total in zip(paths, (arguments.nodes, arguments.edges), strict=True):
        writer = None
        for start in range(0, total, CHUNK):
            size = min(CHUNK, total - start)
            table = (
                node_chunk(rng, start, size, arguments) if path is paths[0] else edge_chunk(rng, size, arguments)
            )
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()
    return paths


def node_chunk(rng: np.random.Generator, start: int, size: int, arguments: argparse.Namespace) -> Any:
    columns = {"id": names(np.arange(start, start + size), arguments.nodes, text=arguments.text_ids)}
    columns["label"] = arrow.array(rng.integers(0, 10, size))
    columns["kind"] = arrow.array(rng.choice(np.array(["a", "b", "c"]), size))
    columns |= {f"number {at}": arrow.array(rng.standard_normal(size)) for at in range(arguments.numbers)}
    return arrow.table(columns)


def edge_chunk(rng: np.random.Generator, size: int, arguments: argparse.Namespace) -> Any:
    ends = {end: rng.integers(0, arguments.nodes, size) for end in ("source", "target")}
    return arrow.table({end: names(rows, arguments.nodes, text=arguments.text_ids) for end, rows in ends.items()})


def measured(folder: Path, code: str, *arguments: str) -> dict[str, float]:
    """Wall seconds, processor seconds and peak memory in GB of one process of Python."""
    status = folder / "status"
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", f"import sys; {code}; {REPORT}", str(status), *arguments], stdout=subprocess.DEVNULL
    )
    _, failed, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if failed:
        raise SystemExit(f"{' '.join(arguments[:2])} failed")
    peak = int(status.read_text().partition("VmHWM:")[2].split()[0])
    return {
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_gb": peak * 1024 / 1e9,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--memory", default="500MB")
    parser.add_argument("--numbers", type=int, default=16)
    parser.add_argument("--text-ids", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nodes, edges = write_tables(folder, arguments)
        command = ["data", "convert", "--edges", str(edges), "--nodes", str(nodes), "--memory", arguments.memory]
        command += ["--out", str(folder / "graph"), "--set", "dataset.options.duplicates=merge"]
        found: dict[str, Any] = {
            "convert": measured(folder, COMMAND, *command),
            "check": measured(folder, COMMAND, "data", "check", str(folder / "graph")),
            "imports": measured(folder, IMPORTS),
        }
        found["tables_gb"] = sum(path.stat().st_size for path in (nodes, edges)) / 1e9
        found["folder_gb"] = sum(path.stat().st_size for path in (folder / "graph").iterdir()) / 1e9
    if arguments.json:
        print(json.dumps(found))
        return
    print(f"{arguments.edges:,} edges, {arguments.nodes:,} nodes: tables {found['tables_gb']:.2f} GB, ", end="")
    print(f"folder {found['folder_gb']:.2f} GB, budget {arguments.memory}")
    for what in ("convert", "check", "imports"):
        cost = found[what]
        times = f"{cost['seconds']:.1f} s ({cost['processor_seconds']:.1f} s of the processor)"
        print(f"{what:8}{times}, peak {cost['peak_gb']:.2f} GB")


if __name__ == "__main__":
    main()
