"""Sparse φ: whether few active features of many make sums small, and what that costs in accuracy.

    python benchmarks/sparse_features.py --data-dir FOLDER [--dataset cora-papers70] [--seeds 0 1 2] [--json]

The task-graphs protocol, hop 2. Of the random features of `analytic` (`width`) each node keeps the `active`
largest; without a number, all. Sums are a class-balanced Gram matrix and class sums. Bytes are those of the entries
that are not zero, of the symmetric matrix one half: two for a value, two for its column; or two for every value, if
that is less. λ is the best of six on validation nodes, which is kinder than a choice from training nodes.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from evergraph.data.stream import Task
from evergraph.methods.hop_features import HopFeatures
from evergraph.runs.build import open_stream
from evergraph.runs.config import RunConfig

WIDTHS = (512, 1024, 2048, 4096)
ACTIVE = (8, 16, 32, None)
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 3e-1, 1.0)
HOPS = ((2,),)

Rows = tuple[sparse.csr_matrix, NDArray[np.int64]]
"""φ of some nodes and their labels."""


def sparsest(codes: NDArray[np.uint8], active: int | None) -> sparse.csr_matrix:
    """The largest entries of each row; of equal ones those that stand first."""
    rows = codes.astype(np.float32) / 32
    if active is not None:
        order = np.argsort(-rows, axis=1, kind="stable")
        np.put_along_axis(rows, order[:, active:], 0, axis=1)
    return sparse.csr_matrix(rows)


def parts(tasks: list[Task], map_: HopFeatures, active: int | None) -> dict[str, Rows]:
    """Training, validation and test nodes of all tasks, each in the graph of its own task."""
    found: dict[str, Rows] = {}
    for name in ("train", "val", "test"):
        blocks, labels = [], []
        for task in tasks:
            rows = getattr(task, name)
            blocks.append(sparsest(map_(task.graph, rows)[0], active))
            labels.append(task.graph.labels[rows])
        found[name] = (sparse.vstack(blocks).tocsr(), np.concatenate(labels))
    return found


def size(matrix: NDArray[np.float64], halved: bool) -> int:
    """Bytes of the entries, sparse or dense, whichever is less."""
    return min(4 * int(np.count_nonzero(matrix)), 2 * matrix.size) // (2 if halved else 1)


def average(predicted: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """AA where all tasks have as many classes: every class counts alike, in percent."""
    return 100 * float(np.mean(np.bincount(labels, predicted == labels) / np.bincount(labels)))


def measure(rows: dict[str, Rows]) -> dict[str, float]:
    """Accuracy after the last task, and bytes of the sums."""
    phi, labels = rows["train"]
    members = sparse.csr_matrix((1 / np.bincount(labels)[labels], (np.arange(len(labels)), labels)))
    weighted = phi.multiply(np.sqrt(members.sum(axis=1))).toarray()
    gram = weighted.T @ weighted
    sums = (phi.T @ members).toarray()
    best = (-1.0, 0.0)
    for strength in STRENGTHS:
        ridge = gram + strength * np.trace(gram) / len(gram) * np.eye(len(gram))
        weights = linalg.cho_solve(linalg.cho_factor(ridge, overwrite_a=True), sums)
        val, test = (average((phi @ weights).argmax(axis=1), labels) for phi, labels in (rows["val"], rows["test"]))
        best = max(best, (val, test))
    return {"aa_local": best[1], "bytes": size(gram, True) + size(sums, False)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("EVERGRAPH_DATA"))
    parser.add_argument("--dataset", default="cora-papers70")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = []
    for seed in arguments.seeds:
        seeds = dict.fromkeys(("split", "order", "init"), seed)
        config = RunConfig.from_values({"dataset": {"name": arguments.dataset}, "seeds": seeds})
        tasks = list(open_stream(config, arguments.data_dir))
        for width in WIDTHS:
            for active in ACTIVE:
                found = measure(parts(tasks, HopFeatures(HOPS, width, seed), active))
                results.append({"seed": seed, "width": width, "active": active, **found})
                if not arguments.json:
                    print(
                        "{seed}: {active} of {width}, {aa_local:.1f} %, {bytes:,} bytes".format(**results[-1]),
                        flush=True,
                    )
    if arguments.json:
        print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
