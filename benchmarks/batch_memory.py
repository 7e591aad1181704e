"""The estimated memory of a training step on all nodes, against the measured peak of a process that does some.

    python benchmarks/batch_memory.py

Every case is a process of its own. The peak is what the process has at most while it prepares the batch and does three
epochs, minus what it has before.
"""

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
    "200,000 nodes of degree 10, 64 features": {"nodes": 200_000, "mean_degree": 10, "features": 64},
    "40,000 nodes of degree 100, 64 features": {"nodes": 40_000, "mean_degree": 100, "features": 64},
    "50,000 nodes of degree 10, 1,000 features": {"nodes": 50_000, "mean_degree": 10, "features": 1000},
    "100,000 nodes of degree 10, 20 of 5,000 words": {
        "nodes": 100_000, "mean_degree": 10, "features": 5000, "words": 20,
    },
}  # fmt: skip
BACKBONES = ("gcn", "gin", "gat")


def measure(case: str, backbone: str, batch: object) -> dict[str, int]:
    """Estimate and peak of one case in this process."""
    train = {"epochs": 3, "batch": batch}
    config = RunConfig.from_values(
        {"method": {"name": "finetune"}, "backbone": {"name": backbone}, "train": train}
    )
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


def main() -> None:
    for case in CASES:
        for backbone in BACKBONES:
            found = {}
            for batch in ("full", "1024"):
                command = [sys.executable, __file__, case, backbone, batch]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                found[batch] = json.loads(done.stdout.splitlines()[-1])
            full, sampled = found["full"], found["1024"]
            ratio = full["estimate"] / full["peak"]
            print(
                f"{case}, {backbone}: estimate {size_text(full['estimate'])}, peak {size_text(full['peak'])}, "
                f"ratio {ratio:.2f}; sampled batches of 1,024: peak {size_text(sampled['peak'])}"
            )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        given = sys.argv[3]
        print(json.dumps(measure(sys.argv[1], sys.argv[2], given if given == "full" else int(given))))
    else:
        main()
