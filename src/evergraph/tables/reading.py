"""Reading tables: CSV with commas, semicolons or tabs, also gzipped, and Parquet."""

import base64
import csv
import gzip
import io
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.tables.table import Table
from evergraph.tables.values import is_missing

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
CHUNK = 50_000
"""Lines that are read as text before their numbers are stored as numbers."""
PARQUET_BUFFER = 1 << 16
"""Bytes that are read of a Parquet column at a time."""
_CODE = re.compile(r"(?m)^\s*[+-]?0\d|_")
"""Text that Python reads as a number and people do not: zeros before one, such as 007, or 1_000."""
SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}


def table_suffix(path: Path) -> str | None:
    """The suffix by which a file is a table, in small letters; None where it is none."""
    name = path.name.lower()
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def read_table(
    path: str | Path, *, verbatim: Collection[str] | None = None, if_empty: str = "add rows to it"
) -> Table:
    """The table in a file of one of SUFFIXES, with at least one row; if_empty: what to do where it has none.

    verbatim: the columns whose text must stay as it is in a text file (ids, labels); all unless they are named.
    Whole numbers that are written as Python writes them become int64, of the other columns any numbers float64.
    """
    path = Path(path)
    suffix = _checked_suffix(path)
    with _readable(path):
        table = _read_parquet(path) if suffix == ".parquet" else _read_csv(path, suffix, verbatim)
    return _filled(table, if_empty)


def read_chunks(path: str | Path, rows: int, *, verbatim: Collection[str] | None = None) -> Iterator[Table]:
    """The table in a file as tables of at most so many rows, one after the other; see `read_table`.

    Numbers are told from text in each of them by itself. A file without rows has none.
    """
    path = Path(path)
    suffix = _checked_suffix(path)
    with _readable(path):
        if suffix == ".parquet":
            yield from _parquet_chunks(path, rows)
            return
        with _text_format(path), _opened(path) as stream:
            reader = _csv_reader(path.name, stream, "\t" if suffix.startswith(".tsv") else None)
            for columns, lines in _chunks(path.name, reader, verbatim, rows):
                yield Table(path.name, columns, lines, path)


def find_row(
    path: str | Path, row: int, rows: int, *, verbatim: Collection[str] | None = None
) -> tuple[Table, int]:
    """The chunk that holds a row of a file, and the place of the row in it; the file is read up to there."""
    for table in read_chunks(path, rows, verbatim=verbatim):
        if row < table.n_rows:
            return table, row
        row -= table.n_rows
    raise DataError(f"{path} must stay as it is while it is read, got fewer rows instead; start again")


def column_names(path: str | Path) -> list[str]:
    """The names of the columns of a file; nothing else of it is read."""
    path = Path(path)
    suffix = _checked_suffix(path)
    with _readable(path):
        if suffix == ".parquet":
            return _parquet_names(path, _opened_parquet(path).schema_arrow.names)
        with _text_format(path), _opened(path) as stream:
            return _header(path.name, _csv_reader(path.name, stream, "\t" if suffix.startswith(".tsv") else None))


def no_rows(name: str, advice: str) -> DataError:
    """The error about a table without rows."""
    return DataError(f"{name} must have at least one row, got none instead; {advice}")


def _checked_suffix(path: Path) -> str:
    suffix = table_suffix(path)
    if suffix is None:
        raise DataError(f"a table must end in {', '.join(SUFFIXES)}, got {path} instead; rename or convert it")
    if not path.is_file():
        came = "a folder" if path.is_dir() else "no such file"
        raise DataError(f"{path} must be a CSV or Parquet file, got {came} instead; check the path")
    return suffix


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"{path} must be a readable file, got an error instead ({error.strerror})") from None


def table_from_text(
    text: str, name: str, *, verbatim: Collection[str] | None = None, if_empty: str = "add rows to it"
) -> Table:
    """The table in a text as a person pastes it, as in a CSV file; name: what messages call it."""
    try:
        table = _table(name, None, io.StringIO(text.removeprefix("\ufeff"), newline=""), None, verbatim)
    except csv.Error as error:
        raise DataError(f"{name} must be a table in CSV, got another format instead ({error})") from None
    return _filled(table, if_empty)


def _filled(table: Table, if_empty: str) -> Table:
    if not table.n_rows:
        raise no_rows(table.name, if_empty)
    return table


def _read_csv(path: Path, suffix: str, verbatim: Collection[str] | None) -> Table:
    separator = "\t" if suffix.startswith(".tsv") else None
    with _text_format(path), _opened(path) as stream:
        return _table(path.name, path, stream, separator, verbatim)


@contextmanager
def _text_format(path: Path) -> Iterator[None]:
    """Turn what a file that is no text in CSV leads to into a DataError."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path.name} must be a complete gzip file, got a broken one instead ({error}); copy it again"
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path.name} must be a CSV file in UTF-8, got another format instead ({error})") from None


def _table(
    name: str, path: Path | None, stream: TextIO, separator: str | None, verbatim: Collection[str] | None
) -> Table:
    """The table in a stream of text; separator: None where the line of column names has to tell."""
    columns, lines = _parsed(name, _csv_reader(name, stream, separator), verbatim)
    return Table(name, columns, lines, path)


def _csv_reader(name: str, stream: TextIO, separator: str | None) -> Any:
    first = stream.readline()
    separator = _separator(name, first) if separator is None else separator
    return csv.reader(_rest(first, stream), delimiter=separator, skipinitialspace=True, strict=True)


def _opened(path: Path) -> TextIO:
    if path.suffix.lower() == ".gz":
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _rest(first: str, stream: TextIO) -> Iterator[str]:
    yield from (first,) if first else ()
    yield from stream


def _separator(name: str, header: str) -> str:
    """The separator in the line of column names, outside of quotes; a comma where there is a single column."""
    bare = re.sub(r'"[^"]*"', "", header)
    found = [separator for separator in SEPARATORS if separator in bare]
    if len(found) > 1:
        came = " and ".join(SEPARATORS[separator] for separator in found)
        raise DataError(
            f"{name} must separate its columns by one sign throughout, got both {came} in the line of column names "
            'instead; put names that contain one into quotes ("a;b")'
        )
    return found[0] if found else ","


def _header(name: str, reader: Any) -> list[str]:
    header = [column.strip() for column in next(reader, [])]
    if not header:
        raise DataError(f"{name} must start with a line of column names, got an empty file instead")
    if len(set(header)) < len(header):
        raise DataError(f"{name} must name every column once, got {', '.join(header)} instead")
    return header


def _parsed(
    name: str, reader: Any, verbatim: Collection[str] | None
) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
    """Header and rows of a CSV reader, each column as one."""
    parts: dict[str, list[NDArray[Any]]] = {}
    lines: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    for columns, places in _chunks(name, reader, verbatim, CHUNK):
        lines.append(places)
        for column, part in columns.items():
            parts.setdefault(column, []).append(part)
    return {column: _joined(part) for column, part in parts.items()}, np.concatenate(lines)


def _chunks(
    name: str, reader: Any, verbatim: Collection[str] | None, size: int
) -> Iterator[tuple[dict[str, NDArray[Any]], NDArray[np.int64]]]:
    """The columns and line numbers of so many rows at a time; a row of another length than the header raises."""
    header = _header(name, reader)
    keep = [verbatim is None or column in verbatim for column in header]
    lines: list[int] = []
    rows: list[list[str]] = []

    def stored() -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
        texts = zip(header, zip(*rows, strict=True), keep, strict=True)
        columns = {column: _compact(part, verbatim=kept) for column, part, kept in texts}
        places = np.array(lines, dtype=np.int64)
        rows.clear()
        lines.clear()
        return columns, places

    for row in reader:
        if not row:
            continue
        if len(row) != len(header):
            raise DataError(f"{name} line {reader.line_num} must have {len(header)} values, got {len(row)} instead")
        rows.append(row)
        lines.append(reader.line_num)
        if len(rows) == size:
            yield stored()
    if rows:
        yield stored()


def _compact(texts: tuple[str, ...], *, verbatim: bool) -> NDArray[Any]:
    """Text as numbers where nothing is lost by it, or where nobody needs it as it was; else as it is."""
    column = np.array([*texts, None], dtype=object)[:-1]
    try:
        whole = column.astype(np.int64)
        if [str(value) for value in whole.tolist()] == list(texts):
            return whole
    except (ValueError, OverflowError):
        pass
    if verbatim or _CODE.search("\n".join(texts)):
        return column
    try:
        return np.array([text.strip() or "nan" for text in texts], dtype=object).astype(np.float64)
    except ValueError:
        return column


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """The parts of a column as one: numbers where all are, else text."""
    if any(part.dtype.kind == "O" for part in parts):
        parts = [part if part.dtype.kind == "O" else _as_text(part) for part in parts]
    return np.concatenate(parts)  # whole numbers and others together become float64


def _as_text(numbers: NDArray[Any]) -> NDArray[np.object_]:
    return np.array(["" if is_missing(value) else str(value) for value in numbers.tolist()], dtype=object)


def _read_parquet(path: Path) -> Table:
    file = _opened_parquet(path)
    with _parquet_format(path):
        table, typed = file.read(), _dictionaries(file)
    names = _parquet_names(path, table.column_names)
    columns = {name: _plain(column) for name, column in zip(names, table.columns, strict=True)}
    return Table(path.name, columns, path=path, categorical=typed)


def _parquet_chunks(path: Path, rows: int) -> Iterator[Table]:
    """Rows of a Parquet file, few at a time; of a row group only what is being read is in memory."""
    file = _opened_parquet(path, buffer_size=PARQUET_BUFFER, pre_buffer=False)
    with _parquet_format(path):
        typed = _dictionaries(file)
    names = _parquet_names(path, file.schema_arrow.names)
    batches = file.iter_batches(batch_size=rows, use_threads=False)
    done = 0
    while True:
        with _parquet_format(path):
            batch = next(batches, None)
        if batch is None:
            return
        places = np.arange(done, done + batch.num_rows)
        done += batch.num_rows
        if batch.num_rows:
            columns = {name: _plain(column) for name, column in zip(names, batch.columns, strict=True)}
            yield Table(path.name, columns, path=path, categorical=typed, places=places)


def _opened_parquet(path: Path, **options: Any) -> Any:
    try:
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            f"{path.name} needs pyarrow to be read, got an environment without it instead; "
            "run pip install 'evergraph[parquet]' or save the table as CSV"
        ) from None
    with _parquet_format(path):
        return parquet.ParquetFile(path, **options)


@contextmanager
def _parquet_format(path: Path) -> Iterator[None]:
    """Turn what a file that is no Parquet leads to into a DataError."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"{path.name} must be a Parquet file, got something else instead ({str(error).splitlines()[0]})"
        ) from None


def _parquet_names(path: Path, given: Sequence[str]) -> list[str]:
    names = [name.strip() for name in given]
    if len(set(names)) < len(names):
        raise DataError(f"{path.name} must name every column once, got {', '.join(names)} instead")
    return names


def _dictionaries(file: Any) -> frozenset[str]:
    """The columns that were dictionaries when they were written; arrow reads those of numbers as plain numbers."""
    from pyarrow import BufferReader, ipc, types

    stored = (file.metadata.metadata or {}).get(b"ARROW:schema")
    schema = file.schema_arrow if stored is None else ipc.read_schema(BufferReader(base64.b64decode(stored)))
    return frozenset(field.name.strip() for field in schema if types.is_dictionary(field.type))


def _plain(column: Any) -> NDArray[Any]:
    """A column of Parquet as numpy: dictionaries as their values, whole numbers with gaps as objects."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_integer(column.type) and column.null_count:
        return np.array([*column.to_pylist(), None], dtype=object)[:-1]
    result: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return result
