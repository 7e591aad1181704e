"""The small model in a folder, and a client of the application that serves it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fastapi.testclient import TestClient


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from .serving import learned

    path: Path = tmp_path_factory.mktemp("served") / "shop"
    learned().save(path)
    return path


@pytest.fixture(scope="session")
def client(folder: Path) -> "Iterator[TestClient]":
    from .serving import client_of

    with client_of(folder) as made:
        yield made
