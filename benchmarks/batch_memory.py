"""The estimated memory of a training step on all nodes, against the measured peak of a process that does some.

    python benchmarks/batch_memory.py [--json]

Every case is a process of its own. The peak is what the process has at most while it prepares the batch and does
two epochs, minus what it has before.
"""

import argparse
import json
import subprocess
import sys
from typing import Any

from evergraph.backbones.size import GraphSize
from evergraph.data.datasets.sbm import SbmOptions, generate
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.runs.process import PeakMemory
from evergraph.runs.scoring import one_task
from evergraph.training.batching import size_text
from evergraph.watch import Watch

CASES: dict[str, dict[str, Any]] = {
    "50,000 nodes of degree 10, 64 features": {"nodes": 50_000, "mean_degree": 10, "features": 64},
    "10,000 nodes of degree 100, 64 features": {"nodes": 10_000, "mean_degree": 100, "features": 64},
    "20,000 nodes of degree 10, 1,000 features": {"nodes": 20_000, "mean_degree": 10, "features": 1000},
    "30,000 nodes of degree 10, 20 of 5,000 words": {
        "nodes": 30_000, "mean_degree": 10, "features": 5000, "words": 20,
    },
}  # fmt: skip
BACKBONES = ("gcn", "gin", "gat")


def measure(case: str, backbone: str, batch: object) -> dict[str, int]:
    """Estimate and peak of one case in this process."""
    train = {"epochs": 2, "batch": batch}
    config = RunConfig.from_values({"method": {"name": "finetune"}, "backbone": {"name": backbone}, "train": train})
    graph = generate(SbmOptions(**CASES[case]))
    task = one_task(graph, config)
    learner = make_learner(config, graph.n_features)
    with PeakMemory() as peak:
        before = resident()
        learner.learn(task, [], Watch())
        most = peak.bytes
    return {"estimate": learner.net.step_bytes([GraphSize.of(graph)]), "peak": most - before}


def resident() -> int:
    """The resident memory of this process now, of which the system must forget the peak."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    with open("/proc/self/status") as lines:
        found = dict(line.split(":", 1) for line in lines)
    return int(found["VmRSS"].split()[0]) * 1024


def compare(case: str, backbone: str) -> dict[str, Any]:
    """Full and sampled batches of one case, each in a process of its own."""
    found = {}
    for batch in ("full", "1024"):
        command = [sys.executable, __file__, "--one", case, backbone, batch]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found[batch] = json.loads(done.stdout.splitlines()[-1])
    full, sampled = found["full"], found["1024"]
    return {"case": case, "backbone": backbone, **full, "sampled_peak": sampled["peak"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--one", nargs=3, metavar=("CASE", "BACKBONE", "BATCH"), help="measure in this process")
    options = parser.parse_args()
    if options.one:
        case, backbone, batch = options.one
        print(json.dumps(measure(case, backbone, batch if batch == "full" else int(batch))))
        return
    rows = []
    for case in CASES:
        for backbone in BACKBONES:
            row = compare(case, backbone)
            rows.append(row)
            if not options.json:
                print(
                    f"{case}, {backbone}: estimate {size_text(row['estimate'])}, peak {size_text(row['peak'])}, "
                    f"ratio {row['estimate'] / row['peak']:.2f}; "
                    f"sampled batches of 1,024: peak {size_text(row['sampled_peak'])}",
                    flush=True,
                )
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
