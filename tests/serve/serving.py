"""A small model of two classes with all kinds of columns, and the application that serves it; skips without it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the tests of the server need fastapi")
pytest.importorskip("uvicorn", reason="the tests of the server need uvicorn")
pytest.importorskip("httpx2", reason="the tests of the server need httpx2")

import httpx2
from fastapi.testclient import TestClient

from evergraph.estimator.classifier import ContinualClassifier
from evergraph.serve import app as app_module
from evergraph.serve.app import make_app
from evergraph.serve.connection import HastyProtocol
from evergraph.serve.limits import Limits
from evergraph.serve.served import Served
from evergraph.tables import Table, batch_from_tables

__all__ = [
    "EVIL",
    "TestClient",
    "app_module",
    "client_of",
    "httpx2",
    "learned",
    "make_app",
    "request",
    "running",
    "tables",
]
EVIL = "<script>document.title='taken'</script>"
COLOURS = ("blue", "green", "red")


def tables(n_nodes: int = 60, seed: int = 0, classes: tuple[str, str] = ("plant", EVIL)) -> tuple[Table, Table]:
    """Nodes whose class shows in all their columns, edges mostly inside classes."""
    draw = np.random.default_rng(seed)
    kind = np.arange(n_nodes) % 2
    colours = np.array(COLOURS)[np.where(draw.random(n_nodes) < 0.8, kind, 2)]
    columns: dict[str, Any] = {
        "id": np.array([f"s{seed}-{row}" for row in range(n_nodes)], dtype=object),
        "size": kind * 4 + draw.normal(size=n_nodes),
        "revenue": np.exp(kind * 3 + 2 * draw.normal(size=n_nodes) + 10),
        "colour": colours.astype(object),
        "old": (draw.random(n_nodes) < 0.3 + 0.4 * kind),
        "year": 2000 + np.arange(n_nodes) % 7,
        "topic": np.array(classes, dtype=object)[kind],
    }
    ends = (
        draw.integers(n_nodes // 2, size=(n_nodes * 2, 2)) * 2 + kind[draw.integers(n_nodes, size=(n_nodes * 2, 1))]
    )
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    edges = {"source": columns["id"][ends[:, 0]], "target": columns["id"][ends[:, 1]]}
    return Table("nodes.csv", columns), Table("edges.csv", edges)


def learned(seed: int = 0, model: ContinualClassifier | None = None, **options: Any) -> ContinualClassifier:
    nodes, edges = tables(seed=seed, **options)
    batch = batch_from_tables(nodes, edges, label_column="topic", time_column="year")
    settings = {"method": {"width": 64}}
    return (model or ContinualClassifier("analytic", holdout=0.2, settings=settings)).partial_fit(batch)


def request(n_nodes: int = 12, seed: int = 1) -> dict[str, Any]:
    """A question that can be answered."""
    nodes, edges = tables(n_nodes, seed)
    names = ("id", "size", "revenue", "colour", "old")
    rows = zip(*(nodes.columns[name].tolist() for name in names), strict=True)
    ends = zip(*(column.tolist() for column in edges.columns.values()), strict=True)
    return {"nodes": [dict(zip(names, row, strict=True)) for row in rows], "edges": [list(pair) for pair in ends]}


def client_of(folder: Path, **limits: Any) -> TestClient:
    app = make_app(Served(folder), Limits(**limits))
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


@contextmanager
def running(folder: Path, **limits: Any) -> Iterator[str]:
    """The address of a real server in a thread."""
    import uvicorn

    app = make_app(Served(folder), Limits(**limits))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="none", http=HastyProtocol))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
