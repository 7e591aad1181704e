"""graph.json: what a graph folder holds: type, shape, size and checksum of every file, and a checksum of itself."""

import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from evergraph.errors import DataError, StoreError
from evergraph.models.manifest import DIGEST, checksum, strict_json

FORMAT, VERSION = "evergraph-graph", 1
MANIFEST = "graph.json"
KEYS = {"format", "version", "nodes", "edges", "features", "classes", "directed", "remarks", "files", "sha256"}
INDEX = ("<i4", "<i8")
TEXT = re.compile(r"<U[1-9][0-9]{0,5}")
TYPES: dict[str, tuple[str, ...]] = {
    "indptr.npy": INDEX,
    "indices.npy": INDEX,
    "data.npy": ("<f4",),
    "labels.npy": ("<i8",),
    "features.npy": ("<f4", "<f2"),
    "times.npy": ("<f8", "<i8"),
    "node_names.npy": ("text",),
    "class_names.npy": ("text",),
    "feature_names.npy": ("text",),
}
"""The only names of files, and the types that each may have; "text" is <U and a number of characters."""
MOST_NAME_BYTES = 1 << 28
"""Of the names of classes and of features, which are read into memory."""
REQUIRED = ("indptr.npy", "indices.npy", "data.npy", "labels.npy")


@dataclass(frozen=True)
class ArrayFile:
    """A file of the folder: the type and shape of its array, its bytes, and their SHA-256."""

    dtype: str
    shape: tuple[int, ...]
    size: int
    sha256: str


@dataclass(frozen=True)
class GraphManifest:
    """What graph.json says; edges: adjacency entries. classes: how many different labels there are."""

    nodes: int
    edges: int
    features: int
    classes: int
    directed: bool
    remarks: tuple[str, ...]
    files: dict[str, ArrayFile]

    def to_text(self) -> str:
        values = self._values()
        return json.dumps({**values, "sha256": checksum(values)}, indent=1, allow_nan=False) + "\n"

    @property
    def checksum(self) -> str:
        """Equal for equal graphs."""
        return checksum(self._values())

    def _values(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "nodes": self.nodes,
            "edges": self.edges,
            "features": self.features,
            "classes": self.classes,
            "directed": self.directed,
            "remarks": list(self.remarks),
            "files": {
                name: {"dtype": file.dtype, "shape": list(file.shape), "bytes": file.size, "sha256": file.sha256}
                for name, file in self.files.items()
            },
        }


def parse_manifest(text: bytes) -> GraphManifest:
    """The manifest in the bytes of a graph.json; DataError that says what is wrong with them."""
    try:
        values = strict_json(text)
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            raise DataError(f"the format {FORMAT!r} is wanted, got none or another one")
        version = values.get("version")
        if type(version) is not int or version != VERSION:
            raise DataError(f"the format version {VERSION} is wanted, got {_short(version)}; upgrade evergraph")
        if set(values) != KEYS:
            odd = sorted(set(values) ^ KEYS)[0]
            raise DataError(
                f"the keys {', '.join(sorted(KEYS))} are wanted, got {odd[:60]!r} missing or beside them"
            )
        if values.pop("sha256") != checksum(values):
            raise DataError("a content that fits its checksum is wanted, got one that was changed")
    except StoreError as error:
        raise DataError(str(error)) from None
    nodes, edges, features, classes = (_count(values, key) for key in ("nodes", "edges", "features", "classes"))
    made = GraphManifest(nodes, edges, features, classes, _flag(values), _remarks(values), _files(values))
    _forbid_inconsistent(made)
    return made


def _count(values: dict[str, Any], key: str) -> int:
    found = values[key]
    if type(found) is not int or not 0 <= found < 2**62:
        raise DataError(f"{key} must be a number of things, got {_short(found)} instead")
    return found


def _flag(values: dict[str, Any]) -> bool:
    found = values["directed"]
    if type(found) is not bool:
        raise DataError(f"directed must be true or false, got {_short(found)} instead")
    return found


def _remarks(values: dict[str, Any]) -> tuple[str, ...]:
    found = values["remarks"]
    if not isinstance(found, list) or not all(isinstance(remark, str) for remark in found):
        raise DataError(f"remarks must be a list of sentences, got {_short(found)} instead")
    return tuple(found)


def _files(values: dict[str, Any]) -> dict[str, ArrayFile]:
    found = values["files"]
    if not isinstance(found, dict):
        raise DataError(f"files must be a table, got {_short(found)} instead")
    files = {}
    for name, about in found.items():
        if name not in TYPES:
            raise DataError(f"files must be called {', '.join(TYPES)}, got {name[:60]!r} instead")
        if not isinstance(about, dict) or set(about) != {"dtype", "shape", "bytes", "sha256"}:
            raise DataError(f"{name} must have a dtype, a shape, bytes and a sha256, got {_short(about)} instead")
        dtype, shape, size, digest = (about[key] for key in ("dtype", "shape", "bytes", "sha256"))
        fits = isinstance(dtype, str) and (
            dtype in TYPES[name] or ("text" in TYPES[name] and TEXT.fullmatch(dtype))
        )
        if not fits:
            raise DataError(f"{name} must have the dtype {' or '.join(TYPES[name])}, got {_short(dtype)} instead")
        if not isinstance(shape, list) or not all(type(side) is int and 0 <= side < 2**62 for side in shape):
            raise DataError(f"{name} must have a shape of whole numbers, got {_short(shape)} instead")
        if type(size) is not int or size < 0 or not isinstance(digest, str) or not DIGEST.fullmatch(digest):
            raise DataError(f"{name} must have a size and a SHA-256, got {_short(about)} instead")
        if name in ("class_names.npy", "feature_names.npy") and size > MOST_NAME_BYTES:
            raise DataError(f"{name} must have at most {MOST_NAME_BYTES:,} bytes, got {size:,} instead")
        files[name] = ArrayFile(dtype, tuple(shape), size, digest)
    return files


def _forbid_inconsistent(manifest: GraphManifest) -> None:
    """DataError where files are missing, or shapes and counts are not those of one graph."""
    n, files = manifest.nodes, manifest.files
    if not n:
        raise DataError("at least one node is wanted, got none")
    needed = (*REQUIRED, *(("features.npy", "feature_names.npy") if manifest.features else ()))
    missing = [name for name in needed if name not in files]
    if missing or (not manifest.features and "features.npy" in files):
        raise DataError(
            f"the files {', '.join(needed)} are wanted, got {missing[0] if missing else 'others'} otherwise"
        )
    shapes: dict[str, tuple[int, ...]] = {
        "indptr.npy": (n + 1,),
        "indices.npy": (manifest.edges,),
        "data.npy": (manifest.edges,),
        "labels.npy": (n,),
        "features.npy": (n, manifest.features),
        "times.npy": (n,),
        "node_names.npy": (n,),
        "class_names.npy": (manifest.classes,),
        "feature_names.npy": (manifest.features,),
    }
    for name, file in files.items():
        if file.shape != shapes[name]:
            raise DataError(f"{name} must have the shape {shapes[name]}, got {file.shape} instead")
    index = files["indptr.npy"].dtype
    if files["indices.npy"].dtype != index or max(n, manifest.edges) > np.iinfo(np.dtype(index)).max:
        raise DataError("one type of index that holds every count is wanted, got another")


def _short(value: object) -> str:
    return " ".join(str(value).split())[:80]
