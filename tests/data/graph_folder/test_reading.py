"""Graph folders: opened without copying, and refused in one sentence where they are not as they were written."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.data.convert import Plan, convert_tables
from evergraph.data.datasets import DatasetConfig, load_dataset, source_digest
from evergraph.data.datasets.files import FileOptions, read_graph
from evergraph.data.graph_folder import MANIFEST, check_folder, read_folder, read_manifest
from evergraph.data.standardise import Standardisation
from evergraph.errors import ConfigError, DataError
from evergraph.models.manifest import checksum

AS_IT_IS = Standardisation(undirected=False, unweighted=False, no_self_loops=False, largest_component=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"n{row},{('cat', 'dog')[row % 2]},{row * row % 7},{row % 3},{row}" for row in range(12)]
    (tmp_path / "nodes.csv").write_text("id,label,size,age,time\n" + "\n".join(rows) + "\n")
    edges = [f"n{row},n{(row + step) % 12}" for row in range(12) for step in (1, 3)]
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    out = tmp_path / "graph"
    convert_tables(tmp_path / "edges.csv", tmp_path / "nodes.csv", out, FileOptions(), Plan.of(10**8))
    return out


def is_mapped(array: Any) -> bool:
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


def test_nothing_is_copied_and_nothing_can_be_written(folder: Path) -> None:
    graph = read_folder(folder)
    arrays = [graph.adjacency.data, graph.adjacency.indices, graph.adjacency.indptr, graph.features, graph.labels]
    for array in [*arrays, graph.times, graph.node_names]:
        assert is_mapped(array)
        assert isinstance(array, np.ndarray)
        assert not array.flags.writeable
    for name in ("indptr", "indices", "data"):  # other processes can map them too
        assert getattr(graph.adjacency, name).filename == str(folder / f"{name}.npy")
    opened = load_dataset(f"{folder}/", standardisation=AS_IT_IS)
    assert is_mapped(opened.features)
    assert is_mapped(opened.adjacency.indices)
    assert opened.name == "graph"


def test_it_is_standardised_as_the_tables_are(folder: Path) -> None:
    found, wanted = (load_dataset(str(path)) for path in (f"{folder}/", folder.parent / "edges.csv"))
    assert (found.adjacency != wanted.adjacency).nnz == 0
    np.testing.assert_array_equal(np.asarray(found.features), np.asarray(wanted.features))
    assert found.remarks == wanted.remarks


def undirected_folder(tmp_path: Path, pairs: list[tuple[int, int]], n: int = 12) -> Path:
    """A graph folder of an undirected graph without weights."""
    (tmp_path / "nodes.csv").write_text("id,label\n" + "".join(f"n{row},{row % 2}\n" for row in range(n)))
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"n{i},n{j}\n" for i, j in pairs))
    out = tmp_path / "undirected"
    options = FileOptions(directed=False)
    convert_tables(tmp_path / "edges.csv", tmp_path / "nodes.csv", out, options, Plan.of(10**8))
    return out


def test_what_needs_no_standardisation_stays_on_disk(tmp_path: Path) -> None:
    ring = undirected_folder(tmp_path, [(node, (node + 1) % 12) for node in range(12)])
    assert is_mapped(load_dataset(f"{ring}/").adjacency.indices)


def test_the_largest_component_is_that_of_the_tables(tmp_path: Path) -> None:
    pairs = [(9, 8), (8, 7), (3, 4), (4, 5), (1, 2)]  # two largest ones: the first counts
    folder = undirected_folder(tmp_path, pairs)
    found = load_dataset(f"{folder}/")
    options = {"directed": False}
    wanted = load_dataset(str(tmp_path / "edges.csv"), options=options)
    assert found.original_ids.tolist() == wanted.original_ids.tolist() == [3, 4, 5]
    assert found.remarks == wanted.remarks


def test_the_digest_needs_only_the_manifest(folder: Path) -> None:
    before = source_digest(DatasetConfig(name=f"{folder}/"))
    assert before is not None
    (folder / "features.npy").unlink()
    assert source_digest(DatasetConfig(name=f"{folder}/")) == before
    (folder / MANIFEST).write_text((folder / MANIFEST).read_text() + " ")
    assert source_digest(DatasetConfig(name=f"{folder}/")) != before
    assert read_manifest(folder).nodes == 12


def test_options_of_tables_are_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="directed goes with tables, got it for the graph folder"):
        read_graph(folder, FileOptions(directed=False))


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    """A manifest that was changed together with its checksum."""

    def damage(folder: Path) -> None:
        values = json.loads((folder / MANIFEST).read_text())
        values.pop("sha256")
        change(values)
        (folder / MANIFEST).write_text(json.dumps({**values, "sha256": checksum(values)}))

    return damage


def saved(name: str, array: Any) -> Callable[[Path], object]:
    """Another array in the place of a file, which the manifest describes."""

    def damage(folder: Path) -> None:
        if np.asarray(array).dtype == object:
            np.save(folder / name, array, allow_pickle=True)
        else:
            np.save(folder / name, array)
        size = (folder / name).stat().st_size
        edited(lambda values: values["files"][name].update(bytes=size))(folder)

    return damage


def changed(name: str, change: Callable[[Any], object]) -> Callable[[Path], object]:
    """Some values of a file overwritten; its type, shape and size stay."""

    def damage(folder: Path) -> None:
        array = np.load(folder / name, mmap_mode="r+")
        change(array)
        array.flush()

    return damage


def linked(folder: Path) -> None:
    (folder / "labels.npy").rename(folder.parent / "outside.npy")
    (folder / "labels.npy").symlink_to(folder.parent / "outside.npy")


def made_a_folder(folder: Path) -> None:
    (folder / "labels.npy").unlink()
    (folder / "labels.npy").mkdir()


def put(place: Any, value: Any) -> Callable[[Any], object]:
    return lambda array: array.__setitem__(place, value)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no manifest": (lambda folder: (folder / MANIFEST).unlink(), "a graph folder with graph.json is wanted"),
    "another JSON": (lambda folder: (folder / MANIFEST).write_text("[]"), "the format 'evergraph-graph' is wanted"),
    "no JSON": (lambda folder: (folder / MANIFEST).write_bytes(b"\xff\x00"), "JSON is wanted"),
    "manifest edited": (
        lambda folder: (folder / MANIFEST).write_text((folder / MANIFEST).read_text().replace("12", "13", 1)),
        "a content that fits its checksum is wanted",
    ),
    "a later version": (edited(lambda values: values.update(version=2)), "the format version 1 is wanted, got 2"),
    "a further key": (edited(lambda values: values.update(extra=1)), "got 'extra' missing or beside them"),
    "a path out": (
        edited(lambda values: values["files"].update({"../labels.npy": values["files"]["labels.npy"]})),
        r"files must be called .* got '\.\./labels.npy' instead",
    ),
    "an absolute path": (
        edited(lambda values: values["files"].update({"/etc/passwd": values["files"]["labels.npy"]})),
        "got '/etc/passwd' instead",
    ),
    "a file not named": (edited(lambda values: values["files"].pop("labels.npy")), "got labels.npy otherwise"),
    "an object array by the manifest": (
        edited(lambda values: values["files"]["labels.npy"].update(dtype="|O")),
        "labels.npy must have the dtype <i8",
    ),
    "a huge shape": (
        edited(lambda values: (values.update(nodes=2**61), values["files"]["labels.npy"].update(shape=[2**61]))),
        "must have the shape",
    ),
    "a negative shape": (
        edited(lambda values: values["files"]["labels.npy"].update(shape=[-12])),
        "labels.npy must have a shape of whole numbers",
    ),
    "a count that is text": (edited(lambda values: values.update(nodes="12")), "nodes must be a number of things"),
    "truncated": (lambda folder: os.truncate(folder / "features.npy", 140), "must have 224 bytes, got 140 instead"),
    "longer": (
        lambda folder: (folder / "labels.npy").write_bytes((folder / "labels.npy").read_bytes() + b"\0"),
        "must have 224 bytes, got 225 instead",
    ),
    "a file gone": (lambda folder: (folder / "labels.npy").unlink(), "cannot be read: No such file"),
    "a link": (linked, "a link is not followed"),
    "a folder for a file": (
        made_a_folder,
        "must be a file, got something else instead",
    ),
    "pickled objects": (saved("labels.npy", np.array([{}] * 12, dtype=object)), "must hold <i8 of shape"),
    "another type": (saved("labels.npy", np.zeros(12)), r"must hold <i8 of shape \(12,\), got <f8"),
    "another shape": (saved("labels.npy", np.zeros(11, dtype=np.int64)), r"got <i8 of shape \(11,\)"),
    "columns before rows": (saved("features.npy", np.zeros((2, 12), dtype=np.float32).T), "must hold <f4 of shape"),
    "no array": (
        lambda folder: (folder / "labels.npy").write_bytes(b"x" * 224),
        r"must be an array \(.npy\), got something else",
    ),
    "a column outside": (changed("indices.npy", put(3, 12)), "must hold nodes from 0 to 11, got 12 instead"),
    "a negative column": (changed("indices.npy", put(3, -1)), "must hold nodes from 0 to 11, got -1 instead"),
    "rows that fall": (changed("indptr.npy", put(3, 9)), "indptr.npy must never fall"),
    "rows of another graph": (changed("indptr.npy", put(-1, 9)), "must begin with 0 and end with 24, got 0 and 9"),
    "a class outside": (changed("labels.npy", put(0, 2)), "must hold classes from 0 on, got 2 instead"),
    "no time": (changed("times.npy", put(0, np.nan)), "must hold finite numbers"),
    "no text": (
        changed("node_names.npy", lambda array: array.view(np.uint32).__setitem__(0, 0x7FFFFFFF)),
        "must hold text, got something else",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES, ids=str)
def test_a_damaged_folder_is_refused_in_one_sentence(folder: Path, damage: str) -> None:
    spoil, message = DAMAGES[damage]
    read_folder(folder)
    spoil(folder)
    with pytest.raises(DataError, match=message) as raised:
        read_folder(folder)
    assert "\n" not in str(raised.value)
    with pytest.raises(DataError):
        check_folder(folder)


@pytest.mark.parametrize("name", ["features.npy", "data.npy", "node_names.npy", "indices.npy"])
def test_only_the_check_reads_every_byte(folder: Path, name: str) -> None:
    assert check_folder(folder).n_nodes == 12
    content = bytearray((folder / name).read_bytes())
    content[128] ^= 1  # still a number, a name or a node
    (folder / name).write_bytes(bytes(content))
    read_folder(folder)
    with pytest.raises(DataError, match=f"{name} must be as it was written, got other bytes instead"):
        check_folder(folder)


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("features.npy", (0, 0), np.nan, "must hold finite numbers, got others"),
        ("data.npy", 0, -1, "must hold finite numbers above 0"),
        ("data.npy", 0, 0, "must hold finite numbers above 0"),
        ("indices.npy", 0, 3, "must hold the columns of each row once and in order"),
    ],
)
def test_the_check_knows_what_a_graph_is(folder: Path, name: str, place: Any, value: Any, message: str) -> None:
    import hashlib

    changed(name, put(place, value))(folder)
    digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    edited(lambda values: values["files"][name].update(sha256=digest))(folder)
    read_folder(folder)
    with pytest.raises(DataError, match=message):
        check_folder(folder)
