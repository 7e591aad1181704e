"""What a column of a first batch becomes: a number, a flag, a category, or nothing, with the reason."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.tables.column import CategoryColumn, FlagColumn, NumberColumn, category_words, finite
from evergraph.tables.table import Table
from evergraph.tables.values import Content, Values, about_commas, is_number

MOST_CATEGORIES = 50
FEWEST_ROWS = 10
"""Rows from which a column that counts them is taken for a row number."""
SAME, EMPTY = "always the same", "empty"
"""Why a column is left out that says nothing of a node; a later batch may have other values."""
_INDEX = re.compile(r"|Unnamed: \d+|__index_level_\d+__")


@dataclass(frozen=True)
class Judge:
    """scale: whether numbers are scaled; numbers, categories: columns whose kind the person has said."""

    table: Table
    ids: NDArray[Any]
    scale: bool
    numbers: frozenset[str]
    categories: frozenset[str]

    def __call__(self, name: str) -> NumberColumn | FlagColumn | CategoryColumn | str:
        """The column of the schema, or why it is left out."""
        values = self.table.values(name)
        if name in self.categories:
            return self._category(name)
        if name in self.numbers:
            return self._asked_number(name, values)
        why = self._useless(name, values)
        if why is not None:
            return why
        if values.content is Content.TEXT:
            return self._text(name, values)
        return self._numeric(name, values)

    def _useless(self, name: str, values: Values) -> str | None:
        """Why a column is left out whatever its values are, if it is."""
        if _INDEX.fullmatch(name):
            return "row numbers"
        if values.missing.all():
            return EMPTY
        return {Content.DATES: "dates", Content.OTHER: "neither numbers nor text"}.get(values.content)

    def _asked_number(self, name: str, values: Values) -> NumberColumn:
        if values.content is not Content.NUMBERS:
            came = "no values" if values.missing.all() else values.content.value
            raise DataError(f"{self.table.name}, column {name!r}, must hold numbers, got {came} instead")
        return self._number(name, values)

    def _numeric(self, name: str, values: Values) -> NumberColumn | FlagColumn | CategoryColumn | str:
        assert values.numbers is not None
        present = values.numbers[~values.missing]
        gaps = bool(values.missing.any())
        if not gaps and (why := self._counting(present)):
            return why
        if present.min() == present.max() and not gaps:
            return SAME
        if name in self.table.categorical and values.content is Content.NUMBERS:
            return self._category(name, most=MOST_CATEGORIES, what="categories")
        if values.content is Content.FLAGS or np.isin(present, (0, 1)).all():
            return FlagColumn(name=name, gaps=gaps)
        return self._number(name, values)

    def _number(self, name: str, values: Values) -> NumberColumn:
        assert values.numbers is not None
        present = finite(self.table, name, values.numbers)[~values.missing]
        return NumberColumn.fit(name, present, gaps=bool(values.missing.any()), scaled=self.scale)

    def _counting(self, numbers: NDArray[np.float64]) -> str | None:
        """Why a column without gaps is only another name of its rows, if it is."""
        if len(numbers) < FEWEST_ROWS:
            return None
        if self.ids.dtype.kind == "i" and np.array_equal(numbers, self.ids):
            return "the ids again"
        counted = np.arange(len(numbers))
        return "row numbers" if np.array_equal(numbers - numbers[0], counted) and numbers[0] in (0, 1) else None

    def _text(self, name: str, values: Values) -> CategoryColumn | str:
        assert values.text is not None
        words = sorted({word for word in values.text if word is not None})
        if why := about_commas(words):
            return why
        present = values.text[~values.missing]
        numeric = np.fromiter((is_number(word) for word in present), dtype=bool, count=len(present))
        if 2 * numeric.sum() >= len(numeric):
            row = int(np.flatnonzero(~values.missing)[np.flatnonzero(~numeric)[0]])
            raise self.table.refusal(
                row,
                name,
                "a finite number as most of this column",
                "; mend it, ignore the column, or name it among the categories",
            )
        return self._category(name, most=min(MOST_CATEGORIES, max(2, len(values.text) // 2)))

    def _category(self, name: str, *, most: int | None = None, what: str = "text") -> CategoryColumn | str:
        """The column as categories, or why not; most: the number of different values above which it is none."""
        words, missing = category_words(self.table, name)
        found = tuple(sorted({word for word in words if word is not None}))
        if not found:
            return EMPTY
        if most is not None and len(found) > most:
            return f"{what} with {len(found):,} different values"
        if len(found) == 1 and not missing.any():
            return SAME
        return CategoryColumn(name=name, gaps=bool(missing.any()), categories=found)
