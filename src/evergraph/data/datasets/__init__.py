"""Data sets by name, and any other graph by the path of its file."""

import os
from collections.abc import Mapping
from pathlib import Path

from evergraph.config import validated
from evergraph.data.datasets import digits, npz, ogb, reddit, sbm
from evergraph.data.datasets.derived import DerivedFeatures
from evergraph.data.datasets.entry import DatasetEntry, Locate, NoOptions, RemoteFile
from evergraph.data.datasets.fetch import cache_dir, locator
from evergraph.data.datasets.files import FileOptions, read_graph
from evergraph.data.graph import Graph
from evergraph.data.standardise import Standardisation, standardise
from evergraph.registry import Registry

__all__ = [
    "DATASETS",
    "DatasetEntry",
    "DerivedFeatures",
    "FileOptions",
    "Locate",
    "NoOptions",
    "RemoteFile",
    "cache_dir",
    "is_path",
    "load_dataset",
    "locator",
]

DATASETS: Registry[DatasetEntry] = Registry(
    "data set",
    {entry.name: entry for entry in (digits.ENTRY, sbm.ENTRY, *npz.ENTRIES, ogb.ENTRY, reddit.ENTRY)},
    entry_type=DatasetEntry,
    plugins="evergraph.datasets",
)


def is_path(name_or_path: str) -> bool:
    """Whether this names a file rather than a data set: it has a separator or a suffix."""
    separators = {os.sep, os.altsep or os.sep, "/"}
    return not separators.isdisjoint(name_or_path) or Path(name_or_path).suffix != ""


def load_dataset(
    name_or_path: str,
    *,
    options: Mapping[str, object] | None = None,
    data_dir: Path | None = None,
    features: str | None = None,
    standardisation: Standardisation | None = None,
    progress: bool = False,
    download: bool = True,
) -> Graph:
    """A data set or a graph file, loaded, standardised (all four steps unless others are given), with its features.

    `features` ("spectral:64", "degree") replaces the features by ones derived from the standardised graph.
    """
    derived = DerivedFeatures.parse(features) if features is not None else None
    if is_path(name_or_path):
        graph = read_graph(Path(name_or_path), validated(FileOptions, options or {}, "file"))
    else:
        entry = DATASETS[name_or_path]
        chosen = validated(entry.options, options or {}, entry.name)
        graph = entry.load(chosen, locator(data_dir, download=download, progress=progress))
    graph = standardise(graph, standardisation)
    return graph if derived is None else derived.derive(graph)
