"""Requests per second of `evergraph serve` on 127.0.0.1, beside the bare forward pass of the same classifier.

    python benchmarks/serve.py [--nodes 100,5000] [--seconds 10] [--requests 1000] [--json]

A generated graph of 8 classes and 20 columns is learned and served by a process of its own. One client asks, one
request after the other over one connection, for at most so many seconds and requests; after each request this
process does `predict_proba` on the same batch, so that other work on the machine slows both down alike.
"""

import argparse
import http.client
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from evergraph import Batch, ContinualClassifier
from evergraph.tables import Table, batch_from_tables

CLASSES, COLUMNS, DEGREE = 8, 20, 6
WARM = 3
"""Requests that are not counted."""


def tables(n_nodes: int, seed: int) -> tuple[Table, Table]:
    """Nodes around the centre of their class, edges mostly to the same class."""
    draw = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(CLASSES, COLUMNS))
    kind = draw.integers(CLASSES, size=n_nodes)
    values = centres[kind] + 2 * draw.normal(size=(n_nodes, COLUMNS))
    columns: dict[str, Any] = {"id": np.arange(n_nodes) + seed * 10**7}
    columns |= {f"c{at}": values[:, at] for at in range(COLUMNS)}
    columns["label"] = np.array([f"class {name}" for name in kind], dtype=object)
    order = np.argsort(kind, kind="stable")
    source = draw.integers(n_nodes, size=n_nodes * DEGREE // 2)
    target = np.minimum(source + draw.geometric(0.05, size=len(source)), n_nodes - 1)
    ends = np.unique(np.sort(order[np.stack([source, target])], axis=0), axis=1)
    ends = ends[:, ends[0] != ends[1]]
    return Table("nodes", columns), Table(
        "edges", {"source": columns["id"][ends[0]], "target": columns["id"][ends[1]]}
    )


def question(nodes: Table, edges: Table) -> bytes:
    names = [name for name in nodes.columns if name != "label"]
    rows = zip(*(np.round(nodes.columns[name], 6).tolist() for name in names), strict=True)
    pairs = np.stack([edges.columns["source"], edges.columns["target"]], axis=1).tolist()
    return json.dumps({"nodes": [dict(zip(names, row, strict=True)) for row in rows], "edges": pairs}).encode()


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """The port of a server in a process of its own."""
    command = [sys.executable, "-m", "evergraph", "serve", "--model", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline().split("/")[2].rpartition(":")[2])
        finally:
            server.send_signal(signal.SIGINT)


def asked(connection: http.client.HTTPConnection, body: bytes) -> int:
    """One request; the nodes in its answer."""
    connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = json.loads(answer.read())
    if answer.status != 200:
        raise SystemExit(f"the server said {answer.status}: {content['error']}")
    return len(content["predictions"])


def measured(
    port: int, classifier: ContinualClassifier, batch: Batch, body: bytes, seconds: float, requests: int
) -> dict[str, Any]:
    """Seconds of each request and of each forward pass, in turn."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(WARM):
        assert asked(connection, body) == batch.n_nodes
        classifier.predict_proba(batch)
    whole: list[float] = []
    bare: list[float] = []
    end = time.perf_counter() + seconds
    while len(whole) < requests and time.perf_counter() < end:
        begun = time.perf_counter()
        asked(connection, body)
        between = time.perf_counter()
        classifier.predict_proba(batch)
        whole.append(between - begun)
        bare.append(time.perf_counter() - between)
    connection.close()
    facts: dict[str, Any] = {"nodes": batch.n_nodes, "edges": batch.adjacency.nnz // 2, "bytes": len(body)}
    facts["requests"] = len(whole)
    for name, times in (("request", whole), ("forward", bare)):
        median, late = np.percentile(times, [50, 99])
        facts[name] = {"per_second": 1 / float(np.mean(times)), "median": float(median), "p99": float(late)}
    facts["ratio"] = facts["request"]["median"] / facts["forward"]["median"]
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="100,5000", help="sizes of the graphs")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each size, at most")
    parser.add_argument("--requests", type=int, default=1000, help="for each size, at most")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    classifier = ContinualClassifier("analytic").partial_fit(batch_from_tables(*tables(5000, 0)))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        classifier.save(Path(folder) / "model")
        with served(Path(folder) / "model") as port:
            for n_nodes in map(int, options.nodes.split(",")):
                nodes, edges = tables(n_nodes, 1)
                batch, body = batch_from_tables(nodes, edges), question(nodes, edges)
                found.append(measured(port, classifier, batch, body, options.seconds, options.requests))
    if options.json:
        print(json.dumps(found))
        return
    for facts in found:
        print(f"{facts['nodes']:,} nodes, {facts['edges']:,} edges, {facts['bytes'] / 1e6:.2f} MB a request:")
        for name, told in (("request", "serve"), ("forward", "predict_proba")):
            rate, median, late = (facts[name][key] for key in ("per_second", "median", "p99"))
            print(
                f"  {told:14} {rate:7.1f} a second, median {1e3 * median:.1f} ms, 99 % within {1e3 * late:.1f} ms"
            )
        print(
            f"  {facts['requests']} of each, in turn; a request takes {facts['ratio']:.1f} times as long (medians)"
        )


if __name__ == "__main__":
    main()
