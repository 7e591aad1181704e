"""Reading tables: CSV with commas, semicolons or tabs, also gzipped, and Parquet."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from evergraph.budget import free_memory
from evergraph.errors import DataError
from evergraph.limits import MOST_LINE, LimitedLines, Refused
from evergraph.tables.bounds import bytes_held, checked_names, too_large
from evergraph.tables.parquet import opened_parquet, parquet_chunks, parquet_names, read_parquet
from evergraph.tables.table import Table
from evergraph.tables.values import is_missing

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
CHUNK = 50_000
"""Lines that are read as text before their numbers are stored as numbers."""
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
        table = read_parquet(path) if suffix == ".parquet" else _read_csv(path, suffix, verbatim)
    return _filled(table, if_empty)


def read_chunks(path: str | Path, rows: int, *, verbatim: Collection[str] | None = None) -> Iterator[Table]:
    """The table in a file as tables of at most so many rows, one after the other; see `read_table`.

    Numbers are told from text in each of them by itself. A file without rows has none.
    """
    path = Path(path)
    suffix = _checked_suffix(path)
    with _readable(path):
        if suffix == ".parquet":
            yield from parquet_chunks(path, rows)
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
            return parquet_names(path, opened_parquet(path)[0].schema_arrow.names)
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
    except (csv.Error, Refused) as error:
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
    except (UnicodeDecodeError, csv.Error, Refused) as error:
        raise DataError(f"{path.name} must be a CSV file in UTF-8, got another format instead ({error})") from None


def _table(
    name: str, path: Path | None, stream: TextIO, separator: str | None, verbatim: Collection[str] | None
) -> Table:
    """The table in a stream of text; separator: None where the line of column names has to tell."""
    columns, lines = _parsed(name, _csv_reader(name, stream, separator), verbatim)
    return Table(name, columns, lines, path)


def _csv_reader(name: str, stream: TextIO, separator: str | None) -> "_Rows":
    lines = LimitedLines(stream)
    first = next(lines, "")
    separator = _separator(name, first) if separator is None else separator
    return _Rows(_rest(first, lines), lines, separator)


class _Rows:
    """The rows of a CSV text, with the number of the last line and of the characters so far."""

    def __init__(self, text: Iterator[str], lines: LimitedLines, separator: str):
        self._lines = lines
        self._reader = csv.reader(text, delimiter=separator, skipinitialspace=True, strict=True)

    def __iter__(self) -> Iterator[list[str]]:
        return self._reader

    @property
    def line_num(self) -> int:
        return self._reader.line_num

    @property
    def characters(self) -> int:
        return self._lines.characters


def _opened(path: Path) -> TextIO:
    if path.suffix.lower() == ".gz":
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _rest(first: str, lines: LimitedLines) -> Iterator[str]:
    yield from (first,) if first else ()
    yield from lines


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


def _header(name: str, reader: _Rows) -> list[str]:
    header = [column.strip() for column in next(iter(reader), [])]
    if not header:
        raise DataError(f"{name} must start with a line of column names, got an empty file instead")
    return checked_names(name, header)


def _parsed(
    name: str, reader: _Rows, verbatim: Collection[str] | None
) -> tuple[dict[str, NDArray[Any]], NDArray[np.int64]]:
    """Header and rows of a CSV reader, each column as one."""
    held, most = 0, free_memory() // 2
    parts: dict[str, list[NDArray[Any]]] = {}
    lines: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    for columns, places in _chunks(name, reader, verbatim, CHUNK):
        lines.append(places)
        held += sum(map(bytes_held, columns.values()))
        if held > most:
            raise too_large(name, most)
        for column, part in columns.items():
            parts.setdefault(column, []).append(part)
    return {column: _joined(part) for column, part in parts.items()}, np.concatenate(lines)


def _chunks(
    name: str, reader: _Rows, verbatim: Collection[str] | None, size: int
) -> Iterator[tuple[dict[str, NDArray[Any]], NDArray[np.int64]]]:
    """The columns and line numbers of at most so many rows; a row of another length than the header raises."""
    header = _header(name, reader)
    done = reader.characters
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
        if len(rows) == size or reader.characters - done > MOST_LINE:
            yield stored()
            done = reader.characters
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
