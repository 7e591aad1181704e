"""Tables from files: separators, compression, numbers kept as they are, Parquet."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from evergraph.errors import DataError
from evergraph.tables import FeatureSchema, read_batch, read_table, table_from_text
from evergraph.tables import reading as reading_module
from evergraph.tables.reading import column_names, read_chunks

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def written(folder: Path, text: str, name: str = "nodes.csv") -> Path:
    path = folder / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "separator"),
    [
        ("t.csv", ","),
        ("t.csv", ";"),
        ("t.csv", "\t"),
        ("t.csv.gz", ","),
        ("t.csv.gz", ";"),
        ("t.tsv", "\t"),
        ("T.TSV.GZ", "\t"),
    ],
)
def test_the_separator_is_found(tmp_path: Path, name: str, separator: str) -> None:
    name = name.lower() if name.endswith("GZ") else name
    text = "id|a|b\nx|1|2.5\ny|-3|0.5\n".replace("|", separator)
    table = read_table(written(tmp_path, text, name))
    assert list(table.columns) == ["id", "a", "b"]
    assert table.columns["a"].dtype == np.int64
    assert table.columns["a"].tolist() == [1, -3]
    assert table.values("b").numbers is not None
    assert table.where(1) == f"{name} line 3"


def test_a_quoted_name_may_hold_another_separator(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, 'id,"a;b"\nx,1\n'))
    assert list(table.columns) == ["id", "a;b"]
    with pytest.raises(DataError, match="got both a comma and a semicolon in the line of column names"):
        read_table(written(tmp_path, "id,a;b\nx,1\n"))


def test_text_that_only_looks_like_a_number_stays_text(tmp_path: Path) -> None:
    text = "id,zip,big,under\n007,0123,99999999999999999999,1_000\n8,4567,1,2\n"
    table = read_table(written(tmp_path, text))
    assert table.columns["id"].tolist() == ["007", "8"]
    assert table.columns["zip"].tolist() == ["0123", "4567"]
    assert table.columns["big"].tolist() == ["99999999999999999999", "1"]
    assert table.columns["under"].tolist() == ["1_000", "2"]
    loose = read_table(written(tmp_path, text), verbatim=())
    assert loose.columns["zip"].tolist() == ["0123", "4567"]
    assert loose.columns["under"].tolist() == ["1_000", "2"]
    assert loose.columns["big"].tolist() == [1e20, 1]


def test_a_long_file_is_read_in_parts_that_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers before text in one column, whole numbers before others, gaps."""
    lines = [f"{k},{k if k < 5 else k + 0.5},{k if k != 7 else 'tall'},{'' if k == 3 else k}\n" for k in range(11)]
    path = written(tmp_path, "id,a,b,c\n" + "".join(lines))
    whole = read_table(path, verbatim=("id",))
    monkeypatch.setattr(reading_module, "CHUNK", 2)
    parts = read_table(path, verbatim=("id",))
    assert parts.columns["a"].tolist() == whole.columns["a"].tolist()
    assert parts.columns["b"].tolist() == whole.columns["b"].tolist()
    assert parts.columns["id"].dtype == np.int64
    np.testing.assert_array_equal(parts.columns["c"], whole.columns["c"])
    assert parts.lines is not None
    assert parts.lines.tolist() == list(range(2, 13))


def test_parquet_types_become_plain_ones(tmp_path: Path) -> None:
    columns = {
        "id": arrow.array([1, None, 2**53 + 1], arrow.int64()),
        "word": arrow.array(["a", "b", None]).dictionary_encode(),
        "code": arrow.array([10, 20, None]).dictionary_encode(),
        "flag": arrow.array([True, None, False]),
        "day": arrow.array([1, 2, None], arrow.timestamp("us", tz="UTC")),
        "list": arrow.array([[1.0], [2.0], None]),
    }
    parquet.write_table(arrow.table(columns), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.columns["id"].tolist() == [1, None, 2**53 + 1]
    assert table.columns["word"].tolist() == ["a", "b", None]
    assert table.columns["code"].tolist() == [10, 20, None]
    assert table.categorical == {"word", "code"}
    contents = [table.values(name).content.value for name in columns]
    assert contents == ["numbers", "text", "numbers", "flags", "dates", "other"]
    assert table.where(0) == "t.parquet row 1"
    parquet.write_table(arrow.table(columns), tmp_path / "bare.parquet", store_schema=False)
    assert read_table(tmp_path / "bare.parquet").categorical == frozenset()


def test_a_category_of_numbers_in_parquet_is_a_category(tmp_path: Path) -> None:
    codes = arrow.array([10, 20, 10, 30]).dictionary_encode()
    parquet.write_table(arrow.table({"id": [1, 2, 3, 4], "code": codes}), tmp_path / "nodes.parquet")
    batch = read_batch(tmp_path / "nodes.parquet")
    assert FeatureSchema.fit(batch).feature_names == ("code=10", "code=20", "code=30")
    assert FeatureSchema.fit(batch, numbers=["code"]).feature_names == ("code",)


@pytest.mark.parametrize(
    ("column", "content", "missing"),
    [
        (["1", "2.5", ""], "numbers", 1),
        (["1", "NA", "n/a"], "numbers", 2),
        (["true", "False", ""], "flags", 1),
        (["2024-01-31", "2024-02-01T10:00:00", ""], "dates", 1),
        (["31.01.2024", "1.2.2024"], "dates", 0),
        (["NA", "DE", "FR"], "text", 0),
        (["01", "02"], "text", 0),
        (["1", "x"], "text", 0),
        ([True, None], "flags", 1),
        ([1, 2.5, None], "numbers", 1),
        ([1, "x"], "text", 0),
        ([[1], [2]], "other", 0),
        ([None, float("nan")], "text", 2),
        ([1 + 2j], "other", 0),
    ],
)
def test_the_content_of_a_column_is_told(column: list[object], content: str, missing: int) -> None:
    from evergraph.tables.values import understood

    values = np.empty(len(column), dtype=object)
    values[:] = column
    found = understood(values)
    assert found.content.value == content
    assert int(found.missing.sum()) == missing


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_pasted_table_is_read_as_its_file_is(tmp_path: Path, separator: str) -> None:
    text = '\ufeffid,x,word\r\n007,1.5,a\r\n\r\nb,,"c d"\r\n'.replace(",", separator)
    path = tmp_path / "nodes.csv"
    path.write_bytes(text.encode())
    pasted, read = table_from_text(text, "nodes", verbatim={"id"}), read_table(path, verbatim={"id"})
    assert list(pasted.columns) == list(read.columns)
    for name, column in read.columns.items():
        np.testing.assert_array_equal(pasted.columns[name], column)
    assert pasted.lines is not None
    assert read.lines is not None
    assert pasted.lines.tolist() == read.lines.tolist() == [2, 4]
    assert (pasted.name, pasted.path) == ("nodes", None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the edges must start with a line of column names"),
        ("a,b", "the edges must have at least one row, got none instead; add rows to it"),
        ("a,b\n1", "the edges line 2 must have 2 values, got 1"),
        ('a,b\n"1,2', "the edges must be a table in CSV, got another format"),
    ],
)
def test_a_pasted_table_that_is_none(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        table_from_text(text, "the edges")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_chunks_are_the_table_in_parts(tmp_path: Path, suffix: str, rows: int) -> None:
    import pandas as pd

    frame = pd.DataFrame({"id": ["a", "b", "c", "d", "e"], "size": [1.5, 2.0, 3.25, -1.0, 0.5]})
    path = tmp_path / f"nodes{suffix}"
    frame.to_parquet(path, row_group_size=3) if suffix == ".parquet" else frame.to_csv(path, index=False)
    whole, parts = read_table(path), list(read_chunks(path, rows))
    assert all(part.n_rows <= rows for part in parts)
    assert column_names(path) == list(whole.columns)
    for name in whole.columns:
        found = np.concatenate([part.column(name) for part in parts])
        assert list(map(str, found.tolist())) == list(map(str, whole.column(name).tolist()))
    places = [part.where(row) for part in parts for row in range(part.n_rows)]
    assert places == [whole.where(row) for row in range(whole.n_rows)]
