"""Tables in Parquet, as a whole or in chunks."""

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.budget import free_memory
from evergraph.errors import DataError
from evergraph.tables.bounds import checked_names, too_large
from evergraph.tables.table import Table

BUFFER = 1 << 16
"""Bytes that are read of a column at a time."""
POINTER_BYTES = 8


def read_parquet(path: Path) -> Table:
    """The table in a file; DataError in one sentence for whatever is wrong with it."""
    file, typed = opened_parquet(path)
    names = parquet_names(path, file.schema_arrow.names)
    _forbid_large(path, file.metadata)
    with _parquet_format(path):
        table = file.read()
        columns = {name: _plain(column) for name, column in zip(names, table.columns, strict=True)}
    return Table(path.name, columns, path=path, categorical=typed)


def _forbid_large(path: Path, about: Any) -> None:
    """DataError where the rows, or the bytes once unpacked, are too many; a small file of zeros may have either."""
    most = free_memory() // 2
    unpacked = sum(about.row_group(at).total_byte_size for at in range(about.num_row_groups))
    if max(unpacked, about.num_rows * about.num_columns * POINTER_BYTES) > most:
        raise too_large(path.name, most)


def parquet_chunks(path: Path, rows: int) -> Iterator[Table]:
    """Rows of a Parquet file, few at a time; of a row group only what is being read is in memory."""
    file, typed = opened_parquet(path, buffer_size=BUFFER, pre_buffer=False)
    names = parquet_names(path, file.schema_arrow.names)
    batches = file.iter_batches(batch_size=rows, use_threads=False)
    done = 0
    while True:
        with _parquet_format(path):
            batch = next(batches, None)
            columns = (
                {}
                if batch is None
                else {name: _plain(part) for name, part in zip(names, batch.columns, strict=True)}
            )
        if batch is None:
            return
        places = np.arange(done, done + batch.num_rows)
        done += batch.num_rows
        if batch.num_rows:
            yield Table(path.name, columns, path=path, categorical=typed, places=places)


def opened_parquet(path: Path, **options: Any) -> tuple[Any, frozenset[str]]:
    """The file, and the columns that were dictionaries when they were written.

    Text stays a dictionary while it is read: a long one that is there a million times is otherwise copied as often.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            f"{path.name} needs pyarrow to be read, got an environment without it instead; "
            "run pip install 'evergraph[parquet]' or save the table as CSV"
        ) from None
    from pyarrow import types

    with _parquet_format(path):
        file = parquet.ParquetFile(path, **options)
        texts = [field.name for field in file.schema_arrow if types.is_string(field.type)]
        return parquet.ParquetFile(path, read_dictionary=texts, **options), _dictionaries(file)


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


def parquet_names(path: Path, given: Sequence[str]) -> list[str]:
    """The names of columns, checked."""
    return checked_names(path.name, [name.strip() for name in given])


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
        if types.is_string(column.type.value_type):
            return np.concatenate([np.empty(0, dtype=object), *map(_taken, getattr(column, "chunks", [column]))])
        column = column.cast(column.type.value_type)
    if types.is_integer(column.type) and column.null_count:
        return np.array([*column.to_pylist(), None], dtype=object)[:-1]
    result: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return result


def _taken(part: Any) -> NDArray[np.object_]:
    """The texts of a dictionary array; rows with the same text share it."""
    texts = np.array([*part.dictionary.to_pylist(), None], dtype=object)
    rows: NDArray[np.object_] = texts[part.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)]
    return rows
