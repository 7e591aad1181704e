"""What a registered data set is: where its files come from, how they are read, what has to be cited."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel

from evergraph.config import Settings
from evergraph.data.graph import Graph


@dataclass(frozen=True)
class RemoteFile:
    """A file or folder that a data set needs.

    name: its path inside a data folder.
    url: the upstream address, None where there is none to download from.
    sha256: of what the address delivers; None where it is not known and has to be recorded at the first download.
    inside: the path within the zip archive at `url`; None where the address is the file itself.
    """

    name: str
    url: str | None
    sha256: str | None = None
    inside: str | None = None


Locate: TypeAlias = Callable[[RemoteFile], Path]


class NoOptions(Settings):
    """The options of a data set that has none."""


@dataclass(frozen=True)
class DatasetEntry:
    """A data set by name."""

    name: str
    """Its name in the table."""
    summary: str
    """One line on what it is."""
    citation: str
    """Where it comes from."""
    load: Callable[[Any, Locate], Graph]
    """(options, locate) -> Graph, as the source has it, before standardisation."""
    files: tuple[RemoteFile, ...] = ()
    """The files that it needs."""
    licence: str | None = None
    """The licence of the data, None where none is stated."""
    options: type[BaseModel] = NoOptions
    """The settings of the loader."""
    stand_in: str | None = None
    """The data set that this one stands in for, None where it is itself."""
    counts: tuple[int, int] | None = None
    """(nodes, directed adjacency entries) after standardisation, where the paper states them."""
    budget: int = 60
    """The default number of replayed nodes per class."""
    derived: str | None = None
    """How features are derived by default, for a source that never has any (`spectral:64`)."""
    local: bool = False
    """Whether its files have no upstream address and must be put into a data folder."""
