"""Folders of strangers: graphs, models and runs whose files lie, are pipes, or name what does not fit."""

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from scipy import sparse

from evergraph.cli import BAD_INPUT, run_main
from evergraph.data.convert import Plan, convert_tables
from evergraph.data.datasets.files import FileOptions
from evergraph.data.graph_folder import MANIFEST, folder_batch, read_folder
from evergraph.errors import DataError, StoreError
from evergraph.estimator.classifier import ContinualClassifier
from evergraph.models import write_model
from evergraph.models.manifest import checksum
from evergraph.results.projection import read_projection
from evergraph.runs.build import make_learner
from evergraph.runs.execute import _load_state, create_run
from evergraph.runs.store import load_tensors
from helpers import one_sentence, run_config

Within = Callable[[int], AbstractContextManager[None]]
MB = 1 << 20


# graph folders


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    rows = [f"n{row},{row % 2},{row * row % 7}" for row in range(12)]
    (tmp_path / "nodes.csv").write_text("id,label,size\n" + "\n".join(rows) + "\n")
    (tmp_path / "edges.csv").write_text(
        "source,target\n" + "".join(f"n{row},n{(row + 1) % 12}\n" for row in range(12))
    )
    out = tmp_path / "graph"
    convert_tables(tmp_path / "edges.csv", tmp_path / "nodes.csv", out, FileOptions(), Plan.of(10**8))
    return out


def test_a_label_of_any_size_takes_no_memory(graph: Path, within: Within) -> None:
    content = bytearray((graph / "labels.npy").read_bytes())
    content[-8:] = (2**62).to_bytes(8, "little")
    (graph / "labels.npy").write_bytes(content)
    with within(8 * MB):
        labels = folder_batch(graph).labels
    assert labels[-1] == 2**62
    assert labels[:2].tolist() == [0, 1]


def test_more_nodes_than_memory_are_refused(graph: Path, little_memory: int, within: Within) -> None:
    """The files may be holes, which take no room on the disk."""
    values = json.loads((graph / MANIFEST).read_text())
    values.pop("sha256")
    nodes = 10**9
    shapes = {"indptr": [nodes + 1], "labels": [nodes], "features": [nodes, 1], "node_names": [nodes]}
    for name, sizes in shapes.items():
        values["files"][f"{name}.npy"]["shape"] = sizes
    values["files"]["indptr.npy"]["dtype"] = values["files"]["indices.npy"]["dtype"] = "<i8"
    values["nodes"] = nodes
    (graph / MANIFEST).write_text(json.dumps({**values, "sha256": checksum(values)}))
    with within(8 * MB), pytest.raises(DataError, match="must have fewer nodes") as caught:
        read_folder(graph)
    one_sentence(caught.value)


@pytest.mark.parametrize("name", [MANIFEST, "labels.npy"])
@pytest.mark.parametrize("kind", ["pipe", "link", "device"])
def test_a_graph_folder_with_something_else_than_files(graph: Path, name: str, kind: str) -> None:
    place(graph / name, kind)
    with pytest.raises(DataError):
        read_folder(graph)


def place(path: Path, kind: str) -> None:
    """Something else in the place of a file."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/etc/hostname" if kind == "link" else "/dev/zero")


# model folders


def saved(folder: Path, **changes: Any) -> None:
    """A model that says something else of itself; all checksums fit."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(20, 3)).astype(np.float32)
    ring = sparse.csr_array(np.roll(np.eye(20), 1, axis=1))
    model = ContinualClassifier("ncm", holdout=0.0).partial_fit((ring, x), np.arange(20) % 2)
    about, tensors = model.contents()
    write_model(folder, {**about, **changes}, tensors)


@pytest.mark.parametrize("n_features", [10**6, 10**9, 10**15, 2**62])
def test_a_small_model_folder_takes_little_memory(tmp_path: Path, n_features: int, within: Within) -> None:
    """A network of as many inputs would be made before any tensor is looked at."""
    saved(tmp_path / "model", n_features=n_features)
    with within(16 * MB), pytest.raises(StoreError, match="inputs are wanted, got") as caught:
        ContinualClassifier.load(tmp_path / "model")
    one_sentence(caught.value)


def test_nor_does_one_whose_columns_fit(tmp_path: Path, within: Within) -> None:
    saved(tmp_path / "model", n_features=10**12, features='{"width": 1000000000000}')
    with within(16 * MB), pytest.raises(StoreError, match="must fit into memory"):
        ContinualClassifier.load(tmp_path / "model")


@pytest.mark.parametrize("name", ["classifier.json", "state.safetensors"])
def test_a_pipe_in_an_old_model_folder_is_not_waited_for(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "classifier.json").write_text("{}")
    place(tmp_path / name, "pipe")
    assert run_main(["inspect", str(tmp_path)]) == BAD_INPUT
    assert capfd.readouterr().err.count("\n") == 1


# run folders


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    for name in ("config.json", "record.json"):
        (tmp_path / name).write_text("{}")
    return tmp_path


def assert_refused(folder: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """A run folder whose file of this name is not as it should be gets one sentence."""
    if name == "projection.json":
        with pytest.raises(StoreError):
            read_projection(folder)
        return
    assert run_main(["report", str(folder), "--out", str(folder / "page.html")]) == BAD_INPUT
    assert capfd.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("name", ["config.json", "record.json", "projection.json"])
def test_a_run_folder_with_something_else_than_files(
    run_folder: Path, name: str, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    place(run_folder / name, kind)
    assert_refused(run_folder, name, capfd)


@pytest.mark.parametrize("name", ["config.json", "record.json", "projection.json"])
def test_deep_files_of_a_run(run_folder: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    (run_folder / name).write_text('{"a":' * 100_000)
    assert_refused(run_folder, name, capfd)


SAFETENSORS = {
    "a header longer than the file": (10**6).to_bytes(8, "little") + b"{}",
    "a header of exabytes": (2**63).to_bytes(8, "little") + b"{}",
    "no header": b"\x00" * 7,
    "a deep header": (200_000).to_bytes(8, "little") + b'{"a":' * 40_000,
    "overlapping tensors": b"",
    "a tensor outside": b"",
    "a huge shape": b"",
}


def safetensors(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


SAFETENSORS["overlapping tensors"] = safetensors(
    {name: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} for name in "ab"}, b"0" * 8
)
SAFETENSORS["a tensor outside"] = safetensors(
    {"a": {"dtype": "F32", "shape": [2], "data_offsets": [8, 16]}}, b"0" * 8
)
SAFETENSORS["a huge shape"] = safetensors(
    {"a": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 8]}}, b"0" * 8
)


@pytest.mark.parametrize("case", SAFETENSORS)
def test_states_that_lie(tmp_path: Path, case: str, within: Within) -> None:
    (tmp_path / "state").write_bytes(SAFETENSORS[case])
    with within(8 * MB), pytest.raises(StoreError):
        load_tensors(tmp_path / "state", "start again")


def test_a_pipe_is_no_state(tmp_path: Path) -> None:
    place(tmp_path / "state", "pipe")
    with pytest.raises(StoreError):
        load_tensors(tmp_path / "state", "start again")


@pytest.mark.parametrize("tensors", [{}, {"a": torch.zeros(2)}, {"task_of_class": torch.zeros((2, 2))}])
def test_a_state_of_something_else_is_one_sentence(tmp_path: Path, tensors: dict[str, torch.Tensor]) -> None:
    config = run_config()
    store = create_run(tmp_path, config)
    (store.folder / "task-000.json").write_text("{}")
    save_file(tensors, store.folder / "state-000.safetensors")
    with pytest.raises(StoreError) as caught:
        _load_state(make_learner(config, 6), store)
    one_sentence(caught.value)
