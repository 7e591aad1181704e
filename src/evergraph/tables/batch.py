"""Batch: nodes with their ids, labels, times and attributes, and the edges between them, as they arrive."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evergraph.errors import DataError
from evergraph.matrices import Features
from evergraph.tables.edges import Duplicates, edge_adjacency
from evergraph.tables.ids import checked_ids, comparable, rows_of
from evergraph.tables.labels import Labels, label_remarks, label_values, labels_of, remarks_of
from evergraph.tables.reading import read_table
from evergraph.tables.roles import ID, LABEL, NO_NODES, SOURCE, TARGET, TIME, left_out_columns, present_column
from evergraph.tables.table import Table
from evergraph.tables.times import time_values


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
        found = rows_of(self.ids, wanted)
        unknown = np.flatnonzero(found < 0)
        if len(unknown):
            raise DataError(
                f"every id must be one of the {self.n_nodes:,} nodes, got {wanted[unknown[0]]!s} instead; "
                "give the rows of that node again"
            )
        return found

    def with_labels(self, labels: Labels) -> "Batch":
        """The same nodes with these labels, one for each; None, NaN, "" and -1 are missing ones."""
        given = labels_of(labels, self.n_nodes)
        return replace(self, labels=given, remarks=(*self.remarks, *remarks_of(labels)))


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
    said = () if label_column is None else label_remarks(nodes, label_column)
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
