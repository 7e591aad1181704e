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
    """A data set by name.

    load: (options, locate) -> Graph, as the source has it, before standardisation.
    stand_in: the data set that this one stands in for, None where it is itself.
    counts: (nodes, directed adjacency entries) after standardisation, where the paper states them.
    budget: the default number of replayed nodes per class.
    derived: how features are derived by default, for a source that never has any (`spectral:64`).
    local: whether its files have no upstream address and must be put into a data folder.
    """

    name: str
    summary: str
    citation: str
    load: Callable[[Any, Locate], Graph]
    files: tuple[RemoteFile, ...] = ()
    licence: str | None = None
    options: type[BaseModel] = NoOptions
    stand_in: str | None = None
    counts: tuple[int, int] | None = None
    budget: int = 60
    derived: str | None = None
    local: bool = False
