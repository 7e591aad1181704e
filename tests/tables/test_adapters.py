"""Batches from pandas, NetworkX, PyG and scipy, all of the same graph."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from evergraph.errors import ConfigError, DataError
from evergraph.tables import Batch, Duplicates, FeatureSchema, Table, batch_from_arrays, batch_from_frames, to_batch
from helpers import one_sentence

pandas = pytest.importorskip("pandas")
networkx = pytest.importorskip("networkx")

WANTED = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def node_frame(**changes: Any) -> Any:
    columns = {"label": ["red", None, "blue"], "age": [1.0, 2.0, 4.5], "plan": ["x", "y", "x"]}
    return pandas.DataFrame({**columns, **changes}, index=["ann", "bob", "cleo"])


def edge_frame(**changes: Any) -> Any:
    return pandas.DataFrame({"source": ["ann", "bob"], "target": ["bob", "cleo"], **changes})


def dense(features: Any) -> Any:
    return features if isinstance(features, np.ndarray) else features.toarray()


def test_frames_with_the_index_as_ids() -> None:
    found = to_batch((node_frame(), edge_frame()))
    assert found.ids.tolist() == ["ann", "bob", "cleo"]
    assert found.labels.tolist() == ["red", None, "blue"]
    assert found.adjacency.toarray().tolist() == WANTED
    assert isinstance(found.attributes, Table)
    assert list(found.attributes.columns) == ["age", "plan"]
    assert to_batch(node_frame(), edges=edge_frame()).adjacency.nnz == 4


def test_frames_with_a_column_of_ids() -> None:
    frame = node_frame().reset_index(names="id")
    found = to_batch((frame, edge_frame()))
    assert found.ids.tolist() == ["ann", "bob", "cleo"]
    assert found.left_out["id"] == "the ids"
    numbered = to_batch((node_frame().reset_index(drop=True), edge_frame(source=[0, 1], target=[1, 2])))
    assert numbered.ids.tolist() == [0, 1, 2]
    assert numbered.adjacency.toarray().tolist() == WANTED


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        (["red", None, "blue"], ["red", None, "blue"]),
        (["red", "", " blue "], ["red", None, "blue"]),
        ([1, 2, 3], [1, 2, 3]),
        ([1, np.nan, 3], [1, None, 3]),
        ([True, False, None], [True, False, None]),
        (pandas.array([1, None, 3], dtype="Int64"), [1, None, 3]),
        (pandas.array(["a", None, "b"], dtype="string"), ["a", None, "b"]),
        (pandas.Categorical(["a", None, "b"]), ["a", None, "b"]),
        (pandas.Categorical([5, 5, 7]), [5, 5, 7]),
        (np.array([0, -1, 2], dtype=np.int8), [0, None, 2]),
        ((1.0, float("nan"), 2.0), [1, None, 2]),
        (torch.tensor([0, -1, 2]), [0, None, 2]),
        (torch.tensor([True, False, True]), [True, False, True]),
        (torch.tensor([1.0, float("nan"), 2.0]), [1, None, 2]),
        (list(torch.tensor([0, -1, 2])), [0, None, 2]),
        ((torch.tensor(1.0), torch.tensor(float("nan")), torch.tensor(2.0)), [1, None, 2]),
        (tuple(np.array(value) for value in ("a", "", "b")), ["a", None, "b"]),
    ],
)
def test_labels_of_any_type(labels: Any, wanted: list[object]) -> None:
    found = to_batch((node_frame(), edge_frame()), labels).labels.tolist()
    assert found == wanted
    assert [type(label) for label in found] == [type(label) for label in wanted]
    in_memory = isinstance(labels, np.ndarray | tuple | torch.Tensor) or isinstance(labels[0], torch.Tensor)
    if not in_memory:  # in a table, -1 is refused
        assert to_batch((node_frame(label=labels), edge_frame())).labels.tolist() == wanted


@pytest.mark.parametrize("labels", [torch.zeros(3, 2), torch.tensor(1), np.array(1), torch.zeros(2)])
def test_labels_of_another_shape_are_refused(labels: Any) -> None:
    with pytest.raises(DataError, match=r"one label for each of the 3 nodes, got shape \(") as caught:
        to_batch((node_frame(), edge_frame()), labels)
    one_sentence(caught.value)


def test_a_category_of_numbers_is_a_category() -> None:
    for codes in (pandas.Categorical([10, 20, 10]), pandas.Categorical(["10", "20", "10"])):
        frame = node_frame(code=codes)
        schema = FeatureSchema.fit(to_batch((frame, edge_frame())))
        assert schema.feature_names[-2:] == ("code=10", "code=20")
        assert dense(schema.encode(to_batch((frame, edge_frame()))))[:, -2:].tolist() == [[1, 0], [0, 1], [1, 0]]
        plain = to_batch((node_frame(code=[10, 20, 10]), edge_frame()))
        assert dense(schema.encode(plain))[:, -2:].tolist() == [[1, 0], [0, 1], [1, 0]]
    as_number = FeatureSchema.fit(to_batch((frame, edge_frame())), numbers=["code"])
    assert as_number.feature_names[-1] == "code"
    learned = FeatureSchema.fit(plain)
    assert np.array_equal(
        dense(learned.encode(to_batch((node_frame(code=pandas.Categorical([10, 20, 10])), edge_frame())))),
        dense(learned.encode(plain)),
    )


def test_every_library_gives_the_same_batch() -> None:
    frames = to_batch((node_frame(), edge_frame()))
    graph = networkx.Graph()
    for row in node_frame().itertuples():
        graph.add_node(row.Index, label=row.label, age=row.age, plan=row.plan)
    graph.add_edges_from([("ann", "bob"), ("bob", "cleo")])
    found = to_batch(graph)
    assert found.ids.tolist() == frames.ids.tolist()
    assert found.labels.tolist() == frames.labels.tolist()
    assert (found.adjacency != frames.adjacency).nnz == 0
    schema = FeatureSchema.fit(frames)
    assert np.array_equal(dense(schema.encode(found)), dense(schema.encode(frames)))
    matrix = sparse.csr_array(np.array(WANTED, dtype=np.float32))
    plain = to_batch((matrix, np.eye(3)), ["red", None, "blue"])
    assert plain.ids.tolist() == [0, 1, 2]
    assert plain.labels.tolist() == frames.labels.tolist()
    assert (plain.adjacency != frames.adjacency).nnz == 0
    assert to_batch(plain) is plain


def multigraph() -> Any:
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from([(3, {"label": "x"}), (1, {"size": 5}), (2, {"size": 7.5})])
    graph.add_edges_from([(3, 1, {"w": 2}), (3, 1, {"w": 3}), (1, 2, {"w": 1}), (2, 2, {"w": 1})])
    return graph


def test_networkx_directions_weights_and_parallel_edges() -> None:
    graph = multigraph()
    found = to_batch(graph, duplicates="merge")
    assert found.ids.tolist() == [3, 1, 2]
    assert found.labels.tolist() == ["x", None, None]
    assert found.adjacency.toarray().tolist() == WANTED
    assert found.remarks == (
        "1 repeated edges merged",
        "directions of the edges are not used (directed=True keeps them)",
        "1 self-loops left out",
    )
    kept = to_batch(graph, directed=True, weight="w", duplicates=Duplicates.MERGE)
    assert kept.adjacency.toarray().tolist() == [[0, 5, 0], [0, 0, 1], [0, 0, 0]]
    assert kept.directed
    graph.add_edge(1, 3)
    with pytest.raises(DataError, match="the edge 1 to 3 must have a w that is finite and not negative, got None"):
        to_batch(graph, weight="w")
    assert to_batch(networkx.path_graph(3)).adjacency.toarray().tolist() == WANTED


@pytest.mark.parametrize("kind", ["MultiGraph", "MultiDiGraph"])
def test_parallel_edges_of_networkx_are_refused_as_repeated_ones_of_frames(kind: str) -> None:
    graph = getattr(networkx, kind)()
    graph.add_nodes_from("abc", age=1)
    graph.add_edges_from([("a", "b", {"weight": 1}), ("b", "c", {"weight": 4}), ("a", "b", {"weight": 2})])
    with pytest.raises(DataError, match=r"got the edge 'a' to 'b' again instead \(1 repeated edges\)") as caught:
        to_batch(graph)
    assert "merge them (duplicates='merge'; weights are added)" in one_sentence(caught.value)
    merged = to_batch(graph, duplicates="merge", weight="weight")
    assert merged.adjacency.toarray().tolist() == [[0, 3, 0], [3, 0, 4], [0, 4, 0]]
    assert merged.remarks[0] == "1 repeated edges merged"
    assert to_batch(graph, duplicates="merge").adjacency.toarray().tolist() == WANTED
    with pytest.raises(ConfigError, match='duplicates must be "error" or "merge", got \'add\' instead'):
        to_batch(graph, duplicates="add")


def test_weights_of_networkx_that_are_not_used_are_said() -> None:
    graph = networkx.Graph()
    graph.add_edge("a", "b", weight=2)
    graph.add_edge("b", "c")
    found = to_batch(graph)
    assert found.adjacency.toarray().tolist() == WANTED
    assert found.remarks == ("edge weights are not used (weight='weight' keeps them)",)
    graph.add_edge("a", "b", weight=1)
    assert not to_batch(graph).remarks, "weights of 1 are no weights"
    graph.add_edge("b", "c", weight=5)
    kept = to_batch(graph, weight="weight")
    assert kept.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 5], [0, 5, 0]]
    assert not kept.remarks


def test_two_weights_of_one_pair_of_networkx_are_said() -> None:
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 1), ("b", "a", 7)])
    found = to_batch(graph, weight="weight")
    assert found.adjacency.toarray().tolist() == [[0, 7], [7, 0]]
    assert "1 pairs are listed both ways with different weights, of which the larger counts" in found.remarks[1]
    assert not to_batch(graph, weight="weight", directed=True).remarks


def test_words_for_no_label_in_a_frame_are_counted_and_real_gaps_are_not() -> None:
    frame = pandas.DataFrame(
        {"label": ["NA", "none", "nan", " x ", "x", None, float("nan"), pandas.NA], "a": range(8)}
    )
    found = to_batch(frame)
    assert found.labels.tolist() == [None, None, None, "x", "x", None, None, None]
    assert found.remarks[:2] == (
        "the node frame: 3 labels 'NA', 'nan', 'none' are taken as missing; rename a class that is called so",
        "the node frame: 1 label has spaces around, which are left out: ' x ' is 'x'",
    )


def test_labels_in_memory_have_the_same_remarks_but_other_words_are_names() -> None:
    pair = (sparse.csr_array((5, 5), dtype=np.float32), np.ones((5, 2)))
    given = ["NA", "nan", " x ", "x", None]
    expected = (
        "y: 1 label 'nan' is taken as missing; rename a class that is called so",
        "y: 1 label has spaces around, which are left out: ' x ' is 'x'",
    )
    for found in (to_batch(pair, given), batch_from_arrays(*pair, np.array(given, dtype=object))):
        assert found.labels.tolist() == ["NA", None, "x", "x", None]
        assert found.remarks == expected
    assert to_batch(pair, np.array([0.0, 1.0, np.nan, -1.0, 1.0])).remarks == ()


def test_networkx_takes_the_names_that_frames_have() -> None:
    graph = networkx.Graph()
    graph.add_nodes_from([("a", {"club": "x", "born": 5}), ("b", {"club": "null", "born": 6})])
    graph.add_edge("a", "b", strength=3)
    short = to_batch(graph, label="club", time="born", weight="strength")
    long = to_batch(graph, label_column="club", time_column="born", weight_column="strength")
    for found in (short, long):
        assert found.labels.tolist() == ["x", None]
        assert found.times is not None
        assert found.times.tolist() == [5, 6]
        assert found.adjacency.toarray().tolist() == [[0, 3], [3, 0]]
        assert "1 label 'null' is taken as missing" in found.remarks[0]
    with pytest.raises(ConfigError, match="label or label_column is wanted, got both; leave one out"):
        to_batch(graph, label="club", label_column="born")
    unknown = to_batch(graph, label_column="topic", label_optional=True)
    assert unknown.remarks == ("the NetworkX graph has no column 'topic', so no label is compared",)


@pytest.mark.parametrize("kind", ["NetworkX", "PyG", "frames", "frame", "arrays"])
def test_an_option_that_a_graph_does_not_have_is_one_sentence(kind: str) -> None:
    graphs = {
        "NetworkX": (
            networkx.path_graph(3),
            "weighted",
            "a NetworkX graph the options label, time, weight, label_c",
        ),
        "PyG": (data(), "weight_column", "a PyG Data the options ids, mask, directed, weighted are wanted"),
        "frames": ((node_frame(), edge_frame()), "edges", "frames the options id_column, "),
        "frame": (node_frame(), "weighted", "a frame of nodes the options edges, id_column, "),
        "arrays": (
            (sparse.csr_array((2, 2)), np.eye(2)),
            "duplicates",
            r"a pair \(adjacency, features\) the options ids, times, directed, weighted are wanted",
        ),
    }
    graph, option, words = graphs[kind]
    with pytest.raises(ConfigError, match=f"for {words}.*, got {option} instead; use one of them") as caught:
        to_batch(graph, **{option: True})
    one_sentence(caught.value)


def data(**changes: Any) -> Any:
    """What is used of a torch_geometric Data."""
    values: dict[str, Any] = {
        "num_nodes": 3,
        "edge_index": torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]),
        "x": torch.eye(3),
        "y": torch.tensor([5, 6, -1]),
    }
    return SimpleNamespace(**{**values, **changes})


def test_pyg_data() -> None:
    found = to_batch(data(train_mask=torch.tensor([True, False, True])))
    assert found.labels.tolist() == [5, None, None]
    assert found.adjacency.toarray().tolist() == WANTED
    assert np.array_equal(dense(found.attributes), np.eye(3))
    assert to_batch(data(y=None, x=None)).attributes is None
    assert to_batch(data(y=torch.tensor([[5], [6], [7]]))).labels.tolist() == [5, 6, 7]
    one_way = data(edge_index=torch.tensor([[0, 1], [1, 2]]), edge_weight=torch.tensor([2.0, 3.0]), edge_attr=1)
    plain = to_batch(one_way)
    assert plain.adjacency.toarray().tolist() == WANTED
    assert [remark.partition(" ")[0] for remark in plain.remarks] == ["edge", "directions", "edge_attr"]
    kept = to_batch(one_way, directed=True, weighted=True)
    assert kept.adjacency.toarray().tolist() == [[0, 2, 0], [0, 0, 3], [0, 0, 0]]


def test_arrays_with_ids_times_and_weights() -> None:
    matrix = sparse.csr_array(np.array([[1, 2, 0], [0, 0, 1], [0, 0, 0]], dtype=np.float32))
    found = to_batch((matrix, np.eye(3)), [0, 1, 1], ids=["a", "b", "c"], times=[1, 2, 3])
    assert found.ids.tolist() == ["a", "b", "c"]
    assert found.times is not None
    assert found.times.tolist() == [1, 2, 3]
    assert found.adjacency.toarray().tolist() == WANTED
    assert len(found.remarks) == 3
    assert matrix.nnz == 3


BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a number": (3, {}, "a graph is wanted: .* got int"),
    "nothing": (None, {}, "a graph is wanted: .* got NoneType"),
    "three things": ((1, 2, 3), {}, "a graph is wanted: .* got tuple"),
    "a dense adjacency": ((np.eye(3), np.eye(3)), {}, "a graph is wanted"),
    "edges that are no frame": ((node_frame(), [1]), {}, "the edge frame must be a pandas DataFrame, got list"),
    "a frame without rows": (
        (node_frame().iloc[:0], edge_frame()),
        {},
        "the node frame must have at least one row, got none instead; add a row for each node",
    ),
    "a frame without edges": (
        (node_frame(), edge_frame().iloc[:0]),
        {},
        "the edge frame must have at least one row, got none instead; give None for no edges",
    ),
    "columns of two levels": (
        (node_frame().set_axis(pandas.MultiIndex.from_product([["a"], [1, 2, 3]]), axis=1), None),
        {},
        r"the node frame must have plain names of columns, got names of 2 levels such as \('a', '1'\) instead",
    ),
    "an index with one id twice": (
        (node_frame().set_axis(["a", "b", "a"]), None),
        {},
        "the node frame row 3 must have an id of its own, got 'a' of the node frame row 1",
    ),
    "an index with a gap": (
        (node_frame().set_axis(["a", None, "c"]), None),
        {},
        "the node frame row 2 must have an id",
    ),
    "columns of one name": (
        (node_frame().set_axis(["a", "a", "b"], axis=1), None),
        {},
        "the node frame must name every column once",
    ),
    "an unknown end": (
        (node_frame(), edge_frame(target=["bob", "dora"])),
        {},
        "the edge frame row 2 must have a targ",
    ),
    "an end that is missing": (
        (node_frame(), edge_frame(target=["bob", None])),
        {},
        "the edge frame row 2 must have",
    ),
    "no such label": ((node_frame(), edge_frame()), {"label_column": "topic"}, "must have a column 'topic'"),
    "labels of both kinds": (
        (node_frame(label=["a", 1, 2]), edge_frame()),
        {},
        "row 2, column 'label', must be text or",
    ),
    "labels with fractions": (
        (node_frame(label=[0.5, 1, 2]), edge_frame()),
        {},
        "row 1, column 'label', must be a name",
    ),
    "labels of objects": (
        (node_frame(label=[{}, 1, 2]), edge_frame()),
        {},
        "row 1, column 'label', must be a name",
    ),
    "a graph without nodes": (networkx.Graph(), {}, "at least one node, got an empty graph"),
    "no such attribute": (
        networkx.path_graph(3),
        {"label": "club"},
        "the NetworkX graph must have a column 'club'",
    ),
    "a negative weight": (
        (sparse.csr_array([[0, -1.0], [0, 0]]), np.eye(2)),
        {},
        "every edge weight must be finite",
    ),
    "too few features": ((sparse.csr_array((3, 3)), np.eye(2)), {}, "one row for each of the 3 nodes"),
    "NaN features": ((sparse.csr_array((2, 2)), np.full((2, 2), np.nan)), {}, "every feature must be finite"),
    "not square": ((sparse.csr_array((2, 3)), np.eye(2)), {}, "the adjacency must be square"),
    "ids twice": (
        (sparse.csr_array((2, 2)), np.eye(2)),
        {"ids": [1, 1]},
        "the nodes row 2 must have an id of its own",
    ),
    "too few ids": ((sparse.csr_array((2, 2)), np.eye(2)), {"ids": [1]}, "one id for each of the 2 nodes, got 1"),
    "too few times": ((sparse.csr_array((2, 2)), np.eye(2)), {"times": [1]}, "one time for each of the 2 nodes"),
    "a time that is missing": ((sparse.csr_array((2, 2)), np.eye(2)), {"times": [1, None]}, "row 2, column 'time'"),
    "edge_index of fractions": (
        data(edge_index=torch.rand(2, 3)),
        {},
        "edge_index must be two rows of whole numbers",
    ),
    "edge_index None": (data(edge_index=None), {}, "a Data with edge_index is wanted, got SimpleNamespace without"),
    "edge to no node": (data(edge_index=torch.tensor([[0], [9]])), {}, "every edge target must be .* got 9"),
    "too few weights": (data(edge_weight=torch.ones(1)), {}, "one edge_weight for each of the 4 edges, got 1"),
    "labels in two columns": (data(y=torch.zeros(3, 2)), {}, "one label for each of the 3 nodes"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_a_batch_is_one_sentence(case: str) -> None:
    given, options, words = BAD[case]
    with pytest.raises(DataError, match=words) as caught:
        to_batch(given, **options)
    one_sentence(caught.value)


def test_a_batch_takes_no_options() -> None:
    made: Batch = to_batch((node_frame(), edge_frame()))
    with pytest.raises(ConfigError, match="got the option directed too"):
        to_batch(made, directed=True)


def test_repeated_edges_of_frames() -> None:
    twice = pandas.concat([edge_frame(), edge_frame()])
    with pytest.raises(DataError, match=r"got the edge frame row 3 again instead \(2 repeated edges\)"):
        batch_from_frames(node_frame(), twice)
    assert (
        batch_from_frames(node_frame(), twice, duplicates=Duplicates.MERGE).adjacency.toarray().tolist() == WANTED
    )


def test_no_library_is_imported() -> None:
    code = "import sys, evergraph.tables; print({'pandas', 'networkx', 'torch', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
