"""Predictions of a stored classifier: nodes per second beside the bare forward pass, load time, learning time.

    python benchmarks/predict.py [--nodes 100000] [--classes 20] [--features 64] [--repeats 3] [--json]

A generated graph (stochastic block model). `analytic` learns a tenth of the nodes and is stored; `predict` takes
the graph as scipy and numpy have it and gives names. "bare" is the learner's own pass over the prepared graph
alone, without checks, encoding, probabilities and names. FTF-ER learns the same nodes, for comparison of times.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from evergraph import ContinualClassifier, load_dataset
from evergraph.tables import to_batch


def fastest(function: Callable[[], Any], repeats: int) -> float:
    """Seconds of the fastest of several calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(arguments: argparse.Namespace) -> dict[str, float]:
    options = {"nodes": arguments.nodes, "classes": arguments.classes, "features": arguments.features}
    graph = load_dataset("sbm", options={**options, "mean_degree": 10})
    labelled = np.random.default_rng(0).random(graph.n_nodes) < 0.1
    labels = [f"class {label}" if here else None for label, here in zip(graph.labels, labelled, strict=True)]
    pair = (graph.adjacency, graph.features)
    found: dict[str, float] = {"nodes": graph.n_nodes, "entries": graph.n_edges}
    model = ContinualClassifier()
    found["learn_s"] = fastest(lambda: model.partial_fit(pair, labels), 1)
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        found["load_s"] = fastest(lambda: ContinualClassifier.load(folder), arguments.repeats)
        model = ContinualClassifier.load(folder)
    model.predict(pair)  # the fit is made at the first prediction
    prepared = model._learned.prepare(to_batch(pair)).graph
    bare = fastest(lambda: model._learned.learner.logits(prepared), arguments.repeats)
    whole = fastest(lambda: model.predict(pair), arguments.repeats)
    truth = np.array([f"class {label}" for label in graph.labels])
    found |= {
        "accuracy": float(np.mean((model.predict(pair) == truth)[~labelled])),
        "bare_per_s": graph.n_nodes / bare,
        "predict_per_s": graph.n_nodes / whole,
        "predict_times_bare": whole / bare,
    }
    if not arguments.without_ftf_er:
        other = ContinualClassifier("ftf-er-prob")
        found["ftf_er_learn_s"] = fastest(lambda: other.partial_fit(pair, labels), 1)
        found["learn_times_ftf_er"] = found["learn_s"] / found["ftf_er_learn_s"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--without-ftf-er", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = measure(arguments)
    if arguments.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:22}{value:14,.2f}")
    met = found["predict_per_s"] >= 100_000
    print(f"predict at 100,000 nodes per second or more: {'met' if met else 'NOT MET'}")


if __name__ == "__main__":
    main()
