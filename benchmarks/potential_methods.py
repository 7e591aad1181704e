"""The methods of the Hodge potential on one memory-mapped graph: time, and memory besides the maps themselves.

    python benchmarks/potential_methods.py [--entries 10000000] [--methods memory blocks] [--mesh] [--directed]

A graph is generated and kept as .npy files: nodes on a circle, of very unequal degree, nearly twenty entries a node
on average, most of them to nodes nearby, so that a solve takes about as many iterations as on a citation graph; or
a square grid. Each method runs in a process of its own, with one thread, in turn; of several rounds the fastest
counts; petsc-2 is PETSc in two processes. Memory is the largest sum of what the process and its children had in
anonymous memory (RssAnon), without what it had before it began: pages of a map are dropped when others need memory.
Beside other work, compare the seconds of the processor: those of all processes together, also while they wait for
each other. On idle cores two processes take about half of the seconds in children.
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
from scipy.sparse import coo_array, csr_array

NAMES = ("indptr", "indices", "data")


def write_graph(folder: Path, entries: int, *, mesh: bool, directed: bool, seed: int) -> dict[str, int]:
    """A graph without weights, as .npy files of a CSR matrix; directed, every edge is there one way."""
    if mesh:
        side = max(2, round((entries / 4) ** 0.5))
        node = np.arange(side * side, dtype=np.int32).reshape(side, side)
        tail = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
        head = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
        n = side * side
    else:
        rng, n = np.random.default_rng(seed), max(4, entries // 20)
        busy = (n * rng.random(entries // 2) ** 2.5).astype(np.int32)
        tail = rng.permutation(n).astype(np.int32)[busy]
        head = (tail + ((n / 2) ** (0.75 * rng.random(entries // 2))).astype(np.int32)) % n
    ends = (tail, head) if directed else (np.concatenate([tail, head]), np.concatenate([head, tail]))
    matrix = csr_array(coo_array((np.ones(len(ends[0]), dtype=bool), ends), shape=(n, n)))
    matrix.sort_indices()
    index = np.int32 if matrix.nnz < np.iinfo(np.int32).max else np.int64
    np.save(folder / "indptr.npy", matrix.indptr.astype(index))
    np.save(folder / "indices.npy", matrix.indices.astype(index))
    np.save(folder / "data.npy", np.ones(matrix.nnz, dtype=np.float32))
    return {"nodes": n, "entries": int(matrix.nnz)}


def opened(folder: Path) -> csr_array:
    """The matrix over memory maps of its files."""
    arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in NAMES]
    n = len(arrays[0]) - 1
    matrix = csr_array((n, n), dtype=np.float32)
    matrix.indptr, matrix.indices, matrix.data = arrays
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def solve(folder: Path, way: str, options: dict[str, Any]) -> None:
    """In a process of its own: one potential; what came of it goes to a file."""
    from evergraph.hodge import Preconditioner, hodge_potential

    graph, before = opened(folder), anonymous(os.getpid())
    method, *more = way.split("-")
    ranks = next((int(word) for word in more if word.isdigit()), None)
    kind = Preconditioner.MULTIGRID if "multigrid" in more else Preconditioner.JACOBI
    used, begun = os.times(), time.perf_counter()
    found = hodge_potential(graph, method=method, ranks=ranks, preconditioner=kind, **options)
    seconds = time.perf_counter() - begun
    own, children = (sum(os.times()[at : at + 2]) - sum(used[at : at + 2]) for at in (0, 2))
    np.save(folder / f"{way}.npy", found.value)
    facts = {"seconds": seconds, "processor_seconds": own + children, "in_children": children, "before": before}
    facts |= {"iterations": found.iterations, "residual": found.residual}
    (folder / f"{way}.json").write_text(json.dumps(facts))


def anonymous(process: int) -> int:
    """Bytes of anonymous memory of a process; 0 where it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    _, found, rest = status.partition("RssAnon:")
    return int(rest.split()[0]) * 1024 if found else 0


def family(process: int) -> list[int]:
    """A process and its children, and theirs."""
    found = [process]
    for parent in found:
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return found


def measured(folder: Path, way: str, options: dict[str, Any]) -> dict[str, Any]:
    """What one potential takes; its value is in a file."""
    command = [sys.executable, __file__, "--solve", way, "--folder", str(folder), "--options", json.dumps(options)]
    child, peak = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}), 0
    while child.poll() is None:
        peak = max(peak, sum(anonymous(process) for process in family(child.pid)))
        time.sleep(0.05)
    if child.returncode:
        raise SystemExit(f"{way} failed")
    facts: dict[str, Any] = json.loads((folder / f"{way}.json").read_text())
    return {**facts, "memory": peak - facts.pop("before")}


def compare(folder: Path, ways: list[str], options: dict[str, Any], repeats: int) -> list[dict[str, Any]]:
    """A row for each method, the first of which the others are compared with."""
    rounds = [{way: measured(folder, way, options) for way in ways} for _ in range(repeats)]
    wanted, rows = np.load(folder / f"{ways[0]}.npy"), []
    for way in ways:
        runs = [turn[way] for turn in rounds]
        difference = float(np.abs(np.load(folder / f"{way}.npy") - wanted).max() / np.abs(wanted).max())
        best = {key: min(run[key] for run in runs) for key in ("seconds", "processor_seconds", "in_children")}
        peak = max(run["memory"] for run in runs)
        rows.append({"method": way, **runs[-1], **best, "memory": peak, "difference": difference})
    for row in rows:
        row["time_ratio"] = row["seconds"] / rows[0]["seconds"]
        row["processor_ratio"] = row["processor_seconds"] / rows[0]["processor_seconds"]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument(
        "--methods",
        nargs="+",
        default=["memory", "blocks"],
        help="memory, memory-multigrid, blocks, petsc-2, petsc-2-multigrid...",
    )
    parser.add_argument("--mesh", action="store_true", help="a square grid instead")
    parser.add_argument("--directed", action="store_true", help="half of the entries: each edge one way")
    parser.add_argument("--memory", type=int, default=2_000_000_000, help="bytes that blocks may use")
    parser.add_argument("--tolerance", type=float, default=1e-10)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--solve", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--options", type=json.loads, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.solve:
        solve(arguments.folder, arguments.solve, arguments.options)
        return
    options: dict[str, Any] = {"tolerance": arguments.tolerance, "memory": arguments.memory, "must_converge": False}
    options["directed"] = arguments.directed
    with tempfile.TemporaryDirectory() as name:
        graph = write_graph(
            Path(name), arguments.entries, mesh=arguments.mesh, directed=arguments.directed, seed=arguments.seed
        )
        rows = compare(Path(name), arguments.methods, options, arguments.repeats)
    if arguments.json:
        print(json.dumps({**graph, "rows": rows}))
        return
    print(f"{graph['nodes']:,} nodes, {graph['entries']:,} entries")
    for row in rows:
        print(
            f"{row['method']:10} {row['seconds']:8.2f} s ({row['time_ratio']:.2f} times the first), processor "
            f"{row['processor_seconds']:.2f} s ({row['processor_ratio']:.2f} times; {row['in_children']:.2f} s in "
            f"children), "
            f"{row['memory'] / 1e9:.2f} GB ({row['memory'] / graph['entries']:.1f} bytes an entry, "
            f"{row['memory'] / graph['nodes']:.0f} a node), {row['iterations']} iterations, "
            f"residual {row['residual']:.1e}, differs by {row['difference']:.0e} of the largest value"
        )


if __name__ == "__main__":
    main()
