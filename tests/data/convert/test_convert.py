"""Converting tables: the same graph as reading them, however little is in memory, and the same complaints."""

import csv
import gzip
import tempfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evergraph.data.convert import Plan, convert_tables
from evergraph.data.datasets.files import FileOptions, read_graph
from evergraph.data.graph import Graph
from evergraph.data.graph_folder import check_folder, read_folder
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.tables import Duplicates, read_batch
from evergraph.tables.reading import CHUNK

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
        dense = wanted.features if isinstance(wanted.features, np.ndarray) else wanted.features.toarray()
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
    plan=st.builds(Plan, st.just(0), st.integers(1, 40), st.integers(1, 9), st.integers(1, 9), st.integers(1, 30)),
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


# examples


def both(folder: Path, nodes: str, edges: str, **options: Any) -> tuple[Path, Path, FileOptions]:
    (folder / "nodes.csv").write_text(nodes, encoding="utf-8")
    (folder / "edges.csv").write_text(edges, encoding="utf-8")
    return folder / "edges.csv", folder / "nodes.csv", FileOptions(**options)


NODES = "id,label,height,plan\na,cat,1,gold\nb,dog,3,tin\nc,cat,5,gold\n"


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        (NODES, "source,target\na,b\nb,nobody\nc,nowhere\n"),
        ("id,label\n1,0\n2,1\n", "source,target\n1,2\n1,x\n"),
        ("id,label\n1,0\n2,1\n", "source,target\n1,2\n\n1,3\n"),
        (NODES, "source,target\na,b\n,c\n"),
        (NODES, "source,target\na,b\nb,c\na,b\nb,c\n"),
        (NODES, "source,target,weight\na,b,1\nb,c,-2\n"),
        (NODES, "source,target,weight\na,b,1\nb,c,heavy\n"),
        (NODES, "source,target,weight\na,b,3e38\na,b,1\n"),
        (NODES, "from,to\na,b\n"),
        (NODES, "source,target\n"),
        (NODES, "source,target\na,b,c\n"),
        (NODES.replace("b,dog", "a,dog"), "source,target\na,b\n"),
        ("id,label\n5,0\n7,1\n5,1\n7,1\n", "source,target\n5,7\n"),
        (NODES.replace("b,dog", ",dog"), "source,target\na,c\n"),
        (NODES.replace("dog", ""), "source,target\na,b\n"),
        (NODES.replace("dog", "-1"), "source,target\na,b\n"),
        ("id,label\na,1.5\nb,2\n", "source,target\na,b\n"),
        (NODES.replace(",3,", ",1e39,"), "source,target\na,b\n"),
        (NODES.replace("label", "topic"), "source,target\na,b\n"),
        (NODES.replace("id,", "key,"), "source,target\na,b\n"),
        ("id,label,time\na,x,1\nb,y,\n", "source,target\na,b\n"),
        ("id,label,time\na,x,2024-05-31\nb,y,2024-99-99\n", "source,target\na,b\n"),
        ("id,label\n", "source,target\na,b\n"),
        ("", "source,target\na,b\n"),
    ],
)
@pytest.mark.parametrize("plan", [AMPLE, TINY], ids=["ample", "tiny"])
def test_complaints_name_the_same_place(tmp_path: Path, nodes: str, edges: str, plan: Plan) -> None:
    given_edges, given_nodes, options = both(tmp_path, nodes, edges)
    with pytest.raises(DataError) as wanted:
        read_graph(given_edges, options)
    with pytest.raises(DataError) as raised:
        convert_tables(given_edges, given_nodes, tmp_path / "graph", options, plan)
    assert str(raised.value) == str(wanted.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["edges.csv", "nodes.csv"]


def test_a_sum_of_weights_that_is_too_large_is_refused(tmp_path: Path) -> None:
    edges, nodes, options = both(
        tmp_path, NODES, "source,target,weight\na,b,3e38\na,b,3e38\n", duplicates=Duplicates.MERGE
    )
    with pytest.raises(DataError, match="every sum of edge weights must fit 32 bits"):
        convert_tables(edges, nodes, tmp_path / "graph", options, TINY)


@pytest.mark.parametrize("plan", [AMPLE, TINY], ids=["ample", "tiny"])
@pytest.mark.parametrize("suffix", [".csv.gz", ".tsv", ".parquet"])
def test_every_kind_of_table(tmp_path: Path, suffix: str, plan: Plan) -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    n = 40
    nodes = pd.DataFrame(
        {
            "id": rng.permutation(1000)[:n],
            "label": rng.choice(["cat", "dog"], n),
            "size": np.exp(3 * rng.standard_normal(n)),
            "count": pd.array([None if row == 7 else row * row for row in range(n)], dtype="Int64"),
            "flag": rng.random(n) < 0.5,
            "when": pd.Timestamp("2024-05-31") + pd.to_timedelta(rng.integers(0, 99, n), unit="D"),
            "plan": pd.Categorical(rng.choice(["gold", "tin", "steel"], n)),
            "note": [None if row % 3 else f"note {row}" for row in range(n)],
            "time": rng.integers(0, 2**60, n),
        }
    )
    ends = nodes["id"].to_numpy()[rng.integers(0, n, (60, 2))]
    edges = pd.DataFrame({"source": ends[:, 0], "target": ends[:, 1], "weight": rng.integers(0, 4, 60)})
    for name, frame in (("nodes", nodes), ("edges", edges)):
        path = tmp_path / f"{name}{suffix}"
        if suffix == ".parquet":
            frame.to_parquet(path, row_group_size=17)
        else:
            frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    options = FileOptions(duplicates=Duplicates.MERGE, categories=("count",) if suffix == ".parquet" else ())
    paths = tmp_path / f"edges{suffix}", tmp_path / f"nodes{suffix}"
    convert_tables(*paths, tmp_path / "graph", options, plan)
    assert_same(check_folder(tmp_path / "graph"), read_graph(paths[0], options))


def test_a_symmetric_list_has_no_direction(tmp_path: Path) -> None:
    for at, (edges, directed) in enumerate(
        [("a,b,2\nb,a,2\nc,c,1\n", False), ("a,b,2\nb,a,3\n", True), ("a,b,0\n", False), ("a,b,1\nb,c,1\n", True)]
    ):
        given_edges, nodes, options = both(tmp_path, NODES, "source,target,weight\n" + edges)
        made = convert_tables(given_edges, nodes, tmp_path / f"graph{at}", options, TINY)
        assert made.directed == directed == read_graph(given_edges, options).directed


def test_half_the_bits(tmp_path: Path) -> None:
    edges, nodes, options = both(tmp_path, NODES, "source,target\na,b\n")
    convert_tables(edges, nodes, tmp_path / "graph", options, TINY, float16=True)
    graph, wanted = read_folder(tmp_path / "graph"), read_graph(edges, options)
    assert np.load(tmp_path / "graph" / "features.npy").dtype == np.float16
    assert isinstance(graph.features, np.ndarray)
    assert graph.features.dtype == np.float32
    np.testing.assert_allclose(graph.features, np.asarray(wanted.features), rtol=2**-10)
    assert graph.remarks[-1] == "features are kept in 16 bits"
    edges, nodes, options = both(tmp_path, NODES.replace(",3,", ",1e9,"), "source,target\na,b\n", scale=False)
    with pytest.raises(DataError, match=r"at most 65,504 in 16 bits, got 1e\+09 instead; leave out --float16"):
        convert_tables(edges, nodes, tmp_path / "large", options, TINY, float16=True)


def test_nothing_that_is_there_is_replaced(tmp_path: Path) -> None:
    edges, nodes, options = both(tmp_path, NODES, "source,target\na,b\n")
    (tmp_path / "graph").mkdir()
    convert_tables(edges, nodes, tmp_path / "graph", options, TINY)  # an empty folder is as good as none
    for out in (tmp_path / "graph", nodes):
        with pytest.raises(StoreError, match="must be a new folder, got one that is there instead"):
            convert_tables(edges, nodes, out, options, TINY)
    assert_same(check_folder(tmp_path / "graph"), read_graph(edges, options))


def test_many_different_words_are_counted_up_to_a_limit(tmp_path: Path) -> None:
    lines = [f"{row},{'ab'[row % 2]},word {row}" for row in range(40)]
    edges, nodes, options = both(tmp_path, "\n".join(["id,label,text", *lines]), "source,target\n1,2\n")
    with patch("evergraph.tables.scan.MOST_WORDS", 30):
        made = convert_tables(edges, nodes, tmp_path / "graph", options, TINY)
    assert "text (text with more than 10,000 different values)" in made.remarks[0]
    options = FileOptions(categories=("text",))
    with (
        patch("evergraph.tables.scan.MOST_WORDS", 30),
        pytest.raises(DataError, match="must have at most 10,000 different values as categories"),
    ):
        convert_tables(edges, nodes, tmp_path / "other", options, TINY)


def test_an_id_is_not_too_long(tmp_path: Path) -> None:
    edges, nodes, options = both(tmp_path, NODES.replace("b,dog", "b" * 1001 + ",dog"), "source,target\na,c\n")
    with pytest.raises(
        DataError, match=r"nodes.csv line 3, column 'id', must be an id of at most 1,000 characters"
    ):
        convert_tables(edges, nodes, tmp_path / "graph", options, TINY)


def test_two_ids_of_one_key_are_told_apart(tmp_path: Path) -> None:
    from evergraph.data.convert import ids

    def coarse(content: bytes, *, digest_size: int, salt: bytes) -> Any:
        """Like the real one, but the first salt gives all ids the same key."""
        return blake2b(b"" if salt == bytes(8) else content, digest_size=digest_size, salt=salt)

    edges, nodes, options = both(tmp_path, NODES, "source,target\na,b\nb,c\n")
    with patch.object(ids, "blake2b", coarse):
        convert_tables(edges, nodes, tmp_path / "graph", options, TINY)
    assert_same(check_folder(tmp_path / "graph"), read_graph(edges, options))


def test_options_without_effect_are_refused(tmp_path: Path) -> None:
    edges, nodes, _ = both(tmp_path, NODES, "source,target\na,b\n")
    with pytest.raises(ConfigError, match="the node table is given by itself"):
        convert_tables(edges, nodes, tmp_path / "graph", FileOptions(nodes=nodes), TINY)


# typed columns

TYPED: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "int64": ("int64", st.integers(-3, 3)),
    "uint8": ("uint8", st.integers(0, 1)),
    "double": ("float64", st.one_of(st.floats(-1e6, 1e6), st.just(float("nan")))),
    "float": ("float32", st.sampled_from([0.5, 1e30, -2.0])),
    "bool": ("bool_", st.booleans()),
    "words": ("string", st.sampled_from(["gold", "tin", "", "NA", "1", "2.0"])),
    "numbers as words": ("string", st.sampled_from(["1", "2.5", "NA", "-3"])),
    "flags as words": ("string", st.sampled_from(["true", "False"])),
    "dates": ("date32", st.dates()),
    "null": ("null", st.none()),
}


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), plan=st.builds(Plan, st.just(0), st.integers(1, 40), *[st.integers(1, 9)] * 3))
def test_the_same_graph_from_typed_columns(data: st.DataObject, plan: Plan) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    n = data.draw(st.integers(1, 14))
    spellings: list[Callable[[int], Any]] = [lambda row: 7 * row - 20, lambda row: f"n{row}", float]
    ids = data.draw(st.sampled_from(spellings))
    labels: list[list[Any]] = [["cat", "dog"], [0, 2], [1.0, 3.0], ["cat", None], [-1, 2], [True, False]]
    label = data.draw(st.sampled_from(labels))
    columns = {"id": arrow.array([ids(row) for row in range(n)])}
    columns["label"] = arrow.array(data.draw(st.lists(st.sampled_from(label), min_size=n, max_size=n)))
    categories = []
    for at in range(data.draw(st.integers(0, 3))):
        kind, values = TYPED[data.draw(st.sampled_from(sorted(TYPED)))]
        values = st.one_of(values, st.none()) if data.draw(st.booleans()) else values
        made = arrow.array(data.draw(st.lists(values, min_size=n, max_size=n)), getattr(arrow, kind)())
        columns[f"column {at}"] = (
            made.dictionary_encode() if data.draw(st.booleans()) and kind in ("string", "int64", "int8") else made
        )
        if data.draw(st.booleans()):
            categories.append(f"column {at}")
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), min_size=1, max_size=9, unique=True))
    edges = {"source": [ids(a) for a, _ in pairs], "target": [ids(b) for _, b in pairs]}
    options = FileOptions(categories=tuple(categories))
    with tempfile.TemporaryDirectory() as name:
        paths = Path(name) / "edges.parquet", Path(name) / "nodes.parquet"
        parquet.write_table(arrow.table(edges), paths[0])
        parquet.write_table(arrow.table(columns), paths[1], row_group_size=data.draw(st.integers(1, 20)))
        wanted = graph_or_complaint(paths[0], options, CHUNK)
        if isinstance(wanted, str):
            with pytest.raises(DataError) as raised:
                convert_tables(*paths, Path(name) / "graph", options, plan)
            assert str(raised.value) == wanted
            return
        convert_tables(*paths, Path(name) / "graph", options, plan)
        assert_same(check_folder(Path(name) / "graph"), wanted)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    ("weights", "told"), [([0, 2, 0], "2 edges of weight 0 are"), ([1, 0, 3], "1 edge of weight 0 is")]
)
def test_edges_of_weight_zero_are_told(tmp_path: Path, weights: list[int], told: str, directed: bool) -> None:
    nodes = write_csv(tmp_path / "nodes.csv", {"id": [1, 2, 3], "label": ["a", "b", "a"], "x": [1, 2, 3]})
    edges = write_csv(tmp_path / "edges.csv", {"source": [1, 2, 3], "target": [2, 3, 1], "weight": weights})
    convert_tables(edges, nodes, tmp_path / "graph", FileOptions(directed=directed), AMPLE)
    for graph in (read_folder(tmp_path / "graph"), read_graph(edges, FileOptions(directed=directed))):
        assert f"edges.csv: {told} left out" in graph.remarks
    batch = read_batch(nodes, edges, weight_column="weight", directed=directed)
    assert any(f"{told} left out" in remark for remark in batch.remarks)
    assert graph.adjacency.data.all()
    assert batch.adjacency.data.all()
