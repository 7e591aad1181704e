"""What commands hold in memory for each node of a graph folder, besides the budget."""

import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evergraph import parsing
from evergraph.cli import predict
from evergraph.data.graph_folder import batch, reading
from evergraph.data.on_disk import adjacency, blocks, features, steps
from evergraph.estimator import answer as answering
from evergraph.hodge import block_components
from evergraph.methods.hop_features import _Late
from evergraph.report import plots
from evergraph.runs import evaluate

from .conftest import Call

SIZES = 8_000, 24_000
COMMANDS = {
    "predict": (("predict", "--model", "m", "--out", "found.csv", "--nodes"), 80),
    "predict --json": (("predict", "--model", "m", "--out", "found.csv", "--json", "--nodes"), 80),
    "learn": (("learn", "--model", "new", "--set", "method.width=8", "--nodes"), 140),
    "run": (
        ("run", "--method", "analytic", "--protocol", "whole-graph", "--set", "method.width=8", "--dataset"),
        110,
    ),
}
"""What to call, and the most bytes for each node: ids, labels, splits, hashes, degrees and answers as arrays."""


def convert(call: Call, folder: Path, nodes: int) -> str:
    """A graph folder of a ring with long names of classes."""
    label = np.arange(nodes) % 4
    rows = (f"{at},{'class ' * 20}{name},{name},{at % 7}" for at, name in enumerate(label.tolist()))
    (folder / "nodes.csv").write_text("id,label,a,b\n" + "\n".join(rows) + "\n")
    (folder / "edges.csv").write_text(
        "source,target\n" + "".join(f"{at},{(at + 4) % nodes}\n{at},{(at + 1) % nodes}\n" for at in range(nodes))
    )
    out = f"graph-{nodes}/"
    words = ("--nodes", "nodes.csv", "--edges", "edges.csv", "--set", "dataset.options.directed=false")
    assert call("data", "convert", *words, "--out", out).code == 0
    return out


def in_files(shape: tuple[int, int]) -> NDArray[np.float32]:
    """Propagated features go to disk, as those of a large graph do."""
    found: NDArray[np.float32] = blocks.scratch_file(shape, np.float32)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_node_takes_a_few_numbers(
    command: str, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (blocks, adjacency, answering, evaluate):
        monkeypatch.setattr(module, "MOST_ROWS", 1000)
    for module, name in ((predict, "AT_ONCE"), (batch, "AT_ONCE"), (reading, "BLOCK")):
        monkeypatch.setattr(module, name, 1000)
    monkeypatch.setattr(_Late, "at_once", 1000)
    monkeypatch.setattr(block_components, "LARGEST_BLOCK", 1000)
    monkeypatch.setattr(blocks, "MOST_ENTRIES", 10_000)
    monkeypatch.setattr(features, "block_rows", lambda *_: 1000)
    monkeypatch.setattr(steps, "block_rows", lambda *_: 1000)
    monkeypatch.setattr(steps, "block_columns", lambda *_: 1)
    monkeypatch.setattr(steps, "scratch_array", in_files)
    monkeypatch.setattr(plots, "write_figures", lambda *_: [])
    monkeypatch.setattr(parsing, "read_limited", lambda path, *_, **__: path.read_bytes())
    monkeypatch.setattr(reading, "bytes_in_memory", lambda _: 10**18)
    graphs = [convert(call, tmp_path, size) for size in SIZES]
    words, most = COMMANDS[command]
    if "m" in words:
        made = call("learn", "--model", "m", "--nodes", graphs[0], "--memory", "50MB", "--set", "method.width=8")
        assert made.code == 0, made.err
    peaks = []
    for graph in (graphs[0], *graphs):  # the first time imports what it needs
        tracemalloc.start()
        answer = call(*words, graph, "--memory", "50MB")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert answer.code == 0, answer.err
        shutil.rmtree(tmp_path / "new", ignore_errors=True)
    assert (peaks[2] - peaks[1]) / (SIZES[1] - SIZES[0]) < most


@pytest.mark.parametrize(
    "command", [("probe", "leak", "--seeds", "1"), ("score", "--score", "grand", "--epochs", "1", "--out", "s.csv")]
)
def test_what_needs_the_whole_graph_asks_for_memory_and_takes_it(
    command: tuple[str, ...], call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    every = (*command, "--dataset", convert(call, tmp_path, 40), "--json")
    fits = call(*every).json()
    monkeypatch.setattr(reading, "bytes_in_memory", lambda _: 2 * 10**9)
    refused = call(*every, "--memory", "1GB")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "raise --memory" in refused.err
    assert call(*every, "--memory", "3GB").json() == fits
