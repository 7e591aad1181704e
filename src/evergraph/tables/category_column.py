"""A column of categories: a feature for each word of the first batch."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from evergraph.errors import DataError
from evergraph.tables.column import ENOUGH, About, Column, Encoded
from evergraph.tables.table import Table
from evergraph.tables.values import Content, is_number

SHOWN = 6
"""Categories that are named in a line."""


class CategoryColumn(Column):
    """One of a few words, as one-hot features; a word that is new later has only zeros."""

    kind: Literal["category"] = "category"
    treatment: ClassVar[str] = "categories"
    categories: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _in_order(self) -> "CategoryColumn":
        if list(self.categories) != sorted(set(self.categories)):
            raise ValueError("different categories in sorted order are wanted, got others instead")
        return self

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (*(f"{self.name}={category}" for category in self.categories), *self.gap_name)

    def encode(self, table: Table) -> Encoded:
        words, missing = category_words(table, self.name)
        place = {word: at for at, word in enumerate(self.categories)}
        codes = np.array([place.get(word, -1) if word is not None else -2 for word in words], dtype=np.int64)
        fresh = np.flatnonzero(codes == -1)
        numeric = table.values(self.name).content is Content.NUMBERS
        if len(fresh) and not (codes >= 0).any() and numeric and not all(map(is_number, self.categories)):
            raise table.refusal(
                int(fresh[0]), self.name, f"one of {_some(self.categories)}, as in the first batch", "; mend it"
            )
        remarks = {}
        if len(fresh):
            names = sorted({str(words[row]) for row in fresh.tolist()})
            doubt = "; is it the same column?" if 2 * len(fresh) > table.n_rows >= ENOUGH else ""
            remarks[About.NEW] = (
                f"{table.name}: {_some(tuple(names))} of {self.name!r} not in the first batch, "
                f"so {len(fresh):,} of {table.n_rows:,} rows have no category{doubt}"
            )
        if missing.any() and not self.gaps:
            gone = int(missing.sum())
            remarks[About.MISSING] = f"{table.name}: {gone:,} rows without {self.name!r} have no category"
        return self.features(codes, missing), remarks

    def features(self, codes: NDArray[np.int64], missing: NDArray[np.bool_]) -> NDArray[np.float32]:
        """One-hot features of the places of words among the categories, none for a negative one."""
        features = np.zeros((len(codes), len(self.categories)), dtype=np.float32)
        known = np.flatnonzero(codes >= 0)
        features[known, codes[known]] = 1
        return self.with_gaps(features, missing)

    def filled(self, table: Table) -> int:
        """The features of a table that are not zero: one a row."""
        return table.n_rows

    def described(self) -> str:
        return f"{self.name}: category of {len(self.categories)} ({_some(self.categories)}){self.gaps_described()}"


def category_words(table: Table, name: str) -> tuple[list[str | None], NDArray[np.bool_]]:
    """The words of a column, None where one is missing; whole numbers as they are written without a point."""
    values = table.values(name)
    if values.content is Content.OTHER:
        raise DataError(f"{table.name}, column {name!r}, must hold words or numbers, got other objects instead")
    if values.text is not None:
        return values.text.tolist(), values.missing
    column = table.column(name).tolist()
    return [
        None if gone else word_of(value) for value, gone in zip(column, values.missing, strict=True)
    ], values.missing


def word_of(value: object) -> str:
    """The same word for 1, 1.0 and "1.0", as gaps in a column turn one into another."""
    text = str(value).strip()
    whole = isinstance(value, float) or text.endswith(".0")
    return str(int(float(text))) if whole and float(text).is_integer() else text


def _some(words: tuple[str, ...]) -> str:
    shown = ", ".join(map(repr, words[:SHOWN]))
    return shown if len(words) <= SHOWN else f"{shown} and {len(words) - SHOWN} more"
