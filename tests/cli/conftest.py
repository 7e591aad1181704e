"""The command line in this process, and a finished run to look at."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.cli import run_main
from evergraph.runs.execute import RunResult, run
from helpers import run_config, tiny_graph


@dataclass(frozen=True)
class Answer:
    """What a command line left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The only object on stdout."""
        assert self.code == 0, self.err
        assert self.out.count("\n") == 1
        return json.loads(self.out)


Call = Callable[..., Answer]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    """Run the command line in an empty folder; every argument is turned into text."""
    monkeypatch.chdir(tmp_path)
    capfd.readouterr()

    def calling(*arguments: object) -> Answer:
        code = run_main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Answer(code, out, err)

    return calling


def write_tiny(path: Path, **extra: Any) -> Path:
    """A graph of six classes as an .npz file, with further arrays."""
    graph = tiny_graph((9,) * 6, width=6)
    edges = np.stack(graph.adjacency.nonzero())
    np.savez(path, edge_index=edges, x=np.asarray(graph.features), y=graph.labels, **extra)
    return path


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    folder = tmp_path_factory.mktemp("finished")
    file = write_tiny(folder / "tiny.npz")
    return run(run_config(dataset={"name": str(file)}, backbone={"hidden": 8}), folder / "runs")


@pytest.fixture(scope="session")
def graph_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A graph folder of six classes; its name ends in a separator."""
    from evergraph.data.convert import Plan, convert_tables
    from evergraph.data.datasets.files import FileOptions

    graph, where = tiny_graph((9,) * 6, width=6), tmp_path_factory.mktemp("folder")
    columns = [[f"{value:.4f}" for value in row] for row in np.asarray(graph.features).tolist()]
    rows = [f"n{row},{label}," + ",".join(columns[row]) for row, label in enumerate(graph.labels)]
    (where / "nodes.csv").write_text("id,label,a,b,c,d,e,f\n" + "\n".join(rows) + "\n")
    ends = zip(*(part.tolist() for part in graph.adjacency.nonzero()), strict=True)
    edges = [f"n{source},n{target}" for source, target in ends if source < target]
    (where / "edges.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    options = FileOptions.model_validate({"directed": False})
    convert_tables(where / "edges.csv", where / "nodes.csv", where / "graph", options, Plan.of(10**8))
    return f"{where / 'graph'}/"


@pytest.fixture
def on_disk(graph_folder: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The graph folder, which fits into no memory."""
    monkeypatch.setattr("evergraph.data.graph_folder.reading.bytes_in_memory", lambda graph: 10**18)
    return graph_folder
