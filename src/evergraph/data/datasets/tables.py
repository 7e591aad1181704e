"""Tables in CSV or Parquet files, as columns whose every complaint names the file and the line."""

import csv
import gzip
import io
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import DataError


@dataclass(frozen=True)
class Table:
    """Columns of equal length; `lines` are the line numbers of a text file, None for Parquet."""

    path: Path
    columns: dict[str, NDArray[Any]]
    lines: NDArray[np.int64] | None

    def where(self, row: int) -> str:
        """The place of a row, for a message."""
        place = f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"
        return f"{self.path.name} {place}"

    def column(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            have = ", ".join(self.columns)
            raise DataError(f"{self.path.name} must have a column {name!r}, got the columns {have} instead")
        return self.columns[name]

    def text(self, name: str) -> list[str]:
        """A column as text without blanks around it; an empty or missing value raises."""
        values = ["" if value is None else str(value).strip() for value in self.column(name).tolist()]
        for row, value in enumerate(values):
            if value in ("", "nan", "NaN"):
                raise DataError(
                    f"{self.where(row)} must have a {name}, got {value!r} instead; fill it in or remove the row"
                )
        return values

    def numbers(self, names: Sequence[str]) -> NDArray[np.float32]:
        """Columns as a float32 matrix; anything but a finite number raises."""
        result = np.empty((len(next(iter(self.columns.values()))), len(names)), dtype=np.float32)
        for position, name in enumerate(names):
            with np.errstate(over="ignore"):
                result[:, position] = self.doubles(name)
            if not np.isfinite(result[:, position]).all():
                raise self._not_a_number(name)
        return result

    def doubles(self, name: str) -> NDArray[np.float64]:
        """A column as float64; anything but a finite number raises."""
        try:
            result = self.column(name).astype(np.float64)
        except (TypeError, ValueError):
            raise self._not_a_number(name) from None
        if not np.isfinite(result).all():
            raise self._not_a_number(name)
        return result

    def times(self, name: str) -> NDArray[np.float64] | NDArray[np.int64]:
        """A column of numbers; whole numbers that float64 would round, such as nanoseconds, as int64."""
        values = self.doubles(name)
        if np.abs(values).max() < 2**53:
            return values
        try:
            return self.column(name).astype(np.int64)
        except (ValueError, OverflowError):  # fractions, or more than 64 bits
            return values

    def _not_a_number(self, name: str) -> DataError:
        for row, value in enumerate(self.column(name).tolist()):
            if not _is_finite(value):
                came = f"got {value!r} instead{_limit(value)}"
                return DataError(f"{self.where(row)}, column {name!r}, must be a finite number, {came}")
        return DataError(f"{self.path.name}, column {name!r}, must hold numbers, got another type instead")


def _is_finite(value: object) -> bool:
    """Whether this is a number that 32 bits can hold."""
    try:
        return abs(float(value)) <= float(np.finfo(np.float32).max)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def read_table(path: Path) -> Table:
    """The table in a .csv, .csv.gz or .parquet file, with at least one row."""
    if not path.is_file():
        raise DataError(f"{path} must be a CSV or Parquet file, got no such file instead; check the path")
    table = _read_parquet(path) if path.suffix.lower() == ".parquet" else _read_csv(path)
    if not table.columns or not len(next(iter(table.columns.values()))):
        raise DataError(f"{path.name} must have at least one row, got none instead")
    return table


def _read_csv(path: Path) -> Table:
    try:
        with _opened(path) as stream:
            return _parsed(path, csv.reader(stream, skipinitialspace=True, strict=True))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path.name} must be a complete gzip file, got a broken one instead ({error}); copy it again"
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path.name} must be a CSV file in UTF-8, got another format instead ({error})") from None


def _opened(path: Path) -> TextIO:
    if path.suffix.lower() == ".gz":
        return io.TextIOWrapper(gzip.open(path), encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _parsed(path: Path, reader: Any) -> Table:
    """Header and rows of a CSV reader; a row of another length than the header raises."""
    header = [name.strip() for name in next(reader, [])]
    if not header:
        raise DataError(f"{path.name} must start with a line of column names, got an empty file instead")
    if len(set(header)) < len(header):
        raise DataError(f"{path.name} must name every column once, got {', '.join(header)} instead")
    rows: list[list[str]] = []
    lines: list[int] = []
    for row in reader:
        if not row:
            continue
        if len(row) != len(header):
            raise DataError(
                f"{path.name} line {reader.line_num} must have {len(header)} values, got {len(row)} instead"
            )
        rows.append(row)
        lines.append(reader.line_num)
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    values = {name: np.array(column, dtype=object) for name, column in zip(header, columns, strict=True)}
    return Table(path, values, np.array(lines, dtype=np.int64))


def _read_parquet(path: Path) -> Table:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            f"{path.name} needs pyarrow to be read, got an environment without it instead; "
            "run pip install 'evergraph[parquet]' or save the table as CSV"
        ) from None
    try:
        table = parquet.read_table(path)
    except (arrow.ArrowException, OSError) as error:
        raise DataError(
            f"{path.name} must be a Parquet file, got something else instead ({str(error).splitlines()[0]})"
        ) from None
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    return Table(path, columns, None)


def _limit(value: object) -> str:
    """What a number is told that is finite, but too large."""
    try:
        finite = np.isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    return "; 3.4e38 is the largest that fits 32 bits" if finite else ""
