"""What evergraph predict holds in memory for each node of a graph folder."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from evergraph.cli import predict
from evergraph.data.graph_folder import batch, reading
from evergraph.data.on_disk import adjacency, blocks
from evergraph.estimator import classifier

from .conftest import Call

SIZES = 8_000, 24_000
MOST_BYTES = 80
"""For each node: ids, labels, degrees and answers as arrays, not as objects of Python."""


def convert(call: Call, folder: Path, nodes: int) -> str:
    """A graph folder of a ring with long names of classes."""
    label = np.arange(nodes) % 3
    rows = (f"{at},{'class ' * 20}{name},{name},{at % 7}" for at, name in enumerate(label.tolist()))
    (folder / "nodes.csv").write_text("id,label,a,b\n" + "\n".join(rows) + "\n")
    (folder / "edges.csv").write_text(
        "source,target\n" + "".join(f"{at},{(at + 3) % nodes}\n" for at in range(nodes))
    )
    out = f"graph-{nodes}/"
    words = ("--nodes", "nodes.csv", "--edges", "edges.csv", "--set", "dataset.options.directed=false")
    assert call("data", "convert", *words, "--out", out).code == 0
    return out


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_predictions_on_their_way_to_a_file_are_no_objects(
    as_json: tuple[str, ...], call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "bytes_in_memory", lambda _: 10**18)
    for module, name in ((blocks, "MOST_ROWS"), (adjacency, "MOST_ROWS"), (classifier, "MOST_ROWS")):
        monkeypatch.setattr(module, name, 1000)
    for module, name in ((predict, "AT_ONCE"), (batch, "AT_ONCE"), (reading, "BLOCK")):
        monkeypatch.setattr(module, name, 1000)
    graphs = [convert(call, tmp_path, size) for size in SIZES]
    made = call("learn", "--model", "m", "--nodes", graphs[0], "--memory", "50MB", "--set", "method.width=8")
    assert made.code == 0, made.err
    peaks = []
    for graph in (graphs[0], *graphs):  # the first time imports what it needs
        tracemalloc.start()
        answer = call(
            "predict", "--model", "m", "--nodes", graph, "--memory", "50MB", "--out", "found.csv", *as_json
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert answer.code == 0, answer.err
    assert len((tmp_path / "found.csv").read_text().splitlines()) == 1 + SIZES[1]
    assert (peaks[2] - peaks[1]) / (SIZES[1] - SIZES[0]) < MOST_BYTES
