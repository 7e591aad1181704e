"""A graph folder, a server that offers it, and a cache of its own for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from served import Server, make_graph_folder, served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_graph_folder(tmp_path / "upstream")


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    """It offers the graph at /graph."""
    with served(folder.parent) as made:
        yield made


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of a test."""
    monkeypatch.setenv("EVERGRAPH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
