"""Batch: nodes with their ids, labels, times and attributes, and the edges between them, as they arrive."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evergraph.errors import ConfigError, DataError
from evergraph.matrices import Features, adjacency_from_edges, forbid_repeated, plain_adjacency
from evergraph.tables.labels import Labels, gaps_by_name, label_values, labels_of
from evergraph.tables.reading import read_table
from evergraph.tables.table import Table
from evergraph.tables.values import MISSING, Content, is_missing, seconds, time_kind

ID, LABEL, TIME, SOURCE, TARGET, WEIGHT = "id", "label", "time", "source", "target", "weight"
"""The columns that are looked for where none are named."""
NO_NODES = "add a row for each node"
"""What to do about a table of no nodes."""
FLOATED = re.compile(r"-?(0|[1-9][0-9]*)\.0")
"""A whole number as it is written in a column of numbers with a point."""


class Duplicates(Enum):
    """What happens to an edge that is listed more than once."""

    ERROR = "error"
    MERGE = "merge"


@dataclass(frozen=True)
class Batch:
    """Nodes and edges that arrive together; what is not encoded yet stays as the person has it."""

    ids: NDArray[Any]
    """(n,) int64 or text, each once."""
    labels: NDArray[np.object_]
    """(n,) objects, None where a label is missing."""
    adjacency: sparse.csr_array
    """(n, n) CSR, float32."""
    attributes: Table | Features | None
    """A table of columns by name, numbers without names, or None."""
    times: NDArray[np.float64] | NDArray[np.int64] | None = None
    """(n,) numbers, None where there are none."""
    directed: bool = False
    """Whether edges have a direction."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Columns that are no attributes, and why."""
    remarks: tuple[str, ...] = ()
    """What the person must know."""
    named: bool = True
    """Whether ids say which node it is in every batch; row numbers do not."""
    column_names: tuple[str, ...] | None = None
    """Of attributes that are encoded already, as those of a graph folder."""

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.ids)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which nodes have a label."""
        return np.fromiter((label is not None for label in self.labels), dtype=bool, count=len(self.labels))

    def id_text(self) -> list[str]:
        """The ids as text: the same in every batch, whether a file had whole numbers or text."""
        return [str(node) for node in self.ids.tolist()]

    def rows(self, ids: ArrayLike) -> NDArray[np.int64]:
        """The rows of some ids; DataError for one that the batch does not have."""
        wanted = comparable(np.asarray(ids))
        found = _rows_of(self.ids, wanted)
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            raise DataError(
                f"every id must be one of the {self.n_nodes:,} nodes, got {wanted[unknown[0]]!s} instead; "
                "give the rows of that node again"
            )
        return found

    def with_labels(self, labels: Labels) -> "Batch":
        """The same nodes with these labels, one for each; None, NaN, "" and -1 are missing ones."""
        return replace(self, labels=labels_of(labels, self.n_nodes))


def read_batch(
    nodes: str | Path,
    edges: str | Path | None = None,
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
    """The batch in two files, CSV or Parquet; see `batch_from_tables`."""
    node_text = {ID if id_column is None else id_column, label_column or LABEL}
    return batch_from_tables(
        read_table(nodes, verbatim=node_text, if_empty=NO_NODES),
        None
        if edges is None
        else read_table(edges, verbatim={source_column, target_column}, if_empty="leave out a file of no edges"),
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


def batch_from_tables(
    nodes: Table,
    edges: Table | None,
    *,
    ids: NDArray[Any] | None = None,
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
    """The nodes of one table and the edges of another.

    Columns `id`, `label` and `time` are looked for where none are named; `ids` takes the place of an id column.
    Edges have no direction and self-loops are left out, as in `evergraph run`; weights count where their column is
    named. label_optional: a named label column may be absent, as in a file that is to be predicted.
    """
    if ids is None:
        id_column = ID if id_column is None else id_column
        advice = "; name the column of ids (--id-column, id_column)"
        ids = checked_ids(nodes.column(id_column, advice), nodes, id_column)
    asked = label_column
    label_column = present_column(nodes, label_column, LABEL, optional=label_optional)
    time_column = present_column(nodes, time_column, TIME, optional=False)
    left_out = left_out_columns(nodes, id_column, label_column, time_column, ignore)
    names = [name for name in nodes.columns if name not in left_out]
    labels = np.full(len(ids), None, dtype=object) if label_column is None else label_values(nodes, label_column)
    times = None if time_column is None else time_values(nodes, time_column)
    said = () if label_column is None else gaps_by_name(nodes, label_column)
    if asked is not None and label_column is None:
        said = (f"{nodes.name} has no column {asked!r}, so no label is compared",)
    adjacency, remarks = edge_adjacency(
        edges,
        ids,
        nodes.name,
        (source_column, target_column, weight_column),
        directed=directed,
        duplicates=duplicates,
    )
    return Batch(
        ids=ids,
        labels=labels,
        adjacency=adjacency,
        attributes=nodes.subset(names) if names else None,
        times=times,
        directed=directed,
        left_out=left_out,
        remarks=(*said, *remarks),
    )


def present_column(table: Table, name: str | None, default: str, *, optional: bool) -> str | None:
    """The name of a column that is there: the one asked for, or the default if there is one."""
    if name is None:
        return default if default in table.columns else None
    if optional and name not in table.columns:
        return None
    table.column(name, f"; mend the name of the {default} column")
    return name


def left_out_columns(
    table: Table, id_column: str | None, label_column: str | None, time_column: str | None, ignore: Collection[str]
) -> dict[str, str]:
    if isinstance(ignore, str):
        raise ConfigError(f"a list of columns to ignore is wanted, got {ignore!r} instead; use [{ignore!r}]")
    for name in ignore:
        table.column(name, "; leave it out of the columns to ignore")
    roles: dict[str | None, str] = {id_column: "the ids", label_column: "the labels", time_column: "the times"}
    roles = {**dict.fromkeys(ignore, "ignored as asked"), **roles}
    return {name: why for name, why in roles.items() if name is not None and name in table.columns}


def time_values(table: Table, name: str) -> NDArray[np.float64] | NDArray[np.int64]:
    """A column of times: numbers as they are, dates as seconds since 1970.

    Whole numbers that float64 would round, such as nanoseconds, are int64.
    """
    values = table.values(name)
    wanted, advice = "a finite number or a date such as 2024-05-31", "; fill it in or remove the row"
    if values.content not in (Content.NUMBERS, Content.FLAGS, Content.DATES):
        _forbid_other_times(table, name, wanted, advice)
        return np.array([seconds(value) for value in table.column(name).tolist()])  # text beside objects
    if values.content is not Content.DATES:
        numbers = table.doubles(name, wanted, advice)
        if np.abs(numbers).max(initial=0) < 2**53:
            return numbers
        try:
            return table.column(name).astype(np.int64)
        except (ValueError, OverflowError):  # fractions, or more than 64 bits
            return numbers
    assert values.numbers is not None
    bad = np.flatnonzero(np.isnan(values.numbers))
    if len(bad):
        raise table.refusal(int(bad[0]), name, wanted, advice)
    return values.numbers


def _forbid_other_times(table: Table, name: str, wanted: str, advice: str) -> None:
    """Raise for the first time that cannot be read, else for the first number among dates or date among numbers."""
    kinds = [time_kind(value) for value in list(table.column(name))]
    if None in kinds:
        raise table.refusal(kinds.index(None), name, wanted, advice)
    most = Counter(kinds).most_common(1)[0][0]
    other = next((row for row, kind in enumerate(kinds) if kind is not most), None)
    if other is not None:
        kind = "date" if most is Content.DATES else "number"
        raise table.refusal(other, name, f"a {kind} as most of this column", "; write all times in one way")


# ids and edges


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


def _rows_of(ids: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.int64]:
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


def edge_ends(
    edges: Table, ids: NDArray[Any], nodes: str, columns: tuple[str, str] = (SOURCE, TARGET)
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of both ends of each edge; an end that the node table does not have raises."""
    found = []
    for end, name in zip((SOURCE, TARGET), columns, strict=True):
        wanted = comparable(end_column(edges, name, end), edges, name)
        rows = _rows_of(ids, wanted)
        unknown = np.flatnonzero(rows < 0)
        if len(unknown):
            value = wanted[unknown[0]]
            shown = value.item() if isinstance(value, np.generic) else value
            raise unknown_end(edges.where(int(unknown[0])), name, nodes, shown, len(unknown))
        found.append(rows)
    return found[0], found[1]


def end_column(edges: Table, name: str, end: str) -> NDArray[Any]:
    """The column of one end of the edges, SOURCE or TARGET."""
    advice = "" if name != end else f"; name the column of {end} ids (--{end}-column, {end}_column)"
    return edges.column(name, advice)


def unknown_end(place: str, column: str, nodes: str, node: object, count: int) -> DataError:
    """The error about an edge to a node that the table of nodes does not have."""
    return DataError(
        f"{place} must have a {column} from {nodes}, got {node!r} instead; add the "
        f"node, also one of an earlier file, or remove the edge ({count:,} such edges)"
    )


def edge_weights(edges: Table, name: str) -> NDArray[np.float32]:
    """A column of weights; one that is negative or no number raises."""
    weight = edges.doubles(name)
    bad = np.flatnonzero(weight < 0)
    if len(bad):
        raise edges.refusal(int(bad[0]), name, "finite and not negative", "; remove the edge or mend its weight")
    return weight.astype(np.float32)


def edge_adjacency(
    edges: Table | None,
    ids: NDArray[Any],
    nodes: str,
    columns: tuple[str, str, str | None],
    *,
    directed: bool,
    duplicates: Duplicates,
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """The adjacency of a table of edges, and remarks on what was done to them."""
    forbids = forbids_duplicates(duplicates)
    if edges is None:
        return sparse.csr_array((len(ids), len(ids)), dtype=np.float32), ()
    source, target, weight_column = columns
    ends = edge_ends(edges, ids, nodes, (source, target))
    weight = None if weight_column is None else edge_weights(edges, weight_column)
    if forbids:
        forbid_repeated(ends, edges.where)
    listed = adjacency_from_edges(*ends, len(ids), weight, merge_duplicates=True)
    remarks = []
    if len(ends[0]) > listed.nnz:
        remarks.append(f"{edges.name}: {len(ends[0]) - listed.nnz:,} repeated edges merged")
    others = [name for name in edges.columns if name not in columns]
    if weight_column is None and WEIGHT in others:
        others.remove(WEIGHT)
        advice = "name their column (--weight-column, weight_column) to use them"
        remarks.append(f"{edges.name}: edge weights are not used; {advice}")
    if others:
        remarks.append(f"{edges.name}: columns that are not used: {', '.join(map(repr, others))}")
    if weight is not None and not directed:
        remarks += two_weights(listed, edges.name)
    made, more = tidied(listed, directed=directed, weighted=weight is not None)
    return made, (*remarks, *(f"{edges.name}: {remark}" for remark in more))


def forbids_duplicates(duplicates: Duplicates | str) -> bool:
    """Whether a repeated edge is an error; ConfigError for anything but the two ways."""
    if duplicates not in (*Duplicates, *(one.value for one in Duplicates)):
        raise ConfigError(f'duplicates must be "error" or "merge", got {duplicates!r} instead')
    return Duplicates(duplicates) is Duplicates.ERROR


def two_weights(listed: sparse.csr_array, name: str) -> list[str]:
    """A remark where pairs are listed both ways with different weights, of which the larger counts."""
    back = sparse.csr_array(listed.T)
    unlike = listed.multiply(back > 0) - back.multiply(listed > 0)
    pairs = int(np.count_nonzero(unlike.data)) // 2
    if not pairs:
        return []
    told = f"{name}: {pairs:,} pairs are listed both ways with different weights, of which the larger counts"
    return [f"{told}; keep directions (--directed, directed=True) or add them up before"]


def tidied(
    adjacency: sparse.csr_array, *, directed: bool, weighted: bool
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """The adjacency without self-loops, and without directions and weights unless they are wanted."""
    loops = int(np.count_nonzero(adjacency.diagonal()))
    made = plain_adjacency(adjacency, directed=directed, weighted=weighted, self_loops=False)
    return made, ((f"{loops:,} self-loops left out",) if loops else ())
