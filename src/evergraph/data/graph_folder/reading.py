"""Reading a graph folder: a Graph over memory maps, and the check of every byte."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.budget import current_budget
from evergraph.data.graph import Graph
from evergraph.data.graph_folder.manifest import MANIFEST, GraphManifest, parse_manifest
from evergraph.data.graph_folder.npy import mapped, opened
from evergraph.data.on_disk import bytes_in_memory, kept_on_disk
from evergraph.data.remote.place import Place
from evergraph.errors import DataError
from evergraph.limits import Refused, forbid_more_than_memory
from evergraph.workers import current_workers

MOST_MANIFEST_BYTES = 1 << 24
BLOCK = 1 << 20
"""Entries that are looked at together."""
LAST_CHARACTER = 0x10FFFF
NODE_BYTES = 16
"""What is in memory of every node, however large the rest is on disk: its number and its label."""


def is_graph_folder(path: str | Path) -> bool:
    """Whether there is a folder with a manifest of this name."""
    return os.path.lexists(Path(path) / MANIFEST)


def read_manifest(folder: Path) -> GraphManifest:
    """What the manifest of a folder says; no other file is looked at."""
    if not folder.is_dir() or not is_graph_folder(folder):
        raise DataError(
            f"a graph folder with {MANIFEST} is wanted, got {folder} instead; make one: evergraph data convert"
        )
    with opened(folder, MANIFEST) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MOST_MANIFEST_BYTES:
            raise DataError(
                f"{folder / MANIFEST} must have at most {MOST_MANIFEST_BYTES:,} bytes, got {size:,} instead"
            )
        text = file.read()
    try:
        return parse_manifest(text)
    except DataError as error:
        raise DataError(f"{folder / MANIFEST} must be as it was written: {error}") from None


def read_folder(where: Path | Place) -> Graph:
    """The graph in a folder, its arrays memory maps; DataError in one sentence for whatever is wrong with it.

    Types, shapes and sizes of all files are checked, and that no index points outside of the graph: indices,
    labels and times are read once, in blocks. Features and checksums are not looked at; see `check_folder`.
    """
    place = where if isinstance(where, Place) else Place(where)
    folder = place.path
    manifest = read_manifest(folder)
    try:
        forbid_more_than_memory(manifest.nodes * NODE_BYTES)
    except Refused as error:
        raise DataError(f"{folder} must have fewer nodes: {error}") from None
    arrays = _arrays(folder, manifest)
    _check_index(folder, arrays["indptr.npy"], arrays["indices.npy"], manifest.nodes)
    _check_nodes(folder, arrays)
    _check_text(folder, arrays)
    features = arrays.get("features.npy")
    names = {name: arrays.get(f"{name}.npy") for name in ("class_names", "feature_names", "node_names")}
    classes, columns = (
        None if found is None else tuple(found.tolist()) for found in (names["class_names"], names["feature_names"])
    )
    graph = Graph(
        adjacency=_csr(arrays, manifest.nodes),
        features=features,
        labels=arrays["labels.npy"],
        original_ids=np.arange(manifest.nodes, dtype=np.int64),
        directed=manifest.directed,
        name=folder.resolve().name,
        class_names=classes,
        feature_names=columns,
        remarks=manifest.remarks,
        times=arrays.get("times.npy"),
        node_names=names["node_names"],
    )
    if features is not None and features.dtype == np.float16:
        graph = replace(graph, remarks=(*graph.remarks, "features are kept in 16 bits"))
    if current_workers() is not None or bytes_in_memory(graph) > current_budget().memory:
        return kept_on_disk(graph, weighted=True, loops=True, place=replace(place, path=folder.resolve()))
    return graph if features is None else replace(graph, features=_widened(features))


def mapped_csr(folder: Path) -> sparse.csr_array:
    """The adjacency in a folder that was read before, by another process: types, shapes and sizes are checked."""
    manifest = read_manifest(folder)
    return _csr(_arrays(folder, manifest), manifest.nodes)


def mapped_features(folder: Path) -> NDArray[Any]:
    """The features in a folder that was read before."""
    return _arrays(folder, read_manifest(folder))["features.npy"]


def check_folder(folder: Path) -> Graph:
    """The graph in a folder after everything in it was read: checksums, and whatever a graph must be."""
    manifest = read_manifest(folder)
    arrays = _arrays(folder, manifest)
    for name, about in manifest.files.items():
        with opened(folder, name) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != about.sha256:
            raise DataError(
                f"{folder / name} must be as it was written, got other bytes instead; take another copy"
            )
    graph = read_folder(folder)
    _check_rows(folder, arrays["indptr.npy"], arrays["indices.npy"])
    for name, least in (("data.npy", 0.0), ("features.npy", -np.inf)):
        for part in _blocks(arrays[name]) if name in arrays else ():
            if not (np.isfinite(part) & (part >= least)).all() or (name == "data.npy" and not part.all()):
                wanted = "finite numbers" if name == "features.npy" else "finite numbers above 0"
                raise DataError(f"{folder / name} must hold {wanted}, got others instead; convert the tables again")
    return graph


def _arrays(folder: Path, manifest: GraphManifest) -> dict[str, NDArray[Any]]:
    files = manifest.files.items()
    return {name: mapped(folder, name, file.dtype, file.shape, file.size) for name, file in files}


def _csr(arrays: dict[str, NDArray[Any]], n_nodes: int) -> sparse.csr_array:
    """The matrix over the arrays as they are; its constructor would copy or read them."""
    matrix = sparse.csr_array((n_nodes, n_nodes), dtype=np.float32)
    matrix.indptr, matrix.indices, matrix.data = (arrays[f"{name}.npy"] for name in ("indptr", "indices", "data"))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _blocks(array: NDArray[Any]) -> Any:
    step = max(1, BLOCK // max(1, int(np.prod(array.shape[1:]))))
    return (array[start : start + step] for start in range(0, len(array), step))


def _check_index(folder: Path, indptr: NDArray[Any], indices: NDArray[Any], n_nodes: int) -> None:
    """DataError where rows do not follow each other or a column is no node: compiled code relies on both."""
    if indptr[0] != 0 or indptr[-1] != len(indices):
        came = f"{indptr[0]} and {indptr[-1]}"
        raise DataError(
            f"{folder / 'indptr.npy'} must begin with 0 and end with {len(indices)}, got {came} instead; "
            "take another copy"
        )
    for start in range(0, len(indptr) - 1, BLOCK):
        if np.any(np.diff(indptr[start : start + BLOCK + 1]) < 0):
            raise DataError(f"{folder / 'indptr.npy'} must never fall, got one that does; take another copy")
    for part in _blocks(indices):
        if part.min() < 0 or part.max() >= n_nodes:
            worst = part.min() if part.min() < 0 else part.max()
            raise DataError(
                f"{folder / 'indices.npy'} must hold nodes from 0 to {n_nodes - 1}, got {worst} instead; "
                "take another copy"
            )


def _check_rows(folder: Path, indptr: NDArray[Any], indices: NDArray[Any]) -> None:
    """DataError where the columns of a row do not rise."""
    starts = np.asarray(indptr)
    for start in range(0, len(indices) - 1, BLOCK):
        part = indices[start : start + BLOCK + 1]
        falls = start + 1 + np.flatnonzero(np.diff(part) <= 0)
        place = np.searchsorted(starts, falls)
        if np.any(starts[np.minimum(place, len(starts) - 1)] != falls):
            raise DataError(
                f"{folder / 'indices.npy'} must hold the columns of each row once and in order, got others "
                "instead; convert the tables again"
            )


def _check_nodes(folder: Path, arrays: dict[str, NDArray[Any]]) -> None:
    names = arrays.get("class_names.npy")
    for part in _blocks(arrays["labels.npy"]):
        if part.min() < 0 or (names is not None and part.max() >= len(names)):
            worst = part.min() if part.min() < 0 else part.max()
            raise DataError(
                f"{folder / 'labels.npy'} must hold classes from 0 on, got {worst} instead; take another copy"
            )
    for part in _blocks(arrays["times.npy"]) if "times.npy" in arrays else ():
        if not np.isfinite(part).all():
            raise DataError(
                f"{folder / 'times.npy'} must hold finite numbers, got others instead; take another copy"
            )


def _check_text(folder: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """DataError where the names of nodes, classes or features hold what is no character."""
    for name, array in arrays.items():
        for part in _blocks(array) if array.dtype.kind == "U" else ():
            points = np.ascontiguousarray(part).view(np.uint32)
            if np.any(points > LAST_CHARACTER) or np.any((points >= 0xD800) & (points <= 0xDFFF)):
                raise DataError(f"{folder / name} must hold text, got something else instead; take another copy")


def _widened(features: NDArray[Any]) -> NDArray[np.float32]:
    """Features of 16 bits in 32, a block after the other; others as they are."""
    if features.dtype != np.float16:
        return features
    found = np.empty(features.shape, dtype=np.float32)
    place = 0
    for part in _blocks(features):
        found[place : place + len(part)] = part
        place += len(part)
    return found
