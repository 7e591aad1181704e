"""Batches from two files: ids, labels, times, edges."""

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.errors import ConfigError, DataError
from evergraph.tables import Batch, Duplicates, Table, batch_from_tables, read_batch
from helpers import one_sentence

NODES = "id,topic,age\nann,red,31\nbob,,45\ncleo,blue,28\n"
EDGES = "source,target\nann,bob\nbob,cleo\n"


def batch(folder: Path, nodes: str = NODES, edges: str | None = EDGES, **options: Any) -> Batch:
    (folder / "nodes.csv").write_text(nodes, encoding="utf-8")
    if edges is None:
        return read_batch(folder / "nodes.csv", **options)
    (folder / "edges.csv").write_text(edges, encoding="utf-8")
    return read_batch(folder / "nodes.csv", folder / "edges.csv", **options)


def test_nodes_and_edges_become_a_batch(tmp_path: Path) -> None:
    found = batch(tmp_path, label_column="topic")
    assert found.ids.tolist() == ["ann", "bob", "cleo"]
    assert found.labels.tolist() == ["red", None, "blue"]
    assert found.labelled.tolist() == [True, False, True]
    assert found.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert found.left_out == {"id": "the ids", "topic": "the labels"}
    assert not found.directed
    assert found.times is None
    assert found.remarks == ()


def test_direction_weights_loops_and_repeated_edges(tmp_path: Path) -> None:
    edges = "source,target,weight,since\nann,bob,2\nbob,ann,3\nann,ann,1\n".replace("\n", ",2020\n").replace(
        "since,2020", "since"
    )
    plain = batch(tmp_path, edges=edges)
    assert plain.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert plain.remarks == (
        "edges.csv: edge weights are not used; name their column (--weight-column, weight_column) to use them",
        "edges.csv: columns that are not used: 'since'",
        "edges.csv: 1 self-loops left out",
    )
    weighted = batch(tmp_path, edges=edges, weight_column="weight")
    assert weighted.adjacency.toarray().tolist() == [[0, 3, 0], [3, 0, 0], [0, 0, 0]]
    assert "1 pairs are listed both ways with different weights, of which the larger counts" in weighted.remarks[1]
    directed = batch(tmp_path, edges=edges, weight_column="weight", directed=True)
    assert directed.adjacency.toarray().tolist() == [[0, 2, 0], [3, 0, 0], [0, 0, 0]]
    twice = "source,target,weight\nann,bob,2\nann,bob,3\n"
    with pytest.raises(DataError, match=r"edges.csv line 3 again instead \(1 repeated edges\)"):
        batch(tmp_path, edges=twice)
    merged = batch(tmp_path, edges=twice, weight_column="weight", duplicates=Duplicates.MERGE)
    assert merged.adjacency.toarray()[0].tolist() == [0, 5, 0]
    assert merged.remarks == ("edges.csv: 1 repeated edges merged",)


def test_the_same_graph_as_a_run_reads(tmp_path: Path) -> None:
    """Direction, weights and self-loops mean the same in a batch and in evergraph run."""
    from evergraph.data.datasets import load_dataset
    from evergraph.data.standardise import Standardisation

    edges = "source,target,weight\nann,bob,2\nbob,ann,3\nann,ann,1\nbob,cleo,0.5\n"
    nodes = NODES.replace("bob,,", "bob,red,").replace("topic", "label")
    found = batch(tmp_path, nodes, edges)
    graph = load_dataset(str(tmp_path / "edges.csv"))
    assert (found.adjacency != graph.adjacency).nnz == 0
    for directed in (False, True):
        steps = Standardisation(undirected=not directed, unweighted=False)
        kept = load_dataset(str(tmp_path / "edges.csv"), standardisation=steps)
        weighted = batch(tmp_path, nodes, edges, weight_column="weight", directed=directed)
        assert (weighted.adjacency != kept.adjacency).nnz == 0


def test_ids_are_whole_numbers_or_text_as_in_the_file(tmp_path: Path) -> None:
    whole = batch(tmp_path, "id,a\n30,1\n7,2\n", "source,target\n7,30\n")
    assert whole.ids.dtype == np.int64
    assert whole.ids.tolist() == [30, 7]
    assert whole.id_text() == ["30", "7"]
    assert whole.rows([7, 30]).tolist() == [1, 0]
    assert whole.rows(["7"]).tolist() == [1]
    with pytest.raises(DataError, match="every id must be one of the 2 nodes, got 8 instead"):
        whole.rows([8])
    text = batch(tmp_path, "id,a\n030,1\n7,2\n", "source,target\n7,030\n")
    assert text.ids.tolist() == ["030", "7"]
    assert text.adjacency.nnz == 2


def test_labels_of_a_text_file_are_text_with_and_without_gaps(tmp_path: Path) -> None:
    """Pandas writes 1.0 for 1 where a column has gaps; the class is the same."""
    full = batch(tmp_path, "id,label\na,1\nb,2\n", None)
    gaps = batch(tmp_path, "id,label\na,1.0\nb,\nc,2.0\n", None)
    assert full.labels.tolist() == ["1", "2"]
    assert gaps.labels.tolist() == ["1", None, "2"]
    named = batch(tmp_path, "id,label\na, red \nb,NaN\nc,2.0\n", None)
    assert named.labels.tolist() == ["red", None, "2.0"]


def test_labels_may_be_given_again(tmp_path: Path) -> None:
    given = batch(tmp_path).with_labels([3, -1, None])
    assert given.labels.tolist() == [3, None, None]
    with pytest.raises(DataError, match="one label for each of the 3 nodes"):
        given.with_labels([1, 2])
    with pytest.raises(DataError, match="label 2 must be a name or a whole number"):
        given.with_labels([1, 2.5, 3])
    with pytest.raises(DataError, match="label 2 must be text or a whole number as the labels before it, got 'a'"):
        given.with_labels([1, "a", None])


def test_a_label_column_may_be_absent_where_it_is_optional(tmp_path: Path) -> None:
    nodes = "id,age\nann,1\nbob,2\ncleo,3\n"
    assert not batch(tmp_path, nodes, label_column="topic", label_optional=True).labelled.any()
    with pytest.raises(DataError, match=r"nodes.csv must have a column 'topic', got the columns 'id', 'age'"):
        batch(tmp_path, nodes, label_column="topic")


def test_times_are_numbers_or_dates(tmp_path: Path) -> None:
    times = batch(tmp_path, "id,time\na,1\nb,2.5\n", None).times
    assert times is not None
    assert times.tolist() == [1, 2.5]
    dates = batch(tmp_path, "id,joined\na,1970-01-02\nb,1970-01-01T00:00:01+00:00\n", None, time_column="joined")
    assert dates.times is not None
    assert dates.times.tolist() == [86400, 1]
    assert dates.left_out["joined"] == "the times"


def test_the_first_time_that_is_bad_is_named() -> None:
    times = np.array(["2024-05-31"] * 119 + ["soon"], dtype=object)
    nodes = Table("the node frame", {"id": np.arange(120), "time": times})
    with pytest.raises(DataError, match=r"the node frame row 120, column 'time', must be .* got 'soon'") as caught:
        batch_from_tables(nodes, None)
    one_sentence(caught.value)


def test_dates_may_be_text_beside_objects() -> None:
    times = np.array([datetime.date(1970, 1, 2), "1970-01-03"], dtype=object)
    found = batch_from_tables(Table("nodes", {"id": np.arange(2), "time": times}), None).times
    assert found is not None
    assert found.tolist() == [86400, 2 * 86400]


def test_an_unknown_end_names_file_line_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        batch(tmp_path, edges=EDGES + "cleo,dora\nann,cleo\nann,dora\n")
    assert one_sentence(caught.value) == (
        "edges.csv line 4 must have a target from nodes.csv, got 'dora' instead; add the node, also one of an "
        "earlier file, or remove the edge (2 such edges)"
    )
    with pytest.raises(DataError, match=r"\(1 such edge\)$"):
        batch(tmp_path, edges=EDGES + "cleo,dora\nann,cleo\n")


def test_no_edges_are_an_empty_graph(tmp_path: Path) -> None:
    assert batch(tmp_path, edges=None).adjacency.nnz == 0


def test_other_names_of_columns(tmp_path: Path) -> None:
    found = batch(
        tmp_path,
        "key,kind,a\n1,x,5\n2,y,6\n",
        "from,to,strength\n1,2,3\n",
        id_column="key",
        label_column="kind",
        source_column="from",
        target_column="to",
        weight_column="strength",
        ignore=["a"],
    )
    assert found.attributes is None
    assert found.left_out == {"a": "ignored as asked", "key": "the ids", "kind": "the labels"}
    assert found.adjacency.toarray().tolist() == [[0, 3], [3, 0]]


def test_ids_beyond_64_bits_are_text() -> None:
    ids = np.array([1, 2**80, 10**400, None], dtype=object)[:-1]
    found = batch_from_tables(Table("nodes", {"id": ids}), None)
    assert found.ids.tolist() == ["1", str(2**80), str(10**400)]


def test_ids_that_were_in_a_column_of_floats_are_the_same_ids(tmp_path: Path) -> None:
    found = batch(tmp_path, "id,a\n3.0,1\n70.0,2\n", "source,target\n3.0,70.0\n")
    assert found.id_text() == ["3", "70"]
    mixed = batch(tmp_path, "id,a\n3.0,1\n3.5,2\n", "source,target\n3.0,3.5\n")
    assert mixed.id_text() == ["3.0", "3.5"]


def test_words_for_no_label_are_missing_and_said(tmp_path: Path) -> None:
    found = batch(tmp_path, "id,label,a\n1,NA,1\n2,red,2\n3,null,2\n4,,2\n", "source,target\n1,2\n")
    assert found.labels.tolist() == [None, "red", None, None]
    assert found.remarks[0].startswith("nodes.csv: 2 labels 'NA', 'null' are taken as missing")


@pytest.mark.parametrize("word", ["nan", "NaN", "NA", "none"])
def test_every_word_for_no_label_is_counted_in_a_text_file(tmp_path: Path, word: str) -> None:
    found = batch(tmp_path, f"id,label,a\n1,{word},1\n2,red,2\n3,{word},2\n4,,2\n", None)
    assert found.labels.tolist() == [None, "red", None, None]
    assert found.remarks == (
        f"nodes.csv: 2 labels {word!r} are taken as missing; rename a class that is called so",
    )


def test_words_for_no_label_among_numbers_are_said(tmp_path: Path) -> None:
    found = batch(tmp_path, "id,label,a\n1,nan,1\n2,3,2\n3,,2\n", None)
    assert found.labels.tolist() == [None, "3", None]
    assert found.remarks[0].startswith("nodes.csv: 1 label 'nan' is taken as missing")


def test_labels_that_lose_spaces_are_counted(tmp_path: Path) -> None:
    nodes = 'id,label,a\n1,red,1\n2,"  red ",2\n3,blue ,2\n4," ",2\n5," NA ",2\n'
    found = batch(tmp_path, nodes, None)
    assert found.labels.tolist() == ["red", "red", "blue", None, None]
    assert found.remarks == (
        "nodes.csv: 1 label 'NA' is taken as missing; rename a class that is called so",
        "nodes.csv: 2 labels have spaces around, which are left out: '  red ' is 'red'",
    )
    assert batch(tmp_path, "id,label,a\n1,red,1\n", None).remarks == ()


def test_a_label_column_that_is_not_there_is_said(tmp_path: Path) -> None:
    found = batch(tmp_path, label_column="tpoic", label_optional=True)
    assert found.remarks[0] == "nodes.csv has no column 'tpoic', so no label is compared"


def test_duplicates_are_one_of_two(tmp_path: Path) -> None:
    twice = "source,target\nann,bob\nann,bob\n"
    assert batch(tmp_path, edges=twice, duplicates="merge").adjacency.nnz == 2
    with pytest.raises(DataError, match="repeated edges"):
        batch(tmp_path, edges=twice, duplicates="error")
    with pytest.raises(ConfigError, match='duplicates must be "error" or "merge", got \'mend\''):
        batch(tmp_path, edges=twice, duplicates="mend")
