"""FeatureSchema: which columns become which numbers, decided at the first batch and kept with the model."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from pydantic import Field, ValidationError, model_validator
from scipy import sparse

from evergraph.config import Settings, one_sentence
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.matrices import Features
from evergraph.tables.batch import Batch
from evergraph.tables.category_column import CategoryColumn
from evergraph.tables.column import About, ColumnKind
from evergraph.tables.flag_column import FlagColumn
from evergraph.tables.judging import EMPTY, SAME, Facts, Judge, facts_of
from evergraph.tables.number_column import NumberColumn
from evergraph.tables.table import Table

__all__ = ["ColumnKind", "FeatureSchema"]

SPARSE_BELOW, SPARSE_FROM = 0.1, 100
"""Features are sparse where at most this share of at least so many columns is not zero."""

ALIKE = "a model of tables goes on with tables, one of graph folders or arrays with these"
SHOWN = 12
"""Columns that a summary names of each kind."""

Column: TypeAlias = NumberColumn | FlagColumn | CategoryColumn


class FeatureSchema(Settings):
    """Columns by name, in the order of their features; or the number of columns without names."""

    version: Literal[1] = 1
    """Of this format."""
    columns: tuple[Column, ...] = ()
    """What is used."""
    left_out: dict[str, str] = Field(default_factory=dict)
    """The other columns of the first batch, and why."""
    width: int | None = Field(None, ge=1)
    """Of numbers that are taken as given; None where columns are encoded by name."""
    names: tuple[str, ...] | None = None
    """Names of numbers that are taken as given, if known."""
    sparse: bool = False
    """Whether features are CSR."""

    @model_validator(mode="after")
    def _is_consistent(self) -> "FeatureSchema":
        names = [column.name for column in self.columns]
        if len({*names, *self.left_out}) < len(names) + len(self.left_out):
            raise ValueError("every column once is wanted, got one twice instead")
        if self.width is not None and names:
            raise ValueError("columns with names or without are wanted, got both instead")
        return self

    # making

    @classmethod
    def fit(
        cls,
        batch: Batch,
        *,
        scale: bool = True,
        numbers: Collection[str] = (),
        categories: Collection[str] = (),
    ) -> "FeatureSchema":
        """The schema of a first batch.

        scale: numbers get mean 0 and deviation 1. numbers, categories: columns whose kind is not to be guessed.
        """
        attributes = batch.attributes
        if attributes is None:
            return cls(left_out=dict(batch.left_out))
        if not isinstance(attributes, Table):
            return cls(width=attributes.shape[1], names=batch.column_names, sparse=sparse.issparse(attributes))
        forbid_unknown(attributes, numbers, categories)
        ids = batch.ids if batch.ids.dtype.kind == "i" else None
        judge = Judge(attributes.name, ids, scale, frozenset(numbers), frozenset(categories))
        schema = cls.judged(
            judge, {name: facts_of(attributes, name) for name in attributes.columns}, batch.left_out
        )
        if schema.n_features < SPARSE_FROM:
            return schema
        filled = sum(column.filled(attributes) for column in schema.columns)
        return schema.model_copy(update={"sparse": filled <= SPARSE_BELOW * schema.n_features * batch.n_nodes})

    @classmethod
    def judged(cls, judge: Judge, facts: Mapping[str, Facts], left_out: Mapping[str, str]) -> "FeatureSchema":
        """The schema of columns by their facts, dense."""
        found = {name: judge(name, about) for name, about in facts.items()}
        columns = tuple(column for column in found.values() if not isinstance(column, str))
        reasons = {name: why for name, why in found.items() if isinstance(why, str)}
        return cls(columns=columns, left_out={**left_out, **reasons})

    def updated(self, batch: Batch) -> "FeatureSchema":
        """The schema with this batch's numbers added to the running sums; what else was decided stays."""
        if self.width is not None:
            return self
        table = self._table(batch)
        columns = tuple(
            column.updated(table) if isinstance(column, NumberColumn) else column for column in self.columns
        )
        return self.model_copy(update={"columns": columns})

    # using

    @property
    def n_features(self) -> int:
        """The number of features that `encode` makes."""
        return self.width if self.width is not None else len(self.feature_names)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name for each feature; columns without names are numbered."""
        if self.width is not None:
            return self.names or tuple(map(str, range(self.width)))
        return tuple(name for column in self.columns for name in column.feature_names)

    def encode(self, batch: Batch) -> Features:
        """Features of a batch, float32: its columns by name, in any order."""
        return self.encode_with_remarks(batch)[0]

    def encode_with_remarks(self, batch: Batch) -> tuple[Features, tuple[str, ...]]:
        """Features, and what the person must know: new columns, new categories, numbers that were cut."""
        if self.width is not None:
            return self._given(batch), ()
        if not self.columns:
            return np.zeros((batch.n_nodes, 0), dtype=np.float32), ()
        table = self._table(batch)
        parts: list[Features] = []
        found: dict[About, dict[str, str]] = {about: {} for about in About}
        for column in self.columns:
            part, more = column.encode(table)
            parts.append(sparse.csr_array(part) if self.sparse else part)
            for about, remark in more.items():
                found[about][column.name] = remark
        remarks = [remark for about, each in found.items() for remark in together(table.name, about, each)]
        known = {*(column.name for column in self.columns), *self.left_out}
        extra = [name for name in table.columns if name not in known]
        if extra:
            remarks.append(f"{table.name}: columns that the schema does not have are ignored: {_listed(extra)}")
        remarks += self._come_to_life(table)
        features = sparse.csr_array(sparse.hstack(parts)) if self.sparse else np.hstack(parts)
        return features, tuple(remarks)

    def _come_to_life(self, table: Table) -> list[str]:
        """Remarks on columns that said nothing in the first batch and differ between nodes now."""
        found = {
            why: [
                repr(name)
                for name, reason in self.left_out.items()
                if reason == why and name in table.columns and table.values(name).varied
            ]
            for why in (SAME, EMPTY)
        }
        return [
            f"{table.name}: columns that were {why} in the first batch stay unused: {_shortened(names)}; "
            "learn a new model to use them"
            for why, names in found.items()
            if names
        ]

    def _table(self, batch: Batch) -> Table:
        """The attributes of a batch by name, with every column that the schema uses."""
        table = batch.attributes
        names = [column.name for column in self.columns]
        if not names and table is None:
            return Table("the nodes", {})
        if not isinstance(table, Table):
            wanted = f"the columns {_listed(names)} are wanted as in the first batch"
            if table is None:
                raise DataError(f"{wanted}, got none instead; add them")
            raise DataError(f"{wanted}, got numbers that are encoded already instead; {ALIKE}")
        missing = [name for name in names if name not in table.columns]
        if missing:
            asked = [name for name in missing if name in batch.left_out]
            why = f" ({asked[0]!r} is left out: {batch.left_out[asked[0]]})" if asked else ""
            raise DataError(
                f"{table.name} must have the columns of the first batch, got none called {_listed(missing)} "
                f"instead{why}; add them"
            )
        return table

    def _given(self, batch: Batch) -> Features:
        """Numbers without names, as they are."""
        given = batch.attributes
        if given is None or isinstance(given, Table):
            wanted = f"{self.width} numbers a node are wanted as before"
            if given is None:
                raise DataError(f"{wanted}, got none instead; add them")
            raise DataError(f"{wanted}, got the columns of a table instead; {ALIKE}")
        if self.names is not None and batch.column_names is not None and self.names != batch.column_names:
            raise _other_columns(self.names, batch.column_names)
        if given.shape[1] != self.width:
            raise DataError(f"{self.width} features a node are wanted as before, got {given.shape[1]} instead")
        if self.sparse:
            return sparse.csr_array(given)
        if isinstance(given, np.ndarray) or not sparse.issparse(given):  # in memory, or on disk
            return given
        return np.asarray(given.toarray())

    # showing and keeping

    def describe(self) -> list[str]:
        """A line for each column that is used, and one for those that are left out."""
        if self.width is not None:
            return [f"columns 0 to {self.width - 1} as given, not scaled"]
        lines = [column.described() for column in self.columns] or ["no column is used"]
        if self.left_out:
            lines.append("left out: " + ", ".join(f"{_shown(name)} ({why})" for name, why in self.left_out.items()))
        return lines

    def summary(self) -> str:
        """One sentence on all columns: how the used ones are encoded, and why the others are not."""
        if self.width is not None:
            return self.describe()[0]
        groups: dict[str, list[str]] = {}
        for column in self.columns:
            groups.setdefault(column.treatment, []).append(column.name)
        parts = [f"{treatment}: {_shortened(names)}" for treatment, names in groups.items()] or [
            "no column is used"
        ]
        if self.left_out:
            others = [f"{_shown(name)} ({why})" for name, why in self.left_out.items()]
            parts.append(f"left out: {_shortened(others)}")
        return "; ".join(parts)

    def to_json(self) -> str:
        """The schema as JSON text."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str | bytes) -> "FeatureSchema":
        """The inverse of `to_json`; StoreError in one sentence for anything else."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            why = one_sentence(error, cls, "schema")
            raise StoreError(f"a feature schema of version 1 is wanted, got another: {why}") from None


def forbid_unknown(table: Table, numbers: Collection[str], categories: Collection[str]) -> None:
    """ConfigError or DataError for columns of a said kind that the table does not have, or that are said twice."""
    for what, names in (("numbers", numbers), ("categories", categories)):
        if isinstance(names, str):
            raise ConfigError(f"{what} must be a list of columns, got the text {names!r} instead; use [{names!r}]")
        for name in names:
            table.column(name, f"; leave it out of {what}")
    both = set(numbers) & set(categories)
    if both:
        raise ConfigError(f"a column of numbers or of categories is wanted, got {min(both)!r} as both instead")


def _shown(name: str) -> str:
    return name or "a column without a name"


def together(table: str, about: About, remarks: dict[str, str]) -> list[str]:
    """Remarks on columns of one kind, by column; one sentence for three and more that say much the same."""
    if about is About.NEW or len(remarks) < 3:
        return list(remarks.values())
    return [f"{table}: {about} in {len(remarks)} columns: {_shortened(list(remarks))}"]


def _shortened(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _other_columns(wanted: tuple[str, ...], came: tuple[str, ...]) -> DataError:
    """The error about encoded columns of other names, or in another order."""
    if sorted(wanted) == sorted(came):
        return DataError(
            f"the columns {_listed(wanted)} are wanted in this order as in the first batch, got "
            f"{_listed(came)} instead; convert a table with its columns in the same order"
        )
    lost = [name for name in wanted if name not in came]
    new = [name for name in came if name not in wanted]
    found = f"without {_listed(lost)}" if lost else f"with {_listed(new)}"
    return DataError(
        f"the columns of the first batch are wanted, got others {found}; convert a table with the same columns"
    )
