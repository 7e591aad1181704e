"""Own graphs as files: what is read, and what every malformed file is answered with."""

import gzip
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.data.datasets import load_dataset
from evergraph.data.datasets.files import FileOptions, read_graph
from evergraph.data.graph import Graph
from evergraph.data.standardise import Standardisation
from evergraph.errors import ConfigError, DataError

AS_IT_IS = Standardisation(undirected=False, unweighted=False, no_self_loops=False, largest_component=False)
EDGES = "source,target\na,b\nb,c\nc,a\n"
NODES = "id,label,height,width\na,cat,1,2\nb,dog,3,4\nc,cat,5,6.5\n"


def tables(folder: Path, edges: str = EDGES, nodes: str = NODES) -> Path:
    (folder / "edges.csv").write_text(edges, encoding="utf-8")
    (folder / "nodes.csv").write_text(nodes, encoding="utf-8")
    return folder / "edges.csv"


def test_names_become_rows_and_classes(tmp_path: Path) -> None:
    graph = read_graph(tables(tmp_path), FileOptions())
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert graph.labels.tolist() == [0, 1, 0]
    assert graph.class_names == ("cat", "dog")
    assert graph.feature_names == ("height", "width")
    given = np.array([[1, 2], [3, 4], [5, 6.5]])
    scaled = (given - given.mean(axis=0)) / given.std(axis=0)
    np.testing.assert_allclose(np.asarray(graph.features), scaled, rtol=1e-6)
    assert graph.directed
    as_given = read_graph(tables(tmp_path), FileOptions(scale=False))
    assert np.asarray(as_given.features).tolist() == given.tolist()


def test_whole_numbers_stay_labels_and_weights_are_read(tmp_path: Path) -> None:
    path = tables(tmp_path, "\ufeffsource, target, weight\n10,7,0.5\n\n7,10,2\n", "id,label\n7,4\n10,2.0\n")
    graph = read_graph(path, FileOptions())
    assert graph.labels.tolist() == [4, 2]
    assert graph.class_names is None
    assert graph.adjacency.toarray().tolist() == [[0, 2], [0.5, 0]]
    assert graph.features is None
    assert graph.remarks == ("nodes.csv holds no node features",)


def test_undirected_edges_go_both_ways(tmp_path: Path) -> None:
    path = tables(tmp_path, "source,target,weight\na,b,3\nc,c,2\n")
    graph = read_graph(path, FileOptions(directed=False))
    assert graph.adjacency.toarray().tolist() == [[0, 3, 0], [3, 0, 0], [0, 0, 2]]
    with pytest.raises(DataError, match=r"edges.csv line 3 again"):
        read_graph(tables(tmp_path, "source,target\na,b\nb,a\n"), FileOptions(directed=False))


def test_duplicates_are_merged_on_request(tmp_path: Path) -> None:
    path = tables(tmp_path, "source,target\na,b\nb,c\na,b\n")
    with pytest.raises(DataError, match=r"edges.csv line 4 again instead \(1 repeated edges\)"):
        load_dataset(str(path))
    graph = load_dataset(str(path), options={"duplicates": "merge"})
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_the_node_table_is_found_beside_or_by_option(tmp_path: Path) -> None:
    path = tables(tmp_path).rename(tmp_path / "my-edges.csv")
    with pytest.raises(DataError, match=r"needs its node table my-nodes.csv in the same folder \(or as .csv.gz"):
        read_graph(path, FileOptions())
    assert read_graph(path, FileOptions(nodes=tmp_path / "nodes.csv")).n_nodes == 3
    (tmp_path / "nodes.csv").rename(tmp_path / "my-nodes.csv")
    assert read_graph(path, FileOptions()).n_nodes == 3


@pytest.mark.parametrize(
    ("edges", "nodes", "words"),
    [
        ("", NODES, "edges.csv must start with a line of column names, got an empty file"),
        (
            "source,target\n",
            NODES,
            "edges.csv must have at least one row, got none instead; add a row for each edge",
        ),
        (EDGES, "id,label\n", "nodes.csv must have at least one row, got none instead; add a row for each node"),
        ("from,to\na,b\n", NODES, "edges.csv must have a column 'source', got the columns 'from', 'to'"),
        ("source,source\na,b\n", NODES, "must name every column once"),
        ("source,target\na,z\n", NODES, "edges.csv line 2 must have a target from nodes.csv, got 'z'"),
        ("source,target\na,b\na\n", NODES, "edges.csv line 3 must have 2 values, got 1"),
        ("source,target\n,b\n", NODES, "edges.csv line 2 must have a source, got ''"),
        (
            "source,target,weight\na,b,heavy\n",
            NODES,
            "line 2, column 'weight', must be a finite number, got 'heavy'",
        ),
        ("source,target,weight\na,b,-1\n", NODES, "finite and not negative"),
        ('source,target\n"a,b\n', NODES, "must be a CSV file"),
        (EDGES, "id,height\na,1\n", "nodes.csv must have a column 'label'"),
        (EDGES, "name,label\na,1\n", "nodes.csv must have a column 'id'"),
        (EDGES, NODES + "a,cat,1,1\n", "nodes.csv line 5 must have an id of its own, got 'a' of nodes.csv line 2"),
        (EDGES, "id,label\na,1\nb,\nc,1\n", "nodes.csv line 3 must have a label, got ''"),
        (
            EDGES,
            "id,label\na,1\nb,-1\nc,1\n",
            "nodes.csv line 3, column 'label', must be a name .* got -1",
        ),
        (
            EDGES,
            "id,label\na,1\nb,0.5\nc,1\n",
            "nodes.csv line 3, column 'label', must be a name .* got '0.5'",
        ),
        (
            EDGES,
            "id,label\na,1\nb,inf\nc,1\n",
            "nodes.csv line 3, column 'label', must be a name .* got 'inf'",
        ),
        (EDGES, "id,label,x\na,1,1\nb,1,-inf\nc,1,1\n", "line 3, column 'x', must be a finite number, got -inf"),
        (
            EDGES,
            "id,label,x\na,1,1\nb,1,tall\nc,1,1\n",
            "line 3, column 'x', must be a finite number .* got 'tall",
        ),
        (
            EDGES,
            "id,label,x\na,1,1\nb,1,1e99\nc,1,1\n",
            "line 3, column 'x', must be a finite number, got 1e\\+99 instead; 3.4e38 is the largest",
        ),
    ],
)
def test_malformed_tables_are_one_sentence(tmp_path: Path, edges: str, nodes: str, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read_graph(tables(tmp_path, edges, nodes), FileOptions())
    assert "got" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"must end in .npz, .csv, .csv.gz, .* got .*graph.txt"):
        load_dataset(str(tmp_path / "graph.txt"))
    with pytest.raises(DataError, match="got no such file instead"):
        load_dataset(str(tmp_path / "graph.npz"))
    (tmp_path / "nodes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"nodes.csv must be a CSV file in UTF-8"):
        load_dataset(str(tmp_path / "nodes.csv"))


def archive(folder: Path, **arrays: Any) -> Path:
    np.savez(folder / "mine.npz", **arrays)
    return folder / "mine.npz"


def test_edge_index_archives_are_read(tmp_path: Path) -> None:
    path = archive(tmp_path, edge_index=[[0, 1], [1, 2]], x=np.eye(3), y=[[0], [1], [1]])
    graph = read_graph(path, FileOptions(directed=False))
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.labels.tolist() == [0, 1, 1]
    assert np.array_equal(np.asarray(graph.features), np.eye(3))


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"edge_index": [[0, 1], [1, 2]]}, "none called 'y'"),
        ({"edge_index": [[0, 1]], "y": [0, 1]}, "edge_index must be two rows of whole numbers"),
        ({"edge_index": [[0.5], [1]], "y": [0, 1]}, "edge_index must be two rows of whole numbers"),
        ({"edge_index": [[0], [2]], "y": [0, 1]}, "every edge target must be a node index from 0 to 1, got 2"),
        ({"edge_index": [[0, 0], [1, 1]], "y": [0, 1]}, "got edge 1 again"),
        ({"edge_index": [[0], [1]], "y": [[0, 1]]}, "y must hold one label per node"),
        ({"edge_index": [[0], [1]], "y": [0, 1], "x": [[1.0]]}, "one row for each of the 2 nodes"),
        ({"something": [1]}, "none called 'adj_data'"),
    ],
)
def test_malformed_edge_index_archives_are_one_sentence(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read_graph(archive(tmp_path, **arrays), FileOptions())
    assert str(caught.value).startswith("mine.npz")


@pytest.mark.parametrize(
    "options", [{"nodes": "nodes.csv"}, {"directed": False}, {"duplicates": "merge"}, {"duplicates": "drop"}]
)
def test_options_that_do_not_fit_a_matrix_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        load_dataset(str(archive(tmp_path, adj_data=[1])), options=options)


def test_parquet_gives_the_same_graph_as_csv(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    wanted = read_graph(tables(tmp_path), FileOptions())
    parquet.write_table(
        arrow.table({"source": ["a", "b", "c"], "target": ["b", "c", "a"]}), tmp_path / "edges.parquet"
    )
    columns = {"id": ["a", "b", "c"], "label": ["cat", "dog", "cat"], "height": [1, 3, 5], "width": [2, 4, 6.5]}
    parquet.write_table(arrow.table(columns), tmp_path / "nodes.parquet")
    graph = read_graph(tmp_path / "edges.parquet", FileOptions())
    assert (graph.adjacency != wanted.adjacency).nnz == 0
    assert np.array_equal(np.asarray(graph.features), np.asarray(wanted.features))
    assert graph.class_names == wanted.class_names
    columns["height"] = [1, None, 5]
    parquet.write_table(arrow.table(columns), tmp_path / "nodes.parquet")
    graph = read_graph(tmp_path / "edges.parquet", FileOptions())
    assert graph.feature_names == ("height", "height (missing)", "width")
    columns["height"] = [1, float("inf"), 5]
    parquet.write_table(arrow.table(columns), tmp_path / "nodes.parquet")
    with pytest.raises(DataError, match=r"nodes.parquet row 2, column 'height', must be a finite number, got inf"):
        read_graph(tmp_path / "edges.parquet", FileOptions())
    (tmp_path / "nodes.parquet").write_bytes(b"not parquet")
    with pytest.raises(DataError, match=r"nodes.parquet must be a Parquet file"):
        read_graph(tmp_path / "edges.parquet", FileOptions())


def test_parquet_without_pyarrow_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "edges.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"pip install 'evergraph\[parquet\]'"):
        read_graph(tmp_path / "edges.parquet", FileOptions())


# times


def test_a_column_of_times_is_no_feature(tmp_path: Path) -> None:
    path = tables(tmp_path, nodes="id,label,time,height\na,cat,20240101.5,1\nb,dog,3,3\nc,cat,-5,5\n")
    graph = read_graph(path, FileOptions())
    assert graph.times is not None
    assert graph.times.tolist() == [20240101.5, 3, -5]
    assert graph.feature_names == ("height",)
    assert read_graph(tables(tmp_path), FileOptions()).times is None


def test_times_go_with_their_nodes(tmp_path: Path) -> None:
    """Through standardisation, which drops nodes, and derived features."""
    edges = "source,target\na,b\nd,d\n"
    path = tables(tmp_path, edges, "id,label,time\nd,x,1\na,x,2\nb,x,3\n")
    graph = load_dataset(str(path), features="degree")
    assert graph.times is not None
    assert graph.times.tolist() == [2, 3]


def test_archives_may_have_times(tmp_path: Path) -> None:
    np.savez(tmp_path / "list.npz", edge_index=[[0, 1], [1, 0]], y=[0, 1], time=[2020, 2021])
    eye: dict[str, Any]
    eye = {
        "adj_data": [1.0, 1.0],
        "adj_indices": [1, 0],
        "adj_indptr": [0, 1, 2],
        "adj_shape": [2, 2],
    }
    np.savez(tmp_path / "matrix.npz", labels=[0, 1], time=[2020, 2021], **eye)
    for name in ("list", "matrix"):
        graph = read_graph(tmp_path / f"{name}.npz", FileOptions())
        assert graph.times is not None
        assert graph.times.tolist() == [2020, 2021]


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ([1.0], "one time for each of the 2 nodes, got shape \\(1,\\)"),
        ([1.0, np.nan], "every time must be a finite number, got 1 NaN"),
        (["soon", "later"], "the times must be numbers, got something else"),
    ],
)
def test_times_that_are_none_are_one_sentence(tmp_path: Path, times: list[Any], words: str) -> None:
    np.savez(tmp_path / "g.npz", edge_index=[[0, 1], [1, 0]], y=[0, 1], time=times)
    with pytest.raises(DataError, match=words) as caught:
        read_graph(tmp_path / "g.npz", FileOptions())
    assert "\n" not in str(caught.value)


def test_nanoseconds_in_a_table_are_read_exactly(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    (tmp_path / "nodes.csv").write_text("id,label,time\na,0,1700000000000000001\nb,1,1700000000000000002\n")
    graph = read_graph(tmp_path / "edges.csv", FileOptions())
    assert graph.times is not None
    assert graph.times.tolist() == [1700000000000000001, 1700000000000000002]
    assert graph.node_names is not None
    assert graph.node_names.tolist() == ["a", "b"]


# columns


def test_the_columns_that_are_used_and_left_out_are_said(tmp_path: Path) -> None:
    lines = [
        f"{k},n{k},{('dog', 'cat')[k % 2]},{k * k},{'ab'[k % 2]},2024-01-{k + 1:02},n{k}@x,{10.0**k}"
        for k in range(12)
    ]
    nodes = "Unnamed: 0,id,label,size,plan,joined,mail,revenue\n" + "\n".join(lines) + "\n"
    edges = "source,target\n" + "".join(f"n{k},n{k + 1}\n" for k in range(11))
    graph = read_graph(tables(tmp_path, edges, nodes), FileOptions())
    assert graph.feature_names == ("size", "plan=a", "plan=b", "revenue")
    assert graph.remarks == (
        "columns of nodes.csv: scaled numbers: size; categories: plan; numbers of a wide range, their scaled "
        "logarithm: revenue; left out: id (the ids), label (the labels), Unnamed: 0 (row numbers), joined (dates), "
        "mail (text with 12 different values)",
    )
    chosen = FileOptions(ignore=("revenue", "size"), categories=("mail",))
    assert len(read_graph(tmp_path / "edges.csv", chosen).feature_names or ()) == 14
    dated = read_graph(tmp_path / "edges.csv", FileOptions(time_column="joined", label_column="plan"))
    assert dated.times is not None
    assert np.diff(dated.times).tolist() == [86400] * 11
    assert dated.class_names == ("a", "b")


def test_a_wide_table_has_a_short_remark(tmp_path: Path) -> None:
    header = ",".join(f"w{k}" for k in range(300))
    rows = "".join(f"{'abc'[n]},{n},{','.join(str(int((k + n) % 3 == 0)) for k in range(300))}\n" for n in range(3))
    graph = read_graph(tables(tmp_path, nodes=f"id,label,{header}\n{rows}"), FileOptions())
    assert graph.n_features == 300
    assert graph.remarks[0].startswith("columns of nodes.csv: flags: w0, w1, w2")
    assert "w11 and 288 more" in graph.remarks[0]


@pytest.mark.parametrize("name", ["edges.csv.gz", "edges.tsv", "edges.tsv.gz"])
def test_other_kinds_of_text_files(tmp_path: Path, name: str) -> None:
    wanted = read_graph(tables(tmp_path), FileOptions())
    folder = tmp_path / "other"
    folder.mkdir()
    for file, text in ((name, EDGES), (name.replace("edges", "nodes"), NODES)):
        content = (text.replace(",", "\t") if ".tsv" in name else text.replace(",", ";")).encode()
        (folder / file).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    graph = load_dataset(str(folder / name), standardisation=AS_IT_IS)
    assert graph.name == "edges"
    assert (graph.adjacency != wanted.adjacency).nnz == 0
    assert np.array_equal(np.asarray(graph.features), np.asarray(wanted.features))


@pytest.mark.parametrize(
    "options",
    [{"ignore": ["a"]}, {"numbers": ["a"]}, {"categories": ["a"]}, {"scale": False}, {"label_column": "y"}],
)
def test_options_of_columns_are_refused_for_an_archive(tmp_path: Path, options: dict[str, object]) -> None:
    path = archive(tmp_path, edge_index=[[0], [1]], x=np.eye(2), y=[0, 1])
    with pytest.raises(ConfigError, match=f"{next(iter(options))} goes with a node table, got it for mine.npz"):
        load_dataset(str(path), options=options)


def test_what_standardisation_takes_away_is_said_with_the_switch(tmp_path: Path) -> None:
    path = tables(tmp_path, "source,target,weight\na,b,3\nb,b,1\n")
    said = load_dataset(str(path)).remarks
    assert said[1:] == (
        "edge weights are not used (--set dataset.standardise.unweighted=false keeps them)",
        "1 self-loops left out (--set dataset.standardise.no_self_loops=false keeps them)",
        "1 of 3 nodes are outside of the largest connected component and left out "
        "(--set dataset.standardise.largest_component=false keeps them)",
    )
    assert load_dataset(str(path), standardisation=AS_IT_IS).remarks == said[:1]


def as_tables(graph: Graph, folder: Path, extra: dict[str, list[object]]) -> Path:
    """A graph as edges.csv and nodes.csv, with more columns."""
    features = np.asarray(graph.features)
    pairs = np.stack(graph.adjacency.nonzero(), axis=1).tolist()
    rows = ["id,label," + ",".join([*(f"f{k}" for k in range(features.shape[1])), *extra])]
    for node, values in enumerate(features.tolist()):
        more = [column[node] for column in extra.values()]
        rows.append(",".join(map(str, (node, f"class-{graph.labels[node]}", *values, *more))))
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"{one},{other}\n" for one, other in pairs))
    (folder / "nodes.csv").write_text("\n".join(rows) + "\n")
    return folder / "edges.csv"


def test_a_column_of_large_numbers_does_not_ruin_a_run(tmp_path: Path) -> None:
    """An index, a date and a revenue beside good features; as they are given, the revenue drowns all others."""
    from evergraph import RunConfig, run, summarise

    graph = load_dataset("sbm", options={"nodes": 400, "classes": 4, "features": 16, "mean_degree": 4})
    rng = np.random.default_rng(0)
    extra: dict[str, list[object]] = {
        "Unnamed: 0": list(range(graph.n_nodes)),
        "joined": ["2024-05-31"] * graph.n_nodes,
        "revenue": np.exp(rng.normal(12, 3, graph.n_nodes)).tolist(),
    }

    def accuracy(extra: dict[str, list[object]], **options: Any) -> float:
        path = as_tables(graph, tmp_path, extra)
        values = {
            "dataset": {"name": str(path), "options": options},
            "method": {"name": "joint"},
            "train": {"epochs": 40},
        }
        return float(summarise(run(RunConfig.from_values(values), tmp_path / "runs").record).aa)

    alone = accuracy({})
    assert alone > 70
    assert accuracy(extra) > alone - 5
    assert accuracy(extra, scale=False) < alone - 20
