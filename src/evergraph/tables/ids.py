"""Ids of nodes: whole numbers or text, each once, however a file writes them."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.tables.roles import (
    ID,
)
from evergraph.tables.table import Table
from evergraph.tables.values import MISSING, is_missing

FLOATED = re.compile(r"-?(0|[1-9][0-9]*)\.0")
"""A whole number as it is written in a column of numbers with a point."""


def checked_ids(column: NDArray[Any], table: Table, name: str = ID) -> NDArray[Any]:
    """The ids of a table's rows, int64 or text; one that is missing or there twice raises."""
    ids = comparable(column, table, name)
    _forbid_repeated_ids(ids, table)
    return ids


def comparable(
    column: NDArray[Any], table: Table | None = None, name: str = ID, *, floated: bool = True
) -> NDArray[Any]:
    """Ids as int64 where all are whole numbers, else as text without blanks around it; a missing one raises.

    floated: where all text is like 3.0, it becomes 3; false for a part of a column, which cannot tell.
    """
    if column.dtype.kind in "iu" and (column.dtype != np.uint64 or not len(column) or column.max() < 2**63):
        return column.astype(np.int64)
    values = column.tolist()
    if set(map(type, values)) == {str}:
        text = [value.strip() for value in values]
        if floated and all(map(FLOATED.fullmatch, text)):  # whole numbers that were in one column with a gap once
            text = [value.removesuffix(".0") for value in text]
        if MISSING.isdisjoint(text):
            return np.array([*text, None], dtype=object)[:-1]
    for row, value in enumerate(values):
        if is_missing(value):
            place = f"row {row + 1} of the ids" if table is None else table.where(row)
            article = "an" if name[:1] in "aeio" else "a"
            raise DataError(f"{place} must have {article} {name}, got '' instead; fill it in or remove the row")
    whole = [_whole(value) for value in values]
    if values and all(value is not None for value in whole):
        return np.array(whole, dtype=np.int64)
    text = [
        str(value).strip() if number is None else str(number) for value, number in zip(values, whole, strict=True)
    ]
    return np.array([*text, None], dtype=object)[:-1]


def _whole(value: object) -> int | None:
    """A number that is whole and fits 64 bits; None for anything else, text too."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) < 2**63 and float(value).is_integer() else None


def _forbid_repeated_ids(ids: NDArray[Any], table: Table) -> None:
    if ids.dtype.kind == "i":
        order = np.argsort(ids, kind="stable")
        again = np.flatnonzero(np.diff(ids[order]) == 0)
        pairs = order[np.stack([again, again + 1], axis=1)] if len(again) else np.empty((0, 2), dtype=np.int64)
        first, row = pairs[pairs[:, 1].argmin()].tolist() if len(pairs) else (-1, -1)
    else:
        rows: dict[str, int] = {}
        first, row = next(
            ((rows[node], at) for at, node in enumerate(ids.tolist()) if rows.setdefault(node, at) != at), (-1, -1)
        )
    if row >= 0:
        shown = ids[row].item() if isinstance(ids[row], np.generic) else ids[row]
        raise repeated_id(table.where(row), shown, table.where(first))


def repeated_id(place: str, node: object, first: str) -> DataError:
    """The error about an id that is there twice."""
    return DataError(f"{place} must have an id of its own, got {node!r} of {first} instead")


def rows_of(ids: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.int64]:
    """The row of each wanted id, -1 where there is none."""
    if not len(ids):
        return np.full(len(wanted), -1, dtype=np.int64)
    if ids.dtype.kind == "i" and wanted.dtype.kind == "i":
        order = np.argsort(ids, kind="stable")
        place = np.minimum(np.searchsorted(ids[order], wanted), len(ids) - 1)
        return np.where(ids[order[place]] == wanted, order[place], -1)
    rows = {str(node): row for row, node in enumerate(ids.tolist())}
    found = (rows.get(text, rows.get(otherwise(text), -1)) for text in map(str, wanted.tolist()))
    return np.fromiter(found, dtype=np.int64, count=len(wanted))


def otherwise(text: str) -> str:
    """The other way to write a whole number: 3.0 for 3, and 3 for 3.0."""
    return text.removesuffix(".0") if FLOATED.fullmatch(text) else f"{text}.0"
