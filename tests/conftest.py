"""What every test gets: no data, cache or network of the user, one thread, and the small data sets ready made."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import settings

from evergraph.data.datasets import load_dataset
from evergraph.data.graph import Graph
from evergraph.data.stream import StreamConfig, TaskStream, make_stream

collect_ignore = ["plugin_package"]
"""A package of its own, whose tests run where it is installed (runs/test_plugins.py)."""

settings.register_profile("evergraph", deadline=None)
settings.load_profile("evergraph")

# Started in the background, the suite and all processes that it starts would ignore what some tests send them.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Nobody who uses the package shall see this remark of torch."""
    config.addinivalue_line("filterwarnings", "error:Sparse CSR tensor support is in beta:UserWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs the real graphs where they are not."""
    folder = os.environ.get("EVERGRAPH_DATA")
    if folder and Path(folder).is_dir():
        return
    reason = (
        f"EVERGRAPH_DATA names {folder}, which is no folder"
        if folder
        else "EVERGRAPH_DATA is not set; it names the folder with the real graphs"
    )
    for item in items:
        if item.get_closest_marker("real_data"):
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Any worker takes any test, but one takes all that share a Ray cluster; --dist loadgroup fails at that."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.partition("::")[0]
            return path if path.endswith("test_ray.py") else nodeid

    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def _own_surroundings(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("EVERGRAPH_CACHE", str(tmp_path_factory.getbasetemp() / "no-cache"))
    if "real_data" not in request.keywords:
        monkeypatch.delenv("EVERGRAPH_DATA", raising=False)
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def digits() -> Graph:
    return load_dataset("digits")


@pytest.fixture(scope="session")
def digits_stream(digits: Graph) -> TaskStream:
    """The digits as five tasks, with every default."""
    return make_stream(digits, StreamConfig(), split_seed=0, order_seed=0)
