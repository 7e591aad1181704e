"""One graph folder learned by one process and by workers of a local Ray cluster, taking turns in one run.

    python benchmarks/ray_workers.py [--entries 1e7] [--memory 250MB] [--rounds 2] [--width 2048]
        [--ways threads-1 threads-2 workers-1 workers-2] [--folder F] [--json]

A generated graph (`generated.py`: 50 entries a node, 64 features, 40 classes) is learned by `analytic` as one task,
from disk in blocks whatever the way. threads-K: this process with K threads; workers-K: a cluster of K processors
on this machine, the calling process with K threads. Phases: start (of the cluster), open (the graph is checked),
propagate (two hops), sums (counts, class sums and Gram matrices of four sets of hops), fit, predict (every fifth
node). Start, open, fit and predict are not shared among workers. Seconds are of the clock and of the processor: in
the calling process, and in the workers. The fastest round of each phase counts. All ways end in the same state.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evergraph.budget import memory_budget, parse_memory
from evergraph.data.on_disk import is_on_disk
from evergraph.experiments.ray_workers import ray_workers
from evergraph.methods.analytic import Analytic
from evergraph.runs.build import make_learner, open_stream
from evergraph.runs.config import RunConfig
from evergraph.watch import Watch
from generated import graph_folder

DEGREE, FEATURES, CLASSES = 50, 64, 40
WAYS = ("threads-1", "threads-2", "workers-1", "workers-2")
TICK = os.sysconf("SC_CLK_TCK")


def worker_seconds() -> float:
    """Processor seconds so far of the Ray workers that this process has started."""
    parents, seconds = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has just ended
            continue
        fields, pid = rest.split(), int(path.parent.name)
        parents[pid] = int(fields[1])
        if name.startswith("ray::"):
            seconds[pid] = (int(fields[11]) + int(fields[12])) / TICK
    return sum(spent for pid, spent in seconds.items() if _is_below(pid, parents))


def _is_below(pid: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == os.getpid():
            return True
    return False


class Times:
    """Clock seconds, and processor seconds here and in workers, by phase."""

    def __init__(self) -> None:
        self.phases: dict[str, dict[str, float]] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = time.perf_counter(), time.process_time(), worker_seconds()
        yield
        stop = time.perf_counter(), time.process_time(), worker_seconds()
        names = ("clock", "processor", "workers")
        self.phases[name] = {key: end - begun for key, begun, end in zip(names, start, stop, strict=True)}


def learned(way: str, graph: Path, scratch: Path, width: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The times of one way, and what it ended in: the learner's state and its predictions."""
    kind, count = way.split("-")
    torch.set_num_threads(int(count))
    times, one_task = Times(), {"classes_per_task": CLASSES, "inter_task_edges": True}
    config = RunConfig.from_values(
        {"dataset": {"name": f"{graph}/"}, "method": {"name": "analytic", "width": width}, "stream": one_task}
    )
    workers = ray_workers(None, int(count), scratch) if kind == "workers" else nullcontext()
    with times.phase("start"):
        workers.__enter__()
    try:
        with times.phase("open"):
            stream = open_stream(config, None)
            (task,) = stream.views(0, with_past=False)
        if not is_on_disk(task.graph):
            raise SystemExit("the graph is in memory; lower --memory, so that all ways read it from disk")
        learner = make_learner(config, stream.graph.n_features)
        assert isinstance(learner, Analytic)
        with times.phase("propagate"):
            learner.features.hops_on_disk(task.graph)  # which are remembered
        with times.phase("sums"):
            learner.learn(task, (), Watch())
        with times.phase("fit"):
            weights = learner.linear[0]
        with times.phase("predict"):
            logits = learner.logits(task.graph, np.arange(0, task.graph.n_nodes, 5))
    finally:
        workers.__exit__(None, None, None)
    return times.phases, {**learner.state(), "weights": torch.as_tensor(weights), "logits": logits}


def digests(state: dict[str, Any]) -> dict[str, str]:
    """A checksum of every tensor."""
    return {
        name: sha256(np.ascontiguousarray(value.numpy()).tobytes()).hexdigest() for name, value in state.items()
    }


def in_process(way: str, graph: Path, scratch: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """The times and the checksums of one way, in a process of its own."""
    words = ["--one", way, "--graph", str(graph), "--folder", str(scratch), "--memory", arguments.memory]
    words += ["--width", str(arguments.width)]
    done = subprocess.run([sys.executable, __file__, *words], stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def compare(arguments: argparse.Namespace, graph: Path, scratch: Path) -> dict[str, Any]:
    """The fastest times of every way; all must end in the same state."""
    found: dict[str, Any] = {way: {} for way in arguments.ways}
    first: dict[str, str] | None = None
    for _ in range(arguments.rounds):
        for way, best in found.items():
            done = in_process(way, graph, scratch, arguments)
            first = first or done["state"]
            differs = [name for name, value in done["state"].items() if value != first.get(name)]
            if differs:
                raise SystemExit(f"{way} ends in another state than {arguments.ways[0]}: {', '.join(differs)}")
            for name, phase in done["times"].items():
                if name not in best or phase["clock"] < best[name]["clock"]:
                    best[name] = phase
    return found


def markdown(found: dict[str, Any]) -> str:
    """A row a phase: clock (processor of the caller + of the workers)."""
    lines = ["| phase | " + " | ".join(found) + " |", "|---" * (len(found) + 1) + "|"]
    for name in next(iter(found.values())):
        cells = [
            f"{phase['clock']:.1f} s ({phase['processor']:.1f} + {phase['workers']:.1f})"
            for phase in (times[name] for times in found.values())
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    totals = [sum(phase["clock"] for phase in times.values()) for times in found.values()]
    shared = [times["propagate"]["clock"] + times["sums"]["clock"] for times in found.values()]
    for name, values in (("all", totals), ("propagate and sums", shared)):
        cells = [f"{value:.1f} s, {value / values[0]:.2f} times" for value in values]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=float, default=1e7)
    parser.add_argument("--memory", default="250MB", help="for this process, and for each worker")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--folder", type=Path, help="for the graph, which stays there, and for propagated features")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--graph", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        with memory_budget(parse_memory(arguments.memory), arguments.folder):
            times, state = learned(arguments.one, arguments.graph, arguments.folder, arguments.width)
        print(json.dumps({"times": times, "state": digests(state)}))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        graph = graph_folder(folder, int(arguments.entries), DEGREE, FEATURES, CLASSES)
        found = compare(arguments, graph, folder)
        facts = json.loads((graph / "graph.json").read_text())
    if arguments.json:
        print(json.dumps({"entries": facts["edges"], "nodes": facts["nodes"], "ways": found}))
        return
    print(
        f"{facts['edges']:,} entries, {facts['nodes']:,} nodes, {arguments.memory}; all states have the same bits\n"
    )
    print(markdown(found))


if __name__ == "__main__":
    main()
