"""No test of this folder sees the user's own data, cache or network."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_folders(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVERGRAPH_CACHE", str(tmp_path / "cache"))
    if "real_data" not in request.keywords:
        monkeypatch.delenv("EVERGRAPH_DATA", raising=False)
