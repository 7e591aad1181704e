"""Data sets by name, and any other graph by the path of its file."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, field_validator

from evergraph.config import Settings, usable_path, validated
from evergraph.data.cache import cache_dir
from evergraph.data.datasets import digits, npz, ogb, patents, reddit, sbm
from evergraph.data.datasets.derived import DerivedFeatures
from evergraph.data.datasets.entry import DatasetEntry, Locate, NoOptions, RemoteFile
from evergraph.data.datasets.fetch import locator
from evergraph.data.datasets.files import FileOptions, files_of, read_graph
from evergraph.data.graph import Graph
from evergraph.data.on_disk import is_on_disk
from evergraph.data.remote.address import checked, is_address, local_path
from evergraph.data.remote.fetching import manifest_text
from evergraph.data.remote.place import graph_place
from evergraph.data.standardise import Standardisation, changes, standardise
from evergraph.errors import ConfigError, DataError
from evergraph.registry import Registry

__all__ = [
    "DATASETS",
    "DatasetConfig",
    "DatasetEntry",
    "DerivedFeatures",
    "FileOptions",
    "Locate",
    "NoOptions",
    "RemoteFile",
    "cache_dir",
    "dataset_options",
    "derived_features",
    "is_path",
    "load_dataset",
    "locator",
    "open_dataset",
    "source_digest",
]


class DatasetConfig(Settings):
    """Which graph: the name of a data set, the path of a file or the address of a folder, and how it is read."""

    name: Annotated[str, AfterValidator(usable_path)] = "digits"
    """Name of a data set, path of a graph file or a graph folder, or address of a graph folder."""
    features: str | None = None
    """Features that are derived from the graph in place of its own: spectral:D, random:D or degree."""
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of this data set; graph files have those of a graph file."""
    standardise: Standardisation = Standardisation()
    """Which steps of standardisation are done."""

    @field_validator("name")
    @classmethod
    def _no_secrets(cls, value: str) -> str:
        if is_address(value):
            checked(value)
        return value


DATASETS: Registry[DatasetEntry] = Registry(
    "data set",
    {
        entry.name: entry
        for entry in (digits.ENTRY, sbm.ENTRY, *npz.ENTRIES, ogb.ENTRY, reddit.ENTRY, patents.ENTRY)
    },
    entry_type=DatasetEntry,
    plugins="evergraph.datasets",
)
"""Data sets by name; `load_dataset` loads one."""


def is_path(name_or_path: str) -> bool:
    """Whether this names a file rather than a data set: it has a separator or a suffix."""
    separators = {os.sep, os.altsep or os.sep, "/"}
    return not separators.isdisjoint(name_or_path) or Path(name_or_path).suffix != ""


def dataset_options(name_or_path: str, options: Mapping[str, object]) -> BaseModel:
    """The options of a data set, or of a graph file, with their defaults."""
    if is_path(name_or_path):
        return validated(FileOptions, options, "file")
    entry = DATASETS[name_or_path]
    return validated(entry.options, options, entry.name)


def derived_features(name_or_path: str) -> str | None:
    """How a data set that has no features of its own derives them, if it does."""
    return None if is_path(name_or_path) or name_or_path not in DATASETS else DATASETS[name_or_path].derived


def load_dataset(
    name_or_path: str,
    *,
    options: Mapping[str, object] | None = None,
    data_dir: str | Path | None = None,
    features: str | None = None,
    standardisation: Standardisation | None = None,
    progress: bool = False,
    download: bool = True,
) -> Graph:
    """A data set or a graph file, loaded, standardised (all four steps unless others are given), with its features.

    Args:
        name_or_path: Name of a data set, or path of a graph file or a graph folder.
        options: Options of the data set or of graph files.
        data_dir: The folder to look for data files in first.
        features: "spectral:64" or "degree" replaces the features by ones derived from the standardised graph; a
            data set that never has any says by itself how they are derived.
        standardisation: Which steps of standardisation are done.
        progress: Show the progress of downloads.
        download: Whether missing files may be downloaded.
    """
    features = features or derived_features(name_or_path)
    derived = DerivedFeatures.parse(features) if features is not None else None
    chosen = dataset_options(name_or_path, options or {})
    if isinstance(chosen, FileOptions):
        graph = read_graph(graph_place(name_or_path, progress=progress), chosen)
    else:
        entry = DATASETS[name_or_path]
        graph = entry.load(chosen, locator(data_dir, download=download, progress=progress))
        graph = replace(graph, name=entry.name)
    standard = standardise(graph, standardisation)
    if isinstance(chosen, FileOptions):
        standard = replace(standard, remarks=(*graph.remarks, *changes(graph, standard)))
    graph = standard
    if derived is not None and is_on_disk(graph):
        raise DataError(
            f"--features {features} needs the whole graph in memory, got one that is read from disk in blocks; "
            "raise --memory, or leave --features out"
        )
    return graph if derived is None else derived.derive(graph)


def open_dataset(config: DatasetConfig, data_dir: Path | None, *, progress: bool = False) -> Graph:
    """The graph that these settings name."""
    return load_dataset(
        config.name,
        options=config.options,
        data_dir=data_dir,
        features=config.features,
        standardisation=config.standardise,
        progress=progress,
    )


def source_digest(config: DatasetConfig) -> str | None:
    """SHA-256 of the files behind a graph that is named by its path; None for data sets and where none can be read.

    The same name may stand for other data tomorrow, or in another folder.
    """
    options = dataset_options(config.name, config.options)
    if not isinstance(options, FileOptions):
        return None
    digest = hashlib.sha256()
    try:
        if is_address(config.name):
            digest.update(hashlib.sha256(manifest_text(config.name)).digest())  # nothing else is brought for this
            return digest.hexdigest()
        for path in files_of(Path(local_path(config.name)), options):
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    except (OSError, DataError, ConfigError):
        return None
    return digest.hexdigest()
