"""Malformed files, flags and configurations: each is answered with exit code 2 and one sentence on stderr."""

import io
import json
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.runs.execute import RunResult
from helpers import tiny_graph

from .conftest import Call, write_tiny

SMOKE = str(Path(__file__).parents[2] / "experiments" / "smoke.toml")
ARXIV, DIGITS = (
    str(Path(__file__).parents[2] / "results" / f"{name}.json") for name in ("arxiv", "methods-digits")
)
GRAPH = tiny_graph((9,) * 6, width=6)
EDGES = np.stack(GRAPH.adjacency.nonzero()).astype(np.int64)
ARRAYS: dict[str, Any] = {"edge_index": EDGES, "x": GRAPH.features, "y": GRAPH.labels}
MATRIX: dict[str, Any] = {
    "adj_data": GRAPH.adjacency.data,
    "adj_indices": GRAPH.adjacency.indices,
    "adj_indptr": GRAPH.adjacency.indptr,
    "adj_shape": np.array(GRAPH.adjacency.shape),
    "attr_matrix": GRAPH.features,
    "labels": GRAPH.labels,
}


def changed(array: Any, place: Any, value: float) -> Any:
    """A copy with one other entry."""
    copy = np.array(array)
    copy[place] = value
    return copy


def edge_npz(**changes: Any) -> Callable[[Path], list[object]]:
    """The arguments for a file in the edge_index layout with some arrays replaced, or left out where None."""
    return lambda folder: ["--dataset", saved(folder, {**ARRAYS, **changes})]


def matrix_npz(**changes: Any) -> Callable[[Path], list[object]]:
    """The same for the layout with a CSR matrix."""
    return lambda folder: ["--dataset", saved(folder, {**MATRIX, **changes})]


def saved(folder: Path, arrays: dict[str, Any]) -> Path:
    path = folder / "graph.npz"
    np.savez(path, allow_pickle=True, **{key: value for key, value in arrays.items() if value is not None})
    return path


def raw(name: str, content: bytes) -> Callable[[Path], list[object]]:
    def written(folder: Path) -> list[object]:
        (folder / name).write_bytes(content)
        return ["--dataset", folder / name]

    return written


def npz_bytes() -> bytes:
    file = io.BytesIO()
    np.savez(file, **ARRAYS)
    return file.getvalue()


def npy_bytes() -> bytes:
    file = io.BytesIO()
    np.save(file, EDGES)
    return file.getvalue()


def zip_bytes() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("edge_index.npy", b"no array")
    return file.getvalue()


NODES = "id,label,a\n" + "".join(f"n{k},{k % 2},{k}.5\n" for k in range(8))
LINKS = "source,target\n" + "".join(f"n{k},n{k + 1}\n" for k in range(7))


def tables(links: str = LINKS, nodes: str | None = NODES) -> Callable[[Path], list[object]]:
    def written(folder: Path) -> list[object]:
        (folder / "edges.csv").write_text(links)
        if nodes is not None:
            (folder / "nodes.csv").write_text(nodes)
        return ["--dataset", folder / "edges.csv"]

    return written


def toml(content: str | bytes, *more: object) -> Callable[[Path], list[object]]:
    def written(folder: Path) -> list[object]:
        path = folder / "run.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return ["--config", path, *more]

    return written


def flags(*arguments: object) -> Callable[[Path], list[object]]:
    return lambda _: list(arguments)


def with_graph(*arguments: object) -> Callable[[Path], list[object]]:
    return lambda folder: ["--dataset", write_tiny(folder / "graph.npz"), *arguments]


def touched(flag: str, dataset: str) -> Callable[[Path], list[object]]:
    """A flag that wants a folder and gets a file."""

    def written(folder: Path) -> list[object]:
        (folder / "file").touch()
        write_tiny(folder / "graph.npz")
        return [flag, folder / "file", "--dataset", dataset]

    return written


def settings(*assignments: str) -> Callable[[Path], list[object]]:
    return lambda _: [part for text in assignments for part in ("--set", text)]


RUN: dict[str, tuple[Callable[[Path], list[object]], str]] = {
    # names
    "unknown data set": (flags("--dataset", "digit"), "did you mean 'digits'?"),
    "empty data set": (flags("--dataset", ""), "data set must be one of"),
    "unknown method": (flags("--method", "jiont"), "did you mean 'joint'?"),
    "unknown backbone": (flags("--backbone", "gatt"), "did you mean 'gat'?"),
    "one unknown method of two": (flags("--method", "joint,fintune"), "did you mean 'finetune'?"),
    # numbers
    "no epochs": (flags("--epochs", 0), "train.epochs"),
    "negative epochs": (flags("--epochs", -1), "train.epochs"),
    "epochs that are no number": (flags("--epochs", "x"), "--epochs"),
    "epochs that are nan": (flags("--epochs", "nan"), "--epochs"),
    "epochs with a fraction": (settings("train.epochs=1.5"), "train.epochs"),
    "negative seed": (flags("--seed", -1), "seeds."),
    "seed that is no number": (flags("--seed", "lucky"), "--seed"),
    "seeds of which one is no number": (flags("--seed", "0,x"), "--seed must be a whole number"),
    "no seed": (flags("--seed", ""), "--seed must be a whole number"),
    "seed given twice": (flags("--seed", "1,1"), "--seed must be a whole number, or different ones"),
    "learning rate nan": (settings("train.lr=nan"), "train.lr"),
    "learning rate inf": (settings("train.lr=inf"), "train.lr"),
    "learning rate zero": (settings("train.lr=0"), "train.lr"),
    "negative weight decay": (settings("train.weight_decay=-1"), "train.weight_decay"),
    "negative threads": (settings("train.threads=-2"), "train.threads"),
    "empty value": (settings("train.lr="), "train.lr"),
    "negative budget": (flags("--method", "er-gnn-mf", "--budget", -1), "method.budget"),
    "budget that is no number": (flags("--budget", "few"), "--budget"),
    # settings
    "unknown section": (settings("trian.lr=1"), "trian is not a section"),
    "unknown key of train": (settings("train.speed=1"), "train.speed is not a setting"),
    "unknown key of stream": (settings("stream.speed=1"), "stream.speed is not a setting"),
    "unknown key of backbone": (settings("backbone.speed=1"), "backbone.speed is not a setting"),
    "unknown key of method": (settings("method.speed=1"), "method.speed is not a setting"),
    "unknown key of seeds": (settings("seeds.speed=1"), "seeds.speed is not a setting"),
    "unknown key of dataset": (settings("dataset.speed=1"), "dataset.speed is not a setting"),
    "unknown option of a data set": (settings("dataset.options.speed=1"), "speed is not a setting"),
    "unknown step of the standardisation": (settings("dataset.standardise.speed=1"), "dataset.standardise.speed"),
    "a key below a value": (settings("train.lr=1", "train.lr.low=1"), "train.lr is a value"),
    "a value for a section": (settings("train=3"), "train must be a section"),
    "a list for a number": (settings("backbone.hidden=[1]"), "backbone.hidden"),
    "no hidden units": (settings("backbone.hidden=0"), "backbone.hidden"),
    "unknown norm": (settings("backbone.norm=mean"), "backbone.norm"),
    "a device without numbers": (flags("--set", "train.device=meta"), "train.device"),
    "too many threads": (flags("--set", "train.threads=1000000000000"), "train.threads"),
    "too wide a layer": (flags("--set", "backbone.hidden=1000000000000"), "backbone.hidden"),
    "a truth for a number": (flags("--set", "train.lr=true"), "a number is wanted"),
    "heads that do not share": (flags("--backbone", "gat", "--set", "backbone.heads=7"), "multiple of heads"),
    "dropout of everything": (flags("--backbone", "gat", "--set", "backbone.dropout=1"), "backbone.dropout"),
    "unknown preprocessing": (settings("stream.preprocessing=l3"), "stream.preprocessing"),
    "unknown setting of the stream": (settings("stream.setting=domain-il"), "stream.setting"),
    "unknown class order": (settings("stream.class_order=alphabet"), "stream.class_order"),
    "class order with an unknown label": (settings("stream.class_order=[0, 99]"), "unknown labels [99]"),
    "class order with a repeated label": (settings("stream.class_order=[1, 1]"), "each once"),
    "empty class order": (settings("stream.class_order=[]"), "stream.class_order"),
    "split that is too much": (settings("stream.split=[0.9, 0.2, 0.2]"), "add up to 1"),
    "split with an empty part": (settings("stream.split=[0.8, 0.2, 0.0]"), "three positive shares"),
    "split of two": (settings("stream.split=[0.8, 0.2]"), "stream.split"),
    "too few classes for a task": (settings("stream.classes_per_task=11"), "at least one task is wanted"),
    "no classes per task": (settings("stream.classes_per_task=0"), "stream.classes_per_task"),
    "classes all too small": (settings("stream.min_class_size=100000"), "at least one task is wanted"),
    "classes of two": (settings("stream.min_class_size=2"), "stream.min_class_size"),
    "unknown device": (settings("train.device=toaster"), "train.device"),
    "device that is not here": (settings("train.device=cuda:77"), "train.device"),
    "name that is no name": (settings("method.name=3"), "method.name must be a name"),
    "data set that is no name": (settings("dataset.name=3"), "dataset.name"),
    "--set without =": (flags("--set", "train.lr"), "--set must look like"),
    "--set without a key": (flags("--set", "=3"), "--set must look like"),
    # flags
    "unknown flag": (flags("--colour", "red"), "--colour"),
    "flag without its value": (flags("--dataset"), "--dataset"),
    "one argument too many": (flags("again"), "again"),
    "features nonsense": (flags("--features", "pagerank"), "features must be spectral:D"),
    "no spectral features": (flags("--features", "spectral:0"), "features must be spectral:D"),
    "spectral without a number": (flags("--features", "spectral"), "features must be spectral:D"),
    "too many spectral features": (with_graph("--features", "spectral:5000"), "below the number of nodes"),
    "data folder that is not there": (flags("--data-dir", "nowhere"), "the data folder must exist"),
    "data folder that is a file": (touched("--data-dir", "digits"), "the data folder must exist"),
    "results folder that is a file": (touched("--out", "./graph.npz"), "cannot be made"),
    # configuration files
    "no configuration file": (flags("--config", "none.toml"), "does not exist"),
    "configuration that is a folder": (flags("--config", "."), "readable TOML"),
    "configuration that is no TOML": (toml("[train\nepochs = 2"), "valid TOML"),
    "configuration that is binary": (toml(b"\xff\xfe\x00\x01"), "readable TOML"),
    "configuration with an unknown section": (toml("[learning]\nrate = 1"), "learning is not a section"),
    "configuration with a bare key": (toml("epochs = 3"), "epochs is not a section"),
    "configuration with a value for a section": (toml("method = 3"), "method must be a section"),
    "the same with a budget": (toml("method = 3", "--budget", 5), "method must be a section"),
    "the same where a flag lies below": (toml("train = 3", "--epochs", 1), "train must be a section"),
    "configuration with a wrong type": (toml("[train]\nlr = 'fast'"), "train.lr"),
    # graph files: .npz
    "no such file": (flags("--dataset", "nowhere/graph.npz"), "no such file"),
    "a folder for a file": (lambda folder: ["--dataset", f"{folder}/"], "a graph folder with graph.json is wanted"),
    "unknown kind of file": (raw("graph.xlsx", b"PK"), "must end in .npz, .csv"),
    "text named .npz": (raw("graph.npz", b"source,target\n1,2\n"), "graph.npz"),
    "empty file": (raw("graph.npz", b""), "graph.npz"),
    "truncated archive": (raw("graph.npz", npz_bytes()[:-300]), "broken"),
    "single array": (raw("graph.npz", npy_bytes()), "single array"),
    "archive without arrays": (raw("graph.npz", zip_bytes()), "graph.npz"),
    "missing labels": (edge_npz(y=None), "'y'"),
    "missing edges": (edge_npz(edge_index=None), "adj_data"),
    "missing part of the matrix": (matrix_npz(adj_indptr=None), "adj_indptr"),
    "pickled labels": (edge_npz(y=np.array(["a", None, {}] * 18, dtype=object)), "pickled"),
    "edges in three rows": (edge_npz(edge_index=np.zeros((3, 4), dtype=np.int64)), "two rows of whole numbers"),
    "edges with fractions": (edge_npz(edge_index=EDGES + 0.5), "two rows of whole numbers"),
    "edge to no node": (edge_npz(edge_index=changed(EDGES, (1, 0), 999)), "got 999"),
    "edge to a negative node": (edge_npz(edge_index=changed(EDGES, (0, 0), -1)), "got -1"),
    "repeated edge": (edge_npz(edge_index=np.concatenate([EDGES, EDGES[:, :1]], axis=1)), "listed once"),
    "too few features": (edge_npz(x=ARRAYS["x"][:5]), "one row for each"),
    "features in one row": (edge_npz(x=np.zeros(54)), "one row for each"),
    "NaN features": (edge_npz(x=changed(ARRAYS["x"], (3, 2), np.nan)), "NaN"),
    "infinite features": (edge_npz(x=changed(ARRAYS["x"], (3, 2), np.inf)), "infinite"),
    "features of text": (edge_npz(x=np.full((54, 2), "abc")), "numbers"),
    "negative label": (edge_npz(y=changed(GRAPH.labels, 0, -1)), "must not be negative"),
    "label with a fraction": (edge_npz(y=GRAPH.labels + 0.5), "whole numbers"),
    "missing label": (edge_npz(y=changed(GRAPH.labels.astype(float), 0, np.nan)), "needs a label"),
    "labels of text": (edge_npz(y=np.full(54, "cat")), "whole numbers"),
    "labels in a table": (edge_npz(y=np.zeros((54, 2), dtype=np.int64)), "one label per node"),
    "empty graph": (
        edge_npz(edge_index=np.zeros((2, 0), dtype=np.int64), x=np.zeros((0, 2)), y=np.zeros(0, dtype=np.int64)),
        "at least one node",
    ),
    "no features at all": (edge_npz(x=None), "has no features"),
    "matrix that is not square": (matrix_npz(adj_shape=np.array([54, 60])), "square"),
    "matrix with an index out of range": (matrix_npz(adj_indices=changed(MATRIX["adj_indices"], 0, 99)), "CSR"),
    "matrix with broken rows": (matrix_npz(adj_indptr=changed(MATRIX["adj_indptr"], 3, 10**6)), "CSR"),
    "matrix with a shape of text": (matrix_npz(adj_shape=np.array(["54", "54"])), "adj_shape"),
    "matrix with a negative weight": (matrix_npz(adj_data=-MATRIX["adj_data"]), "weight"),
    "a node table for an archive": (with_graph("--set", "dataset.options.nodes=x.csv"), "node table"),
    # graph files: tables
    "no node table": (tables(nodes=None), "needs its node table"),
    "empty edge list": (tables(links=""), "empty file"),
    "edge list without edges": (tables(links="source,target\n"), "at least one row"),
    "edge list without a column": (tables(links="source,to\nn0,n1\n"), "'target'"),
    "edge to an unknown node": (tables(links="source,target\nn0,n99\n"), "'n99'"),
    "repeated edge in a list": (tables(links=LINKS + "n0,n1\n"), "listed once"),
    "row with a value too many": (tables(links="source,target\nn0,n1,n2\n"), "must have 2 values"),
    "weight that is no number": (tables(links="source,target,weight\nn0,n1,heavy\n"), "'heavy'"),
    "node table without labels": (tables(nodes="id,a\nn0,1\n"), "'label'"),
    "repeated node": (tables(nodes=NODES + "n0,1,1\n"), "id of its own"),
    "node without a label": (tables(nodes=NODES + "n8,,1\n"), "must have a label"),
    "negative label in a table": (tables(nodes=NODES + "n8,-1,1\n"), "not negative"),
    "feature that is no number": (tables(nodes=NODES + "n8,1,tall\n"), "'tall'"),
    "feature that is infinite": (tables(nodes=NODES + "n8,1,inf\n"), "finite number"),
    "column of text for numbers": (
        lambda folder: [*tables()(folder), "--set", "dataset.options.numbers=['b']"],
        "'b'",
    ),
    "two columns of one name": (tables(nodes="id,label,a,a\nn0,0,1,1\n"), "every column once"),
    "table without features": (
        tables(nodes="id,label\n" + "".join(f"n{k},{k % 2}\n" for k in range(8))),
        "has no features",
    ),
    "table that is not UTF-8": (raw("edges.csv", b"\xff\xfe\x00s,t\n"), "edges.csv"),
    "text named .parquet": (raw("edges.parquet", b"source,target"), "edges.parquet"),
}


def one_sentence(answer: Any, says: str) -> None:
    assert answer.code == 2, answer.err
    assert answer.out == ""
    assert "Traceback" not in answer.err
    *notes, error = answer.err.splitlines()  # what is known of the data may be said before
    assert all(note.startswith("note: ") for note in notes)
    assert error.startswith("error: ")
    assert answer.err.endswith("\n")
    assert len(answer.err) > len("error: \n")
    assert says in answer.err


@pytest.mark.parametrize("case", list(RUN))
def test_run(call: Call, tmp_path: Path, case: str) -> None:
    arguments, says = RUN[case]
    words = arguments(tmp_path)
    quick = [] if any("epochs" in str(word) for word in words) else ["--epochs", 1]
    one_sentence(call("run", *quick, *words), says)
    assert not list(tmp_path.glob("runs/*/record.json"))


OTHERS: dict[str, tuple[list[str], str]] = {
    "no such command": (["lern"], "No such command 'lern'"),
    "unknown flag before the command": (["--colour", "run"], "--colour"),
    "list of something unknown": (["list", "colours"], "colours"),
    "data without a command": (["data"], "Missing command"),
    "data with an unknown command": (["data", "burn"], "burn"),
    "info on an unknown name": (["data", "info", "digit"], "did you mean 'digits'?"),
    "info on a missing file": (["data", "info", "graph.npz"], "no such file"),
    "info with bad features": (["data", "info", "digits", "--features", "no"], "features must be"),
    "fetch of an unknown name": (["data", "fetch", "digit"], "did you mean 'digits'?"),
    "fetch of a file": (["data", "fetch", "graph.npz"], "a file needs no fetching"),
    "check of an unknown name": (["data", "check", "digit"], "did you mean 'digits'?"),
    "check of a stand-in that is not here": (["data", "check", "cora-papers70"], "is needed, got no such file"),
    "data folder that is not there": (["data", "list", "--data-dir", "nowhere"], "the data folder must exist"),
    "show of a missing folder": (["show", "nowhere"], "a run folder is wanted"),
    "show of a folder that is no run": (["show", "."], "a run folder is wanted"),
    "score into an unknown kind of file": (["score", "--dataset", "digits", "--out", "x.doc"], ".csv or .parquet"),
    "score that is unknown": (["score", "--dataset", "digits", "--out", "x.csv", "--score", "hpss"], "hps"),
    "score into a folder that is not there": (["score", "--dataset", "digits", "--out", "no/x.csv"], "no/x.csv"),
    "bench of a missing file": (["bench", "none.toml"], "none.toml"),
    "bench with no jobs": (["bench", SMOKE, "--jobs", "0"], "--jobs"),
    "bench with an unknown executor": (["bench", SMOKE, "--executor", "slurm"], "'slurm'"),
    "a Ray address for local processes": (["bench", SMOKE, "--ray-address", "a:1"], "goes with --executor ray"),
    "a Ray address without a port": (
        ["bench", SMOKE, "--executor", "ray", "--ray-address", "auto"],
        "must look like HOST:PORT, got 'auto'",
    ),
    "a Ray address with a port that is none": (
        ["bench", SMOKE, "--executor", "ray", "--ray-address", "localhost:http"],
        "must look like HOST:PORT, got 'localhost:http'",
    ),
    "reproduce of an unknown table": (["reproduce", "tabel2"], "did you mean 'table2'?"),
    "reproduce with an unknown backbone": (["reproduce", "table2", "--backbone", "gcnn"], "did you mean 'gcn'?"),
    "reproduce with a backbone twice": (["reproduce", "table2", "--backbone", "gcn,gcn"], "wanted once"),
    "reproduce with no seeds": (["reproduce", "table2", "--seeds", "0"], "--seeds"),
    "reproduce on an unknown data set": (["reproduce", "table2", "--dataset", "digitz"], "did you mean 'digits'?"),
    "reproduce with unknown features": (["reproduce", "table2", "--features", "spectral"], "spectral:D"),
    "reproduce from a missing file": (["reproduce", "table2", "--from", "none.json"], "none.json"),
    "reproduce from other runs": (
        ["reproduce", "table2", "--dataset", "digits", "--from", ARXIV],
        "there is none that belongs to it",
    ),
    "reproduce into a folder that cannot be": (
        ["reproduce", "table2", "--dataset", "digits", "--from", DIGITS, "--write", f"{DIGITS}/x"],
        "choose another --write",
    ),
}


@pytest.mark.parametrize("case", list(OTHERS))
def test_other_commands(call: Call, case: str) -> None:
    arguments, says = OTHERS[case]
    one_sentence(call(*arguments), says)


@pytest.mark.parametrize(
    ("words", "name"),
    [("list", "kind"), ("data info", "name"), ("show", "run"), ("bench", "file"), ("reproduce", "target")],
)
def test_a_missing_argument_is_named(call: Call, words: str, name: str) -> None:
    answer = call(*words.split())
    one_sentence(answer, "Missing argument")
    assert name in answer.err.lower()  # older versions of typer name it in capitals


def test_ray_that_is_not_installed(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # an import of it fails
    one_sentence(call("bench", SMOKE, "--executor", "ray"), 'pip install "evergraph[ray]"')


@pytest.mark.parametrize("command", [["run", "--dataset", "no/"], ["learn", "--model", "model", "--nodes", "no/"]])
def test_workers_and_a_network(call: Call, monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    answer = call(*command, "--method", "ewc", "--executor", "ray")  # before the folder is looked for
    says = "shares the work of analytic, ncm and slda, got ewc, which trains a network; leave --executor out"
    one_sentence(answer, says)


def test_show_of_an_unfinished_run(call: Call, finished: RunResult, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.json").write_text((finished.folder / "config.json").read_text())
    one_sentence(call("show", folder), "unfinished run")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"config": 3}'])
def test_show_of_a_broken_record(call: Call, tmp_path: Path, content: str) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "record.json").write_text(content)
    one_sentence(call("show", folder), "record.json must")


def test_show_of_more_correct_predictions_than_nodes(call: Call, finished: RunResult, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished.folder, folder)
    content = json.loads((folder / "record.json").read_text())
    content["correct"]["test"][0][0] = 100_000
    (folder / "record.json").write_text(json.dumps(content))
    one_sentence(call("show", folder), "are wanted, got [100000")


def test_show_into_a_file(call: Call, finished: RunResult, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    one_sentence(call("show", finished.folder, "--out", tmp_path / "file"), "cannot be made")


def test_a_run_that_is_locked(call: Call, tmp_path: Path) -> None:
    from evergraph.runs.config import RunConfig
    from evergraph.runs.execute import create_run

    data = write_tiny(tmp_path / "graph.npz")
    config = RunConfig.from_values({"dataset": {"name": str(data)}, "train": {"epochs": 1}})
    with create_run(tmp_path / "runs", config).locked():
        answer = call("run", "--dataset", data, "--epochs", 1, "--resume")
    one_sentence(answer, "another process is working on")


def test_there_are_more_than_fifty() -> None:
    assert len(RUN) + len(OTHERS) > 50
