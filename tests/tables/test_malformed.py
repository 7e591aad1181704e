"""Malformed node and edge files: each is answered with one sentence that names the file and the line."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evergraph.errors import ConfigError, DataError
from evergraph.tables import FeatureSchema, read_batch
from helpers import one_sentence

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

NODES = "id,label,age\na,red,1\nb,blue,2\nc,,4\n"
EDGES = "source,target\na,b\nb,c\n"


def nodes(*lines: str, header: str = "id,label,age") -> str:
    return "\n".join((header, *lines)) + "\n"


def edges(*lines: str, header: str = "source,target") -> str:
    return "\n".join((header, *lines)) + "\n"


TEXTS: dict[str, tuple[str | bytes, str | bytes, dict[str, Any], str]] = {
    # the node file as a whole
    "empty nodes": ("", EDGES, {}, "nodes.csv must start with a line of column names, got an empty file"),
    "only a blank line": ("\n", EDGES, {}, "nodes.csv must start with a line of column names"),
    "header alone": (
        "id,label,age\n",
        EDGES,
        {},
        "nodes.csv must have at least one row, got none instead; add a row for",
    ),
    "header and blank lines": ("id,label\n\n\n", EDGES, {}, "nodes.csv must have at least one row"),
    "column twice": (nodes("a,red,1", header="id,label,label"), EDGES, {}, "nodes.csv must name every column once"),
    "column twice but for blanks": (
        nodes("a,red,1", header="id,age, age"),
        EDGES,
        {},
        "must name every column once",
    ),
    "two columns without a name": (nodes("a,b,1", header="id,,"), EDGES, {}, "must name every column once"),
    "row too short": (nodes("a,red,1", "b,blue"), EDGES, {}, "nodes.csv line 3 must have 3 values, got 2"),
    "row too long": (nodes("a,red,1", "b,blue,2,9"), EDGES, {}, "nodes.csv line 3 must have 3 values, got 4"),
    "blank lines count": (nodes("a,red,1", "", "", "b"), EDGES, {}, "nodes.csv line 5 must have 3 values, got 1"),
    "quoted lines count": (nodes('a,"r\ne\nd",1', "b"), EDGES, {}, "nodes.csv line 5 must have 3 values"),
    "semicolons in the rows": (nodes("a;red;1"), EDGES, {}, "nodes.csv line 2 must have 3 values, got 1"),
    "commas in the rows": (nodes("a,red,1", header="id;label;age"), EDGES, {}, "line 2 must have 3 values, got 1"),
    "two separators": (nodes("a,1", header="id,age;size"), EDGES, {}, "got both a comma and a semicolon"),
    "three separators": (
        nodes("a,1", header="id,age;size\tx"),
        EDGES,
        {},
        "got both a comma and a semicolon and a",
    ),
    "comma and tab": (nodes("a,1", header="id,age\tsize"), EDGES, {}, "got both a comma and a tab"),
    "decimal commas in a comma file": (nodes("a,red,1,5"), EDGES, {}, "nodes.csv line 2 must have 3 values, got 4"),
    "quote without an end": (nodes('a,"red,1', "b,blue,2"), EDGES, {}, "nodes.csv must be a CSV file in UTF-8"),
    "text after a quote": (nodes('a,"red"x,1'), EDGES, {}, "nodes.csv must be a CSV file in UTF-8"),
    "UTF-16": (NODES.encode("utf-16"), EDGES, {}, "nodes.csv must be a CSV file in UTF-8"),
    "Latin-1": (nodes("a,rosé,1").encode("latin-1"), EDGES, {}, "nodes.csv must be a CSV file in UTF-8"),
    "an archive": (b"PK\x03\x04\xff\xfe\x00", EDGES, {}, "nodes.csv must be a CSV file in UTF-8"),
    "a field without end": (nodes("a," + "x" * 200_000 + ",1"), EDGES, {}, "nodes.csv must be a CSV file"),
    # ids
    "no id column": (nodes("a,red,1", header="key,label,age"), EDGES, {}, "nodes.csv must have a column 'id', got"),
    "other id column": (NODES, EDGES, {"id_column": "key"}, "must have a column 'key', got the columns 'id'"),
    "id in capitals": (nodes("a,red,1", header="ID,label,age"), EDGES, {}, "must have a column 'id', got .*'ID'"),
    "id missing": (nodes("a,red,1", ",blue,2"), EDGES, {}, "nodes.csv line 3 must have an id, got ''"),
    "id of blanks": (nodes("a,red,1", '"  ",blue,2'), EDGES, {}, "nodes.csv line 3 must have an id"),
    "id NaN": (nodes("a,red,1", "nan,blue,2"), EDGES, {}, "nodes.csv line 3 must have an id"),
    "id twice": (
        nodes("a,red,1", "b,red,1", "a,red,1"),
        EDGES,
        {},
        "line 4 must have an id of its own, got 'a' of no",
    ),
    "id twice but for blanks": (
        nodes("a,red,1", "a ,red,1"),
        EDGES,
        {},
        "nodes.csv line 3 must have an id of its own",
    ),
    "number twice": (
        nodes("7,red,1", "5,x,1", "7,y,1"),
        EDGES,
        {},
        "line 4 must have an id of its own, got 7 of nod",
    ),
    # labels
    "no such label column": (NODES, EDGES, {"label_column": "topic"}, "nodes.csv must have a column 'topic'"),
    "negative label": (nodes("a,1,1", "b,-1,1"), EDGES, {}, "nodes.csv line 3, column 'label', must be a name or"),
    "negative among names": (
        nodes("a,red,1", "b,-1,1"),
        EDGES,
        {},
        "line 3, column 'label', must be a name .*'-1'",
    ),
    "label with a fraction": (nodes("a,1,1", "b,0.5,1"), EDGES, {}, "line 3, column 'label', must be .* got '0.5'"),
    "infinite label": (nodes("a,1,1", "b,inf,1"), EDGES, {}, "line 3, column 'label', must be .* got 'inf'"),
    "label advice": (nodes("a,1,1", "b,-1,1"), EDGES, {}, "leave the label empty where it is not known"),
    # times
    "no such time column": (NODES, EDGES, {"time_column": "when"}, "nodes.csv must have a column 'when'"),
    "time of text": (
        nodes("a,1", "b,soon", header="id,time"),
        EDGES,
        {},
        "nodes.csv line 3, column 'time', must be",
    ),
    "time missing": (
        nodes("a,1", "b,", header="id,time"),
        EDGES,
        {},
        "line 3, column 'time', must be a finite number",
    ),
    "date missing": (nodes("a,2024-01-01", "b,", header="id,time"), EDGES, {}, "line 3, column 'time', must be"),
    "infinite time": (
        nodes("a,1", "b,inf", header="id,time"),
        EDGES,
        {},
        "line 3, column 'time', must be a finite",
    ),
    "impossible date": (
        nodes("a,2024-01-01", "b,2024-13-45", header="id,time"),
        EDGES,
        {},
        "line 3, column 'time'",
    ),
    "day first among good dates": (
        nodes("a,2024-05-31", "b,31/05/2024", "c,x", header="id,time"),
        EDGES,
        {},
        "line 3, column 'time', must be a finite number or a date such as 2024-05-31, got '31/05/2024'",
    ),
    "no date among good dates": (
        nodes("a,2024-05-31", "b,2024-06-01T12:00", "c,x", header="id,time"),
        EDGES,
        {},
        "line 4, column 'time', must be .* got 'x'",
    ),
    "NA among good dates": (nodes("a,2024-05-31", "b,NA", header="id,time"), EDGES, {}, "line 3, .* got 'NA'"),
    "number among dates": (
        nodes("a,7", "b,2024-05-31", "c,2024-05-31", header="id,time"),
        EDGES,
        {},
        "line 2, column 'time', must be a date as most of this column, got '7' instead; write all times in one way",
    ),
    "date among numbers": (
        nodes("a,7", "b,2024-05-31", header="id,time"),
        EDGES,
        {},
        "line 3, column 'time', must be a number as most of this column, got '2024-05-31'",
    ),
    "day first": (
        nodes("a,31.12.2024", header="id,time"),
        EDGES,
        {},
        "line 2, column 'time', must be .*2024-05-31",
    ),
    # columns
    "ignored but not there": (NODES, EDGES, {"ignore": ["size"]}, "nodes.csv must have a column 'size'"),
    "ignore as text": (NODES, EDGES, {"ignore": "age"}, r"a list of columns to ignore is wanted, got 'age'"),
    "word among numbers": (
        nodes("a,,1", "b,,tall", "c,,3"),
        EDGES,
        {},
        "line 3, column 'age', must be a finite num",
    ),
    "infinite number": (
        nodes("a,,1", "b,,inf", "c,,3"),
        EDGES,
        {},
        "line 3, column 'age', must be a finite number",
    ),
    "minus infinity": (
        nodes("a,,1", "b,,-inf", "c,,3"),
        EDGES,
        {},
        "line 3, column 'age', must be a finite number",
    ),
    "too large": (nodes("a,,1", "b,,1e39", "c,,3"), EDGES, {}, "column 'age', .*; 3.4e38 is the largest"),
    "much too large": (
        nodes("a,,1", "b,,1e999", "c,,3"),
        EDGES,
        {},
        "line 3, column 'age', must be a finite number",
    ),
    "infinite beside a gap": (nodes("a,,", "b,,inf", "c,,3"), EDGES, {}, "line 3, column 'age', must be a finite"),
    "underscores": (nodes("a,,1", "b,,1_000", "c,,3"), EDGES, {}, "line 3, column 'age', must be .* got '1_000'"),
    "currency": (nodes("a,,1", "b,,$5", "c,,3"), EDGES, {}, "line 3, column 'age', must be .* got '\\$5'"),
    "per cent": (nodes("a,,1", "b,,5%", "c,,3"), EDGES, {}, "line 3, column 'age', must be .* got '5%'"),
    "zeros before a number": (
        nodes("a,,11", "b,,07", "c,,13"),
        EDGES,
        {},
        "line 3, column 'age', .* among the categ",
    ),
    # edges
    "empty edges": (NODES, "", {}, "edges.csv must start with a line of column names"),
    "no edge": (
        NODES,
        "source,target\n",
        {},
        "edges.csv must have at least one row, .*; leave out a file of no edges",
    ),
    "no source": (NODES, edges("a,b", header="from,target"), {}, "edges.csv must have a column 'source'"),
    "no target": (NODES, edges("a,b", header="source,to"), {}, "edges.csv must have a column 'target'"),
    "no header": (NODES, "a,b\nb,c\n", {}, "edges.csv must have a column 'source', got the columns 'a', 'b'"),
    "other source": (NODES, EDGES, {"source_column": "from"}, "edges.csv must have a column 'from'"),
    "other target": (NODES, EDGES, {"target_column": "to"}, "edges.csv must have a column 'to'"),
    "other weight": (NODES, EDGES, {"weight_column": "w"}, "edges.csv must have a column 'w'"),
    "unknown source": (
        NODES,
        edges("a,b", "z,b"),
        {},
        "edges.csv line 3 must have a source from nodes.csv, got 'z'",
    ),
    "unknown target": (
        NODES,
        edges("a,b", "a,z"),
        {},
        "edges.csv line 3 must have a target from nodes.csv, got 'z'",
    ),
    "number for text": (NODES, edges("1,2"), {}, "edges.csv line 2 must have a source from nodes.csv, got 1"),
    "unknown number": (
        nodes("1,,1", "2,,5"),
        edges("1,2", "2,9"),
        {},
        "edges.csv line 3 must have a target .* got 9",
    ),
    "source missing": (NODES, edges("a,b", ",b"), {}, "edges.csv line 3 must have a source, got ''"),
    "target missing": (NODES, edges("a,b", "a,"), {}, "edges.csv line 3 must have a target, got ''"),
    "edge too long": (NODES, edges("a,b", "a,b,c"), {}, "edges.csv line 3 must have 2 values, got 3"),
    "edge twice": (
        NODES,
        edges("a,b", "b,c", "a,b"),
        {},
        "every edge must be listed once, got edges.csv line 4 again",
    ),
    "two separators of edges": (
        NODES,
        "source;target,weight\na;b,1\n",
        {},
        "edges.csv must separate its columns by",
    ),
    "edges in UTF-16": (NODES, EDGES.encode("utf-16"), {}, "edges.csv must be a CSV file in UTF-8"),
}
WEIGHTS = {
    "heavy": "must be a finite number, got 'heavy'",
    "": "must be a finite number, got ''",
    "-1": "must be finite and not negative, got -1",
    "nan": "must be a finite number",
    "inf": "must be a finite number, got inf",
    "1e40": "3.4e38 is the largest",
    "1,5": "must have 3 values, got 4",
    "true": "must be a finite number, got 'true'",
}
for weight, words in WEIGHTS.items():
    listed = edges("a,b,1", f"b,c,{weight}", header="source,target,weight")
    TEXTS[f"weight {weight or 'missing'}"] = (
        NODES,
        listed,
        {"weight_column": "weight"},
        f"edges.csv line 3.*{words}",
    )


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("case", TEXTS)
def test_text_files(tmp_path: Path, case: str) -> None:
    node_text, edge_text, options, words = TEXTS[case]
    paths = write(tmp_path, "nodes.csv", node_text), write(tmp_path, "edges.csv", edge_text)
    with pytest.raises((DataError, ConfigError), match=words) as caught:
        FeatureSchema.fit(read_batch(*paths, **options))
    one_sentence(caught.value)


def gz(content: bytes) -> Callable[[Path], Path]:
    return lambda folder: write(folder, "nodes.csv.gz", content)


def table(**columns: Any) -> Callable[[Path], Path]:
    def written(folder: Path) -> Path:
        parquet.write_table(arrow.table(columns), folder / "nodes.parquet")
        return folder / "nodes.parquet"

    return written


def doubled(folder: Path) -> Path:
    columns = [arrow.array(["a"]), arrow.array([1]), arrow.array([2])]
    parquet.write_table(arrow.Table.from_arrays(columns, names=["id", "x", "x"]), folder / "nodes.parquet")
    return folder / "nodes.parquet"


def folder_of_that_name(folder: Path) -> Path:
    (folder / "nodes.csv").mkdir()
    return folder / "nodes.csv"


FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no such file": (lambda folder: folder / "nodes.csv", "must be a CSV or Parquet file, got no such file"),
    "a folder": (folder_of_that_name, "must be a CSV or Parquet file, got a folder"),
    "another suffix": (lambda folder: write(folder, "nodes.xlsx", b"PK"), "a table must end in .csv, .csv.gz"),
    "no suffix": (lambda folder: write(folder, "nodes", NODES), "a table must end in .csv"),
    "gzip of something else": (gz(NODES.encode()), "nodes.csv.gz must be a complete gzip file"),
    "half a gzip": (gz(gzip.compress(NODES.encode() * 50)[:-40]), "nodes.csv.gz must be a complete gzip file"),
    "gzip with other bytes": (gz(gzip.compress(NODES.encode())[:14] + b"\xff" * 30), "nodes.csv.gz must be"),
    "an empty gzip": (gz(b""), "nodes.csv.gz must"),
    "a gzip of nothing": (gz(gzip.compress(b"")), "nodes.csv.gz must start with a line of column names"),
    "text named parquet": (lambda folder: write(folder, "nodes.parquet", NODES), "must be a Parquet file"),
    "empty parquet": (lambda folder: write(folder, "nodes.parquet", b""), "must be a Parquet file"),
    "half a parquet": (
        lambda folder: write(folder, "nodes.parquet", b"PAR1" + b"\0" * 99),
        "must be a Parquet file",
    ),
    "parquet without rows": (table(id=arrow.array([], arrow.string())), "nodes.parquet must have at least one row"),
    "parquet without ids": (table(key=["a"]), "nodes.parquet must have a column 'id', got the columns 'key'"),
    "parquet with a column twice": (doubled, "nodes.parquet must name every column once"),
    "parquet id missing": (table(id=["a", None]), "nodes.parquet row 2 must have an id"),
    "parquet number missing": (table(id=[1, None]), "nodes.parquet row 2 must have an id"),
    "parquet id twice": (
        table(id=[5, 5]),
        "nodes.parquet row 2 must have an id of its own, got 5 of nodes.parquet r",
    ),
    "parquet float ids": (table(id=[1.0, float("nan")]), "nodes.parquet row 2 must have an id"),
    "parquet labels of lists": (table(id=[1], label=[[1]]), "nodes.parquet row 1, column 'label', must be a name"),
    "parquet labels of dates": (
        table(id=[1], label=arrow.array([0], arrow.date32())),
        "nodes.parquet row 1, column 'label', must be a name",
    ),
    "parquet label with a fraction": (table(id=[1, 2], label=[1.0, 1.5]), "row 2, column 'label', must be a name"),
    "parquet negative label": (table(id=[1, 2], label=[1, -1]), "nodes.parquet row 2, column 'label', must be"),
    "parquet infinite": (
        table(id=[1, 2], x=[1.0, float("inf")]),
        "nodes.parquet row 2, column 'x', must be a finite",
    ),
    "parquet time of text": (table(id=[1, 2], time=["1", "soon"]), "nodes.parquet row 2, column 'time', must be"),
    "parquet time missing": (
        table(id=[1, 2], time=arrow.array([5, None], arrow.timestamp("s"))),
        "nodes.parquet row 2, column 'time', must be a finite number or a date",
    ),
    "parquet time of flags": (table(id=[1, 2], time=[None, None]), "row 1, column 'time', must be a finite number"),
}


@pytest.mark.parametrize("case", FILES)
def test_files(tmp_path: Path, case: str) -> None:
    make, words = FILES[case]
    path = make(tmp_path)
    with pytest.raises(DataError, match=words) as caught:
        FeatureSchema.fit(read_batch(path))
    one_sentence(caught.value)


def test_there_are_enough_of_them() -> None:
    assert len(TEXTS) + len(FILES) >= 100


@settings(max_examples=200)
@given(st.data())
def test_damaged_files_never_end_in_another_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Bytes changed, cut out or put in at random: a batch with finite features, or one sentence."""
    folder = tmp_path_factory.mktemp("damaged")
    content = bytearray(
        ("id,label,age,plan\n" + "".join(f"n{k},c{k % 3},{k * 1.5},{'ab'[k % 2]}\n" for k in range(12))).encode()
    )
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        new = data.draw(
            st.sampled_from(
                [b"", b",", b";", b'"', b"\n", b"\r", b"\0", b"\xff", b"-", b"e", b"inf", b"nan", b"\t"]
            )
        )
        content[at : at + data.draw(st.integers(0, 3))] = new
    path = write(folder, "nodes.csv", bytes(content))
    said = None
    try:
        found = read_batch(path)
        schema = FeatureSchema.fit(found)
    except DataError as error:
        said = str(error)
    if said is not None:
        assert "nodes.csv" in said
        assert "\n" not in said
        return
    assert np.isfinite(np.asarray(schema.encode(found))).all()
    assert len(found.labels) == found.n_nodes == found.adjacency.shape[0]
