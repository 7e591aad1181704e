"""The nodes of a table as files: ids, labels, times and features, each gathered in one pass over chunks."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.data.convert.ids import Ids, checked_count
from evergraph.data.convert.plan import Plan
from evergraph.data.datasets.files import FileOptions, numbered_labels
from evergraph.data.datasets.npz import no_features
from evergraph.data.graph_folder import NpyWriter
from evergraph.errors import DataError
from evergraph.tables import FeatureSchema, Table
from evergraph.tables.column import About
from evergraph.tables.ids import repeated_id
from evergraph.tables.judging import Judge
from evergraph.tables.labels import WANTED, label_values
from evergraph.tables.number_column import NumberColumn
from evergraph.tables.order import BLOCK, blocks
from evergraph.tables.reading import column_names, find_row, no_rows, read_chunks
from evergraph.tables.roles import ID, LABEL, NO_NODES, TIME, left_out_columns, present_column
from evergraph.tables.scan import ColumnScan
from evergraph.tables.schema import forbid_unknown, together
from evergraph.tables.spill import Spill
from evergraph.tables.times import time_values
from evergraph.tables.values import Content, is_missing

MOST_LABELS = 1_000_000
"""Different labels, whose names are in memory."""


@dataclass(frozen=True)
class NodesWritten:
    """What the files of the nodes hold."""

    features: int
    classes: int
    remarks: tuple[str, ...]


class NodeConversion:
    """One table of nodes on its way to the files of a graph folder; after `scan` its ids can be looked up."""

    def __init__(self, path: Path, options: FileOptions, plan: Plan, scratch: Path):
        self.path, self.options, self.plan = path, options, plan
        header = Table(path.name, {name: np.empty(0) for name in column_names(path)})
        id_column = ID if options.id_column is None else options.id_column
        header.column(id_column, "; name the column of ids (--id-column, id_column)")
        label_column = present_column(header, options.label_column or LABEL, LABEL, optional=False)
        assert label_column is not None
        time_column = present_column(header, options.time_column, TIME, optional=False)
        self.left_out = left_out_columns(header, id_column, label_column, time_column, options.ignore)
        names = [name for name in header.columns if name not in self.left_out]
        if names:
            forbid_unknown(header.subset(names), options.numbers, options.categories)
        self.ids = Ids(scratch, id_column)
        self.labels = _Labels(label_column, scratch)
        self.times = None if time_column is None else _Times(time_column, scratch)
        self.columns = {
            name: ColumnScan(name, scratch, f"column-{at}", asked_category=name in options.categories)
            for at, name in enumerate(names)
        }
        self.table_rows = plan.table_rows(len(header.columns))
        self.verbatim = (id_column, label_column)

    def scan(self) -> None:
        """Read the table once; DataError with the line for whatever is wrong with ids, labels or times."""
        for table in read_chunks(self.path, self.table_rows, verbatim=self.verbatim):
            self.ids.add(table)
            self.labels.add(table)
            if self.times is not None:
                self.times.add(table)
            for column in self.columns.values():
                column.add(table)
        if not self.ids.count:
            raise no_rows(self.path.name, NO_NODES)
        checked_count(self.ids, self.path.name)
        again = self.ids.sort(self.plan)
        if again >= 0:
            first, node = self.ids.first_like(again)
            raise repeated_id(self._where(again), node, self._where(first))

    def _where(self, row: int) -> str:
        table, place = find_row(self.path, row, self.table_rows, verbatim=self.verbatim)
        return table.where(place)

    def write(self, folder: Path, *, float16: bool) -> NodesWritten:
        """Write the files of everything but the edges."""
        self.ids.write_names(folder / "node_names.npy")
        classes = self.labels.write(folder, self.path.name)
        if self.times is not None:
            self.times.write(folder)
        schema = self._schema()
        remarks: tuple[str, ...] = ()
        if self.columns:
            said = f"columns of {self.path.name}: {schema.summary()}"
            remarks = (said, *(self._write_features(folder, schema, float16=float16) if schema.columns else ()))
        if not schema.columns:
            return NodesWritten(0, classes, (*remarks, no_features(self.path.name)))
        _write_text(folder / "feature_names.npy", schema.feature_names)
        return NodesWritten(schema.n_features, classes, remarks)

    def _schema(self) -> FeatureSchema:
        options = self.options
        judge = Judge(
            self.path.name,
            self.ids.numbers,
            options.scale,
            frozenset(options.numbers),
            frozenset(options.categories),
        )
        facts = {name: column.facts(self.path.name) for name, column in self.columns.items()}
        return FeatureSchema.judged(judge, facts, self.left_out)

    def _write_features(self, folder: Path, schema: FeatureSchema, *, float16: bool) -> list[str]:
        """The features in blocks of rows; remarks on values that were cut."""
        cut = dict.fromkeys((column.name for column in schema.columns), 0)
        step = self.plan.write_rows(schema.n_features)
        kind = "<f2" if float16 else "<f4"
        with NpyWriter(folder / "features.npy", kind, schema.n_features) as file:
            for start in range(0, self.ids.count, step):
                parts = []
                for column in schema.columns:
                    part, far = self.columns[column.name].features(column, start, min(start + step, self.ids.count))
                    cut[column.name] += far
                    parts.append(part)
                file.append(_narrowed(np.hstack(parts), self.path.name) if float16 else np.hstack(parts))
        found = {
            column.name: column.cut_remark(self.path.name, cut[column.name])
            for column in schema.columns
            if isinstance(column, NumberColumn) and cut[column.name]
        }
        return together(self.path.name, About.CUT, found)


def _narrowed(features: NDArray[np.float32], file: str) -> NDArray[np.float16]:
    with np.errstate(over="ignore"):
        made = features.astype(np.float16)
    if not np.isfinite(made).all():
        worst = float(np.abs(features).max())
        raise DataError(
            f"features of {file} must be at most 65,504 in 16 bits, got {worst:g} instead; leave out --float16"
        )
    return made


def _write_text(path: Path, words: tuple[str, ...]) -> None:
    made = np.array(words, dtype=np.str_)
    with NpyWriter(path, made.dtype.newbyteorder("<")) as file:
        file.append(made)


class _Labels:
    """Labels as codes of the different values, which are judged as a table of their own."""

    def __init__(self, name: str, scratch: Path):
        self.name = name
        self._codes = Spill(scratch / "labels.codes", np.int32)
        self._places: dict[Any, int] = {}
        self._lines: list[int] = []
        self._table: Table | None = None

    def add(self, table: Table) -> None:
        values = table.column(self.name).tolist()
        self._table = table if self._table is None else self._table
        codes = np.empty(len(values), dtype=np.int32)
        numbers = range(len(self._codes), len(self._codes) + len(values)) if table.lines is None else table.lines
        for row, value in enumerate(values):
            text = "" if value is None else str(value) if table.is_text else value
            key: Any = None if not isinstance(text, str) and is_missing(text) else (type(text), text)
            try:
                code = self._places.setdefault(key, len(self._places))
            except TypeError:  # a list or the like
                raise table.refusal(
                    row, self.name, WANTED, "; leave the label empty where it is not known"
                ) from None
            if code == len(self._lines):
                self._lines.append(int(numbers[row]))
            codes[row] = code
        if len(self._places) > MOST_LABELS:
            raise DataError(
                f"{table.name}, column {self.name!r}, must have at most {MOST_LABELS:,} different labels, got more "
                "instead; is it the column of labels?"
            )
        self._codes.append(codes)

    def write(self, folder: Path, file: str) -> int:
        """labels.npy, and class_names.npy where classes have names; how many classes there are."""
        assert self._table is not None
        column = np.empty(len(self._places), dtype=object)
        column[:] = [None if key is None else key[1] for key in self._places]
        places = np.array(self._lines, dtype=np.int64)
        lines = places if self._table.is_text else None
        table = Table(file, {self.name: column}, lines, self._table.path, places=places)
        numbers, names = numbered_labels(table, label_values(table, self.name))
        with NpyWriter(folder / "labels.npy", "<i8") as out:
            for codes in blocks(self._codes):
                out.append(numbers[codes])
        if names is not None:
            _write_text(folder / "class_names.npy", names)
        return len(np.unique(numbers))


class _Times:
    """Times: numbers, or dates as seconds since 1970; whole numbers that float64 would round stay whole."""

    def __init__(self, name: str, scratch: Path):
        self.name = name
        self._values = Spill(scratch / "times.values", np.float64)
        self._whole = Spill(scratch / "times.whole", np.int64)
        self._is_whole = True
        self._largest = 0.0
        self._kinds: set[Content] = set()

    def add(self, table: Table) -> None:
        kind = table.values(self.name).content
        kind = Content.DATES if kind is Content.DATES else Content.NUMBERS
        values = time_values(table, self.name)
        self._kinds.add(kind)
        if len(self._kinds) > 1:
            wanted, advice = "a finite number or a date such as 2024-05-31", "; fill it in or remove the row"
            raise table.refusal(0, self.name, f"{wanted}, as the times before it", advice)
        if kind is Content.NUMBERS and self._is_whole:
            try:
                self._whole.append(table.column(self.name).astype(np.int64))
            except (ValueError, OverflowError):  # fractions, or more than 64 bits
                self._is_whole = False
        numbers = values.astype(np.float64)
        self._largest = max(self._largest, float(np.abs(numbers).max(initial=0)))
        self._values.append(numbers)

    def write(self, folder: Path) -> None:
        whole = self._largest >= 2**53 and self._kinds == {Content.NUMBERS} and self._is_whole
        with NpyWriter(folder / "times.npy", "<i8" if whole else "<f8") as file:
            for part in blocks(self._whole if whole else self._values, BLOCK):
                file.append(part)
