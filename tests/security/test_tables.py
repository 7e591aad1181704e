"""Tables that explode: long lines, many columns, many rows, and texts that are there a million times."""

import gzip
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest

from evergraph.errors import DataError
from evergraph.tables import read_table, table_from_text
from evergraph.tables.reading import column_names, read_chunks
from helpers import one_sentence

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

Within = Callable[[int], AbstractContextManager[None]]
MB = 1 << 20


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of at most 1 MB, so that a longer one is soon written."""
    for module in ("limits", "tables.reading"):
        monkeypatch.setattr(f"evergraph.{module}.MOST_LINE", MB)


def zipped(path: Path, start: bytes, part: bytes, times: int) -> Path:
    with gzip.open(path, "wb", 1) as file:
        file.write(start)
        for _ in range(times):
            file.write(part)
    return path


@pytest.mark.parametrize("start", [b"", b"id,label,a\n0,a,", b'id,label,a\n0,a,"'], ids=["header", "row", "quoted"])
def test_a_line_without_end_is_refused_in_little_memory(
    tmp_path: Path, start: bytes, short_lines: None, within: Within
) -> None:
    path = zipped(tmp_path / "nodes.csv.gz", start, b"0" * MB, 64)
    for read in (read_table, lambda one: list(read_chunks(one, 10)), column_names if not start else read_table):
        with within(16 * MB), pytest.raises(DataError, match="characters are wanted, got a longer one") as caught:
            read(path)
        one_sentence(caught.value)


def test_a_quote_without_end_is_refused_in_little_memory(tmp_path: Path, within: Within) -> None:
    path = zipped(tmp_path / "nodes.csv.gz", b'id,label,a\n0,a,"', b"0\n" * (MB // 2), 64)
    with within(16 * MB), pytest.raises(DataError, match="must be a CSV file"):
        read_table(path)


def test_rows_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evergraph.tables.reading.free_memory", lambda: 16 * MB)
    path = zipped(tmp_path / "nodes.csv.gz", b"id,label,a\n", b"aa,bb,ccc\n" * 1000, 70)
    with pytest.raises(DataError, match=r"fits into memory.*evergraph data convert") as caught:
        read_table(path)
    one_sentence(caught.value)
    assert sum(table.n_rows for table in read_chunks(path, 10_000)) == 70_000  # in blocks it can be read


def test_wide_rows_are_stored_before_they_are_many(tmp_path: Path, short_lines: None) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("a,b\n" + f"{'x' * 50_000},y\n" * 100)
    assert max(table.n_rows for table in read_chunks(path, 1000)) < 30
    assert read_table(path).n_rows == 100


@pytest.mark.parametrize("name", ["nodes.csv", "nodes.parquet"])
def test_more_columns_than_any_table_has_are_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evergraph.tables.bounds.MOST_COLUMNS", 1000)
    names = [f"c{at}" for at in range(1001)]
    if name == "nodes.csv":
        (tmp_path / name).write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    else:
        parquet.write_table(arrow.table({one: [1] for one in names}), tmp_path / name)
    for read in (read_table, column_names, lambda one: list(read_chunks(one, 10))):
        with pytest.raises(DataError, match=r"at most 1,000 columns, got 1,001") as caught:
            read(tmp_path / name)
        one_sentence(caught.value)
    with pytest.raises(DataError, match="at most 1,000 columns"):
        table_from_text(",".join(names), "nodes")


def test_a_message_about_columns_is_short() -> None:
    with pytest.raises(DataError, match="and 9,989 more") as caught:
        table_from_text(",".join(["x" * 100] * 10_001), "nodes")
    assert len(str(caught.value)) < 1000


def test_parquet_of_a_billion_equal_rows_is_refused(tmp_path: Path, little_memory: int, within: Within) -> None:
    path = tmp_path / "nodes.parquet"
    zeros = arrow.table({"id": np.zeros(2_000_000, dtype=np.int64), "a": np.zeros(2_000_000, dtype=np.int64)})
    with parquet.ParquetWriter(path, zeros.schema, compression="zstd") as writer:
        for _ in range(4):
            writer.write_table(zeros)
    assert path.stat().st_size < MB
    before = arrow.total_allocated_bytes()
    with within(8 * MB), pytest.raises(DataError, match="fits into memory") as caught:
        read_table(path)
    one_sentence(caught.value)
    assert arrow.total_allocated_bytes() - before < 8 * MB


def test_parquet_of_one_long_text_a_million_times_takes_it_once(tmp_path: Path, within: Within) -> None:
    path, rows = tmp_path / "nodes.parquet", 20_000
    long = arrow.DictionaryArray.from_arrays(arrow.array(np.zeros(rows, dtype=np.int32)), ["x" * MB])
    parquet.write_table(arrow.table({"id": range(rows), "label": long}), path, compression="zstd")
    assert path.stat().st_size < MB
    arrow.default_memory_pool().release_unused()
    with within(64 * MB):
        table = read_table(path)
    assert table.n_rows == rows
    assert len(set(map(id, table.columns["label"]))) == 1
    assert arrow.default_memory_pool().max_memory() < 10 * rows * 1000  # copied it would be 20 GB


@pytest.mark.parametrize("kind", ["string", "large_string"])
def test_texts_and_gaps_are_read_as_before(tmp_path: Path, kind: str) -> None:
    words = arrow.array(["a", None, "b", "a", ""], type=getattr(arrow, kind)())
    parquet.write_table(arrow.table({"id": range(5), "word": words}), tmp_path / "nodes.parquet", row_group_size=2)
    assert read_table(tmp_path / "nodes.parquet").columns["word"].tolist() == ["a", None, "b", "a", ""]
    parts = [table.columns["word"].tolist() for table in read_chunks(tmp_path / "nodes.parquet", 3)]
    assert [word for part in parts for word in part] == ["a", None, "b", "a", ""]


def test_parquet_with_text_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    buffers = [None, arrow.py_buffer(np.arange(3, dtype=np.int32).tobytes()), arrow.py_buffer(b"\xff\xff")]
    broken = arrow.Array.from_buffers(arrow.string(), 2, buffers)
    parquet.write_table(arrow.table({"id": [1, 2], "a": broken}), tmp_path / "nodes.parquet")
    for read in (read_table, lambda one: list(read_chunks(one, 10))):
        with pytest.raises(DataError, match="must be a Parquet file") as caught:
            read(tmp_path / "nodes.parquet")
        one_sentence(caught.value)
