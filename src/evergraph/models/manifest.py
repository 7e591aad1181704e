"""model.json: what a model folder holds, with a checksum of every file and of itself."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from evergraph import parsing
from evergraph.errors import StoreError

FORMAT, VERSION = "evergraph-model", 3
MANIFEST = "model.json"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}(\.[a-z0-9]{1,12})?")
"""Names of files in a model: nothing that could lead out of its folder, and alike on every file system."""
STORED = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}-[0-9a-f]{16}(\.[a-z0-9]{1,12})?")
"""Names of files on disk: with a part of the checksum."""
DIGEST = re.compile(r"[0-9a-f]{64}")
KEYS = {"format", "version", "content", "tensors", "files", "sha256"}


@dataclass(frozen=True)
class StoredFile:
    """A file of a model: its checksum and size; its name on disk follows from its content."""

    name: str
    sha256: str
    size: int

    @classmethod
    def of(cls, name: str, content: bytes) -> "StoredFile":
        return cls(name, sha256(content).hexdigest(), len(content))

    @property
    def stored(self) -> str:
        stem, dot, suffix = self.name.partition(".")
        return f"{stem}-{self.sha256[:16]}{dot}{suffix}"


@dataclass(frozen=True)
class Manifest:
    """What model.json says. content: whatever the model's kind needs; tensors: type and shape of each by name."""

    content: dict[str, Any]
    tensors: dict[str, list[Any]]
    files: tuple[StoredFile, ...]

    def to_text(self) -> str:
        values = self._values()
        return json.dumps({**values, "sha256": checksum(values)}, indent=1, allow_nan=False) + "\n"

    @property
    def checksum(self) -> str:
        """Equal for equal models."""
        return checksum(self._values())

    def _values(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "content": self.content,
            "tensors": self.tensors,
            "files": {file.name: {"sha256": file.sha256, "bytes": file.size} for file in self.files},
        }


def parse_manifest(text: bytes) -> Manifest:
    """The manifest in the bytes of a model.json; StoreError that says what is wrong with them."""
    values = strict_json(text)
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise StoreError(f"the format {FORMAT!r} is wanted, got none or another one")
    version = values.get("version")
    if type(version) is not int or version != VERSION:
        raise StoreError(f"the format version {VERSION} is wanted, got {_short(version)}; upgrade evergraph")
    if set(values) != KEYS:
        odd = sorted(set(values) ^ KEYS)[0]
        raise StoreError(f"the keys {', '.join(sorted(KEYS))} are wanted, got {odd[:60]!r} missing or beside them")
    claimed = values.pop("sha256")
    if claimed != checksum(values):
        raise StoreError("a content that fits its checksum is wanted, got one that was changed")
    return Manifest(_mapping(values, "content"), _shapes(values), _files(values))


def checksum(values: Mapping[str, Any]) -> str:
    """SHA-256 of values, whatever their layout as text; StoreError where they are no plain values."""
    try:
        text = json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(f"plain values for JSON are wanted, got others ({_short(error)})") from None
    return sha256(text.encode()).hexdigest()


def strict_json(text: bytes) -> Any:
    """JSON as `parsing.strict_json` takes it; StoreError for anything else."""
    try:
        return parsing.strict_json(text)
    except ValueError as error:
        raise StoreError(f"JSON is wanted, got something else ({_short(error)})") from None


def _mapping(values: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = values[key]
    if not isinstance(found, dict):
        raise StoreError(f"{key} must be a table, got {_short(found)} instead")
    return found


def _shapes(values: Mapping[str, Any]) -> dict[str, list[Any]]:
    tensors = _mapping(values, "tensors")
    for name, shape in tensors.items():
        kind, *sizes = shape if isinstance(shape, list) and shape else [None]
        if not isinstance(kind, str) or not all(type(size) is int and size >= 0 for size in sizes):
            raise StoreError(f"the tensor {name[:60]!r} must have a type and a shape, got {_short(shape)} instead")
    return tensors


def _files(values: Mapping[str, Any]) -> tuple[StoredFile, ...]:
    found = []
    for name, about in _mapping(values, "files").items():
        if not NAME.fullmatch(name):
            raise StoreError(f"files must have plain names, got {name[:60]!r} instead")
        digest, size = (about.get(key) for key in ("sha256", "bytes")) if isinstance(about, dict) else (None, None)
        if not isinstance(digest, str) or not DIGEST.fullmatch(digest) or type(size) is not int or size < 0:
            raise StoreError(f"the file {name} must have a SHA-256 and a size, got {_short(about)} instead")
        found.append(StoredFile(name, digest, size))
    return tuple(found)


def _short(value: object) -> str:
    return " ".join(str(value).split())[:80]
