"""Every command and example of docs/growing-graph.md, and those of README.md, run on files of a made-up company."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evergraph import load_dataset
from evergraph.cli import run_main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "growing-graph.md").read_text(encoding="utf-8")
README = (
    (ROOT / "README.md").read_text(encoding="utf-8").partition("## Your own growing graph")[2].partition("\n## ")[0]
)
GRAPH = load_dataset("digits").subgraph(np.flatnonzero(load_dataset("digits").labels < 4))
NAMES = np.array(["tea", "coffee", "milk", "water"])
MONTHS = {"january": GRAPH.labels < 2, "february": GRAPH.labels < 3, "march": GRAPH.labels < 4}
TRAIN = np.random.default_rng(0).random(GRAPH.n_nodes) < 0.7


def blocks(language: str, page: str = PAGE) -> list[str]:
    """Its blocks; a line that ends with a backslash is one with the next."""
    return re.findall(rf"```{language}\n(.*?)```", re.sub(r"\\\n\s*", "", page), flags=re.S)


@pytest.fixture
def company(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of files; february has old nodes as context, north has others than all months."""
    monkeypatch.chdir(tmp_path)
    north = np.arange(GRAPH.n_nodes) % 7 == 0
    seen = np.zeros(GRAPH.n_nodes, dtype=bool)
    for month, here in MONTHS.items():
        write(tmp_path / month, here & ~north, TRAIN & ~seen & (month != "march"))
        seen |= here
    write(tmp_path / "north", north, TRAIN)
    learned = np.flatnonzero(MONTHS["january"] & TRAIN & ~north)[:3]
    (tmp_path / "ids.txt").write_text("\n".join(f"n{row}" for row in learned))
    return tmp_path


def write(folder: Path, nodes: Any, labelled: Any) -> None:
    folder.mkdir()
    values = np.asarray(GRAPH.features)
    lines = ["id,topic," + ",".join(f"p{place}" for place in range(64))]
    for row in np.flatnonzero(nodes):
        label = NAMES[GRAPH.labels[row]] if labelled[row] else ""
        lines.append(f"n{row},{label}," + ",".join(map(str, values[row].tolist())))
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n")
    pairs = [
        (one, other)
        for one, other in zip(*GRAPH.adjacency.nonzero(), strict=True)
        if one < other and nodes[one] and nodes[other]
    ]
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"n{one},n{other}\n" for one, other in pairs))


def test_the_commands(company: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (script,) = blocks("sh")
    for line in script.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "evergraph"
        assert run_main(arguments) == 0, (line, capsys.readouterr().err)
    assert (company / "predictions.csv").read_text().startswith("id,label,probability,margin\n")
    assert (company / "history.png").stat().st_size > 5000
    assert "exactly: the sums are as if they had never been learned" in capsys.readouterr().out


def given(company: Path) -> dict[str, Any]:
    """What an example may use without making it: a graph in each library's own form."""
    coo = GRAPH.adjacency.tocoo()
    geometric = pytest.importorskip("torch_geometric.data", reason="the example needs evergraph[pyg]")
    data = geometric.Data(
        x=torch.as_tensor(np.asarray(GRAPH.features)),
        y=torch.as_tensor(GRAPH.labels),
        edge_index=torch.as_tensor(np.stack([coo.row, coo.col]).astype(np.int64)),
        train_mask=torch.as_tensor(TRAIN),
    )
    pytest.importorskip("networkx", reason="the example needs networkx")
    return {
        "data": data,
        "adjacency": GRAPH.adjacency,
        "features": GRAPH.features,
        "labels": [NAMES[label] for label in GRAPH.labels],
        "names": [f"n{row}" for row in range(GRAPH.n_nodes)],
    }


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.splitlines()[0])
def test_an_example_of_at_most_ten_lines(company: Path, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(code.strip().splitlines()) <= 12
    pytest.importorskip("pandas", reason="the example needs pandas")
    scope = given(company)
    exec(compile(code, "docs/growing-graph.md", "exec"), scope)
    assert len(scope["model"].classes_) >= 2
    assert capsys.readouterr().out


def test_the_commands_of_the_readme(company: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (script,) = blocks("sh", README)
    for table in ("nodes.csv", "edges.csv"):
        (company / table).write_bytes((company / "january" / table).read_bytes())
    north = "--nodes north/nodes.csv --edges north/edges.csv --label-column topic"
    other = f"evergraph learn --model other --like model {north}"
    *lines, merge = script.splitlines()
    for line in (*lines, other, merge):
        program, *arguments = shlex.split(line, comments=True)
        assert program == "evergraph"
        assert run_main(arguments) == 0, (line, capsys.readouterr().err)
    assert (company / "both").is_dir()


def test_the_example_of_the_readme(company: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="the example needs pandas")
    (code,) = blocks("python", README)
    tables = {name: pandas.read_csv(f"january/{name}.csv") for name in ("nodes", "edges")}
    more = {f"more_{name}": pandas.read_csv(f"february/{name}.csv") for name in ("nodes", "edges")}
    ids = (company / "ids.txt").read_text(encoding="utf-8").split()
    scope: dict[str, Any] = {**tables, **more, "ids": ids}
    exec(compile(code, "README.md", "exec"), scope)
    assert (company / "model").is_dir()
    assert len(scope["labels"]) == len(tables["nodes"])
