"""Own graphs as files: what is read, and what every malformed file is answered with."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.data.datasets import load_dataset
from evergraph.data.datasets.files import FileOptions, read_graph
from evergraph.errors import ConfigError, DataError

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
        ("source,target\n", NODES, "edges.csv must have at least one row"),
        (EDGES, "id,label\n", "nodes.csv must have at least one row"),
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
