"""Batches from pandas frames, which are known by what they have: pandas is not imported."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.tables.batch import Batch, batch_from_tables
from evergraph.tables.edges import Duplicates
from evergraph.tables.ids import checked_ids
from evergraph.tables.roles import ID, NO_NODES, SOURCE, TARGET
from evergraph.tables.table import Table


def batch_from_frames(
    nodes: Any,
    edges: Any = None,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    time_column: str | None = None,
    ignore: Collection[str] = (),
    source_column: str = SOURCE,
    target_column: str = TARGET,
    weight_column: str | None = None,
    directed: bool = False,
    duplicates: Duplicates = Duplicates.ERROR,
    label_optional: bool = False,
) -> Batch:
    """Pandas frames of nodes and edges; the ids are the column `id`, or the index where there is none.

    An index 0, 1, 2, … numbers rows and names no node.
    """
    table = table_from_frame(nodes, "the node frame")
    ids, numbered = None, False
    if id_column is None and ID not in table.columns:
        ids = checked_ids(np.asarray(nodes.index.to_numpy()), table)
        numbered = ids.dtype.kind == "i" and np.array_equal(ids, np.arange(len(ids)))
    made = batch_from_tables(
        table,
        None if edges is None else table_from_frame(edges, "the edge frame", "give None for no edges"),
        ids=ids,
        id_column=id_column,
        label_column=label_column,
        time_column=time_column,
        ignore=ignore,
        source_column=source_column,
        target_column=target_column,
        weight_column=weight_column,
        directed=directed,
        duplicates=duplicates,
        label_optional=label_optional,
    )
    return replace(made, named=not numbered)


def is_frame(value: object) -> bool:
    return hasattr(value, "columns") and hasattr(value, "index") and hasattr(value, "iloc")


def table_from_frame(frame: Any, name: str, if_empty: str = NO_NODES) -> Table:
    """A pandas frame as a table; types of pandas become what they stand for, and categories are remembered."""
    if not is_frame(frame):
        raise DataError(f"{name} must be a pandas DataFrame, got {type(frame).__name__} instead")
    names = [str(column) for column in frame.columns]
    levels = getattr(frame.columns, "nlevels", 1)
    if levels > 1:
        one = tuple(map(str, frame.columns[0]))
        raise DataError(
            f"{name} must have plain names of columns, got names of {levels} levels such as {one} instead; "
            "give each column one name (frame.columns = [...])"
        )
    if len(set(names)) < len(names):
        raise DataError(f"{name} must name every column once, got {', '.join(names)} instead")
    if not len(frame):
        raise DataError(f"{name} must have at least one row, got none instead; {if_empty}")
    series = {column: frame.iloc[:, at] for at, column in enumerate(names)}
    typed = frozenset(column for column, each in series.items() if hasattr(each.dtype, "categories"))
    return Table(name, {column: _series(each) for column, each in series.items()}, categorical=typed)


def _series(series: Any) -> NDArray[Any]:
    """A column of pandas as numpy: one of numpy's own types as it is, any other as objects."""
    if isinstance(series.dtype, np.dtype):
        return np.asarray(series.to_numpy())
    if hasattr(series.dtype, "tz"):
        return np.asarray(series.to_numpy(dtype="datetime64[us]"))
    return np.asarray(series.astype(object).to_numpy(), dtype=object)
