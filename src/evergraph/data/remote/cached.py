"""The cache of graph folders: one entry for each address and content, complete or being brought."""

import json
import os
import re
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from evergraph.data.cache import cache_dir
from evergraph.data.graph_folder.manifest import GraphManifest
from evergraph.data.remote.address import checked
from evergraph.errors import StoreError
from evergraph.files import write_atomically
from evergraph.locks import locked

ABOUT, PARTIAL = ".about.json", ".partial"


@dataclass(frozen=True)
class Entry:
    """The folder of one content of one address in the cache."""

    root: Path
    name: str

    @classmethod
    def of(cls, address: str, checksum: str) -> "Entry":
        """checksum: that of the manifest."""
        key = sha256(f"{address}\n{checksum}".encode()).hexdigest()[:32]
        return cls(cache_dir() / "graphs" / key, _last_name(address))

    @property
    def folder(self) -> Path:
        """The graph folder; it is there as a whole or not at all."""
        return self.root / self.name

    @property
    def partial(self) -> Path:
        """The files that have come so far."""
        return self.root / PARTIAL

    @property
    def lock(self) -> Path:
        return self.root.with_suffix(".lock")

    def describe(self, address: str, manifest: GraphManifest) -> None:
        """Say what this is an entry of."""
        about = {
            "address": address,
            "nodes": manifest.nodes,
            "edges": manifest.edges,
            "bytes": sum(file.size for file in manifest.files.values()),
        }
        write_atomically(self.root / ABOUT, json.dumps(about, indent=1) + "\n")


@dataclass(frozen=True)
class CachedGraph:
    """A graph in the cache: its address, its size, its folder, and whether all of it has come."""

    address: str
    nodes: int
    edges: int
    bytes: int
    folder: Path
    complete: bool


def cached_graphs(address: str | None = None) -> list[CachedGraph]:
    """What is in the cache, of one address or of all."""
    store = cache_dir() / "graphs"
    wanted = None if address is None else checked(address)
    found = [_read(path) for path in sorted(store.iterdir())] if store.is_dir() else []
    return [graph for graph in found if graph is not None and wanted in (None, graph.address)]


def clear(graphs: list[CachedGraph]) -> None:
    """Remove graphs from the cache; StoreError where another process is bringing one of them."""
    for graph in graphs:
        root = graph.folder.parent
        with locked(root.with_suffix(".lock"), keep=False):
            away = root.with_name(f".{root.name}.{os.getpid()}")
            try:
                root.rename(away)
            except OSError as error:
                raise StoreError(f"{root} cannot be removed: {error.strerror or error}") from None
            shutil.rmtree(away, ignore_errors=True)


def _read(root: Path) -> CachedGraph | None:
    """An entry; None for anything else."""
    try:
        about: dict[str, Any] = json.loads((root / ABOUT).read_text(encoding="utf-8"))
        address = str(about["address"])
        nodes, edges, size = (int(about[key]) for key in ("nodes", "edges", "bytes"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    folder = root / _last_name(address)
    return CachedGraph(address, nodes, edges, size, folder, folder.is_dir())


def _last_name(address: str) -> str:
    """The name of the folder at an address, which the graph gets: nothing that leads elsewhere."""
    path = address.partition("::")[0].partition("://")[2]
    return re.sub(r"[\x00-\x1f\\:]", "_", path.rpartition("/")[2]).lstrip(".") or "graph"
