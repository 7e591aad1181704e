"""Converting tables: the same graph as reading them, however little is in memory, and the same complaints."""

import csv
import gzip
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from evergraph.data.convert import Plan, convert_tables
from evergraph.data.datasets.files import FileOptions, read_graph
from evergraph.data.graph import Graph
from evergraph.data.graph_folder import check_folder, read_folder
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.tables import Duplicates

AMPLE = Plan.of(10**9)
TINY = Plan(memory=0, table_cells=15, sort=5, lookup=3, write=7)


def assert_same(found: Graph, wanted: Graph) -> None:
    """Equal in everything but the name and the way features are stored."""
    assert found.adjacency.shape == wanted.adjacency.shape
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found.adjacency, part), getattr(wanted.adjacency, part))
        assert getattr(found.adjacency, part).dtype == getattr(wanted.adjacency, part).dtype
    assert (found.features is None) == (wanted.features is None)
    if wanted.features is not None:
        dense = wanted.features.toarray() if sparse.issparse(wanted.features) else wanted.features
        np.testing.assert_array_equal(found.features, dense)
    np.testing.assert_array_equal(found.labels, wanted.labels)
    assert (found.times is None) == (wanted.times is None)
    if wanted.times is not None:
        np.testing.assert_array_equal(found.times, wanted.times)
        assert found.times is not None
        assert found.times.dtype == wanted.times.dtype
    assert wanted.node_names is not None
    np.testing.assert_array_equal(found.node_names, wanted.node_names)
    for part in ("directed", "class_names", "feature_names", "remarks"):
        assert getattr(found, part) == getattr(wanted, part)


def write_csv(path: Path, columns: dict[str, list[Any]]) -> Path:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


# the same graph for random tables

NUMBERS = st.one_of(
    st.integers(-5, 5).map(str),
    st.floats(-1e6, 1e6, allow_nan=False).map(repr),
    st.sampled_from(["1e12", "-0.0", "0.10", "+3", ".5", "7."]),
)
WORDS = st.sampled_from(["gold", "basic", "tin", "", "NA", "true", "1,5", "007", "2024-05-31"])
KINDS: list[st.SearchStrategy[str]] = [
    NUMBERS,
    st.one_of(NUMBERS, st.sampled_from(["", "NA", "nan"])),
    st.sampled_from(["0", "1"]),
    st.sampled_from(["true", "False", ""]),
    st.sampled_from(["gold", "basic", "tin"]),
    st.sampled_from(["gold", "basic", "", "7", "1.0"]),
    st.sampled_from(["2024-05-31", "2023-01-01", ""]),
    st.sampled_from(["1,5", "2", "3,25"]),
    st.just("same"),
    st.just(""),
    st.one_of(WORDS, NUMBERS),
    st.sampled_from(["1e39", "inf", "2"]),
]
IDS: dict[str, Any] = {
    "numbers": lambda row: str(7 * row - 20),
    "text": lambda row: f"n{row}",
    "floated": lambda row: f"{row}.0",
    "some floated": lambda row: f"{row}.0" if row % 2 else f"x{row}",
    "mixed": lambda row: str(row) if row < 4 else f"n{row}",
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    n = draw(st.integers(1, 14))
    name = IDS[draw(st.sampled_from(sorted(IDS)))]
    labels = draw(st.sampled_from([["cat", "dog", "é"], ["0", "2", "2.0"], ["3", "a"], ["cat", ""], ["1", "NA"]]))
    nodes = {"id": [name(row) for row in range(n)]}
    nodes["label"] = draw(st.lists(st.sampled_from(labels), min_size=n, max_size=n))
    times = draw(st.sampled_from([None, ["3", "4.5"], ["2024-05-31", "2024-01-01"], ["9007199254740993", "5"]]))
    if times is not None:
        nodes["time"] = draw(st.lists(st.sampled_from(times), min_size=n, max_size=n))
    for at in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(KINDS))
        nodes[f"column {at}"] = draw(st.lists(kind, min_size=n, max_size=n))
    if draw(st.booleans()):
        nodes["again"] = [str(row) for row in range(n)]
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=25))
    spelled = [draw(st.sampled_from([name, lambda row: name(row).removesuffix(".0")])) for _ in range(2)]
    edges = {"source": [spelled[0](a) for a, _ in pairs], "target": [spelled[1](b) for _, b in pairs]}
    if draw(st.booleans()):
        edges["weight"] = [str(draw(st.sampled_from([0, 0.5, 1, 2, 3.25]))) for _ in pairs]
    return nodes, edges


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tables=tables(),
    directed=st.booleans(),
    duplicates=st.sampled_from(Duplicates),
    scale=st.booleans(),
    plan=st.builds(
        Plan, st.just(0), st.integers(1, 40), st.integers(1, 9), st.integers(1, 9), st.integers(1, 30)
    ),
)
def test_the_same_graph_or_the_same_complaint(
    tables: tuple[dict[str, list[str]], dict[str, list[str]]],
    directed: bool,
    duplicates: Duplicates,
    scale: bool,
    plan: Plan,
) -> None:
    options = FileOptions(directed=directed, duplicates=duplicates, scale=scale)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nodes, edges = write_csv(folder / "nodes.csv", tables[0]), write_csv(folder / "edges.csv", tables[1])
        rows = plan.table_rows(len(tables[0]))
        wanted = graph_or_complaint(edges, options, rows)
        out = folder / "graph"
        if isinstance(wanted, Graph):
            convert_tables(edges, nodes, out, options, plan)
            assert_same(check_folder(out), wanted)
            return
        with pytest.raises(DataError) as raised:
            convert_tables(edges, nodes, out, options, plan)
        assert sorted(path.name for path in folder.iterdir()) == ["edges.csv", "nodes.csv"]
        first = {end: [tables[0]["id"][0]] for end in ("source", "target")}
        of_nodes = graph_or_complaint(write_csv(folder / "edges.csv", first), options, rows)
        assert str(raised.value) in (wanted, of_nodes)  # nodes are complained about before edges


def graph_or_complaint(edges: Path, options: FileOptions, rows: int) -> Graph | str:
    """What reading tables leads to, so many rows at a time."""
    try:
        with patch("evergraph.tables.reading.CHUNK", rows):
            return read_graph(edges, options)
    except DataError as error:
        return str(error)
