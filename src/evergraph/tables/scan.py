"""Columns that are read in chunks: what a judgement needs is gathered on the way, the values go to files."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.tables.category_column import CategoryColumn, word_of
from evergraph.tables.flag_column import FlagColumn
from evergraph.tables.judging import MEND, MOST_WORDS, MOSTLY_NUMBERS, Facts
from evergraph.tables.number_column import NumberColumn
from evergraph.tables.order import Sliced
from evergraph.tables.spill import Spill
from evergraph.tables.table import LARGEST, Table
from evergraph.tables.values import (
    MISSING_NUMBERS,
    Commas,
    Content,
    is_date,
    is_flag,
    is_missing,
    is_number,
    understood,
)


@dataclass
class _Words:
    """What the words of a column have in common so far; it starts as true of none."""

    some: bool = False
    numbers: bool = True
    some_number: bool = False
    flags: bool = True
    dates: bool = True
    commas: Commas = field(default_factory=Commas)

    def add(self, words: Sequence[str]) -> None:
        numeric = [word for word in words if word not in MISSING_NUMBERS]
        self.some |= bool(words)
        self.some_number |= bool(numeric)
        self.numbers = self.numbers and all(map(is_number, numeric))
        self.flags = self.flags and all(map(is_flag, words))
        self.dates = self.dates and all(map(is_date, words))
        self.commas.add(words)

    def add_numbers(self, *, whole: bool) -> None:
        """The same for text that was read as numbers."""
        self.some = self.some_number = True
        self.flags = self.dates = False
        self.commas.add_numbers(whole=whole)

    @property
    def content(self) -> Content:
        """What text is, as `understood` has it."""
        if self.some_number and self.numbers:
            return Content.NUMBERS
        if self.some and self.flags:
            return Content.FLAGS
        return Content.DATES if self.some and self.dates else Content.TEXT


class ColumnScan:
    """A column of features that arrives in chunks.

    Its numbers are kept while all of it may be numbers, the codes of its words while they are at most MOST_WORDS.
    """

    def __init__(self, name: str, folder: Path, stem: str, *, asked_category: bool):
        self.name, self.asked_category = name, asked_category
        self.rows = 0
        self._numbers = Spill(folder / f"{stem}.numbers", np.float64)
        self._codes = Spill(folder / f"{stem}.codes", np.int32)
        self._places: dict[str, int] = {}
        self._overflow = False
        self._categorical = False
        self._words = _Words()
        self._typed: set[Content] = set()
        self._missing = {"numbers": 0, "words": 0}
        self._numeric = 0
        self._other: DataError | None = None
        self._large: DataError | None = None

    def add(self, table: Table) -> None:
        """The values of the next rows."""
        column = table.column(self.name)
        self._categorical = self.name in table.categorical
        if column.dtype.kind == "O" and all(
            isinstance(value, str) or is_missing(value) for value in column.tolist()
        ):
            self._add_text(table, column)
        elif table.is_text:
            self._add_numbers_of_text(table, column)
        else:
            self._add_typed(table, column)
        self.rows += len(column)

    def _add_text(self, table: Table, column: NDArray[Any]) -> None:
        text = [None if is_missing(value) else value.strip() for value in column.tolist()]
        words = list(dict.fromkeys(word for word in text if word is not None))
        self._words.add(words)
        values = {word: float(word) for word in words if is_number(word)}
        numbers = np.array([values.get(word or "", np.nan) for word in text], dtype=np.float64)
        present = np.fromiter((word is not None for word in text), dtype=bool, count=len(text))
        strange = np.flatnonzero(present & np.isnan(numbers))
        if len(strange) and self._other is None:
            self._other = table.refusal(int(strange[0]), self.name, MOSTLY_NUMBERS, MEND)
        self._numeric += len(numbers) - int(np.isnan(numbers).sum())
        self._keep(table, numbers)
        self._missing["words"] += int((~present).sum())
        self._number_words(words)
        if not self._overflow:
            places = self._places
            self._codes.append(np.array([-1 if word is None else places[word] for word in text], dtype=np.int32))

    def _add_numbers_of_text(self, table: Table, column: NDArray[Any]) -> None:
        numbers = column.astype(np.float64)
        missing = np.isnan(numbers)
        self._keep(table, numbers)
        self._missing["words"] += int(missing.sum())
        self._numeric += len(numbers) - int(missing.sum())
        if not missing.all():
            self._words.add_numbers(whole=column.dtype.kind == "i")
        self._code_of_numbers(column, missing, str)

    def _add_typed(self, table: Table, column: NDArray[Any]) -> None:
        values = understood(column)
        if not values.missing.all():
            self._typed.add(values.content)
        numbers = np.full(len(column), np.nan) if values.numbers is None else values.numbers
        self._keep(table, np.where(values.missing, np.nan, numbers), large=values.content is Content.NUMBERS)
        self._missing["words"] += int(values.missing.sum())
        if (self.asked_category or self._categorical) and values.content is not Content.OTHER:
            self._code_of_numbers(column, values.missing, word_of)

    def _keep(self, table: Table, numbers: NDArray[np.float64], *, large: bool = True) -> None:
        if large and self._large is None:
            bad = np.flatnonzero(np.abs(np.nan_to_num(numbers, posinf=np.inf, neginf=-np.inf)) > LARGEST)
            if len(bad):
                self._large = table.too_large(int(bad[0]), self.name, float(numbers[bad[0]]))
        self._missing["numbers"] += int(np.isnan(numbers).sum())
        if self._words.numbers:
            self._numbers.append(numbers)

    def _code_of_numbers(self, column: NDArray[Any], missing: NDArray[np.bool_], word: Any) -> None:
        """Codes of values that are no text."""
        if self._overflow:
            return
        words = [None if gone else word(value) for value, gone in zip(column.tolist(), missing, strict=True)]
        self._number_words(list(dict.fromkeys(one for one in words if one is not None)))
        if not self._overflow:
            places = self._places
            self._codes.append(np.array([-1 if one is None else places[one] for one in words], dtype=np.int32))

    def _number_words(self, words: Sequence[str]) -> None:
        """Number words that are new; past MOST_WORDS nothing is kept of them."""
        if self._overflow:
            return
        for word in words:
            self._places.setdefault(word, len(self._places))
        if len(self._places) > MOST_WORDS:
            self._overflow = True
            self._places.clear()

    # after the last chunk

    @property
    def content(self) -> Content:
        return next(iter(self._typed)) if len(self._typed) == 1 else self._words.content

    def facts(self, table: str) -> Facts:
        """What a judgement needs; table: what messages call it."""
        content = self.content
        numbers: Sliced | None = None
        if content is Content.NUMBERS or (content is Content.FLAGS and self._typed):
            numbers = self._numbers
        elif content is Content.FLAGS:
            numbers = _Flags(self._codes, list(self._places))

        def words() -> tuple[str, ...] | None:
            if content is Content.OTHER:
                raise DataError(
                    f"{table}, column {self.name!r}, must hold words or numbers, got other objects instead"
                )
            return None if self._overflow else tuple(sorted({word for word in self._category_words() if word}))

        def other() -> DataError:
            assert self._other is not None
            return self._other

        def forbid_large() -> None:
            if self._large is not None:
                raise self._large

        missing = self._missing["numbers" if content is Content.NUMBERS else "words"]
        return Facts(
            content,
            self.rows,
            missing,
            numbers,
            words,
            self._categorical,
            self._words.commas.reason(),
            self._numeric,
            other,
            forbid_large,
        )

    def _category_words(self) -> list[str | None]:
        """The word of each code as a category; None where it stands for a missing number."""
        if self.content is Content.TEXT:
            return list(self._places)
        gaps = MISSING_NUMBERS if self.content is Content.NUMBERS else frozenset[str]()
        return [None if word in gaps else word_of(word) for word in self._places]

    def features(
        self, column: NumberColumn | FlagColumn | CategoryColumn, start: int, stop: int
    ) -> tuple[NDArray[np.float32], int]:
        """The features of some rows, and how many values were cut."""
        if isinstance(column, CategoryColumn):
            place = {word: at for at, word in enumerate(column.categories)}
            table = np.array([place.get(word or "", -1) for word in self._category_words()] + [-1], dtype=np.int64)
            codes = table[self._codes[start:stop]]
            return column.features(codes, codes < 0), 0
        numbers = self.facts("").numbers
        assert numbers is not None
        part = numbers[start:stop]
        return (column.features(part), 0) if isinstance(column, FlagColumn) else column.features(part)

    def remove(self) -> None:
        """Remove the files."""
        self._numbers.remove()
        self._codes.remove()


class _Flags:
    """Words for true and false as 1 and 0."""

    def __init__(self, codes: Spill, words: Sequence[str]):
        self.codes = codes
        self.numbers = np.array([*(float(word.lower() == "true") for word in words), np.nan])

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, place: slice) -> NDArray[Any]:
        found: NDArray[Any] = self.numbers[self.codes[place]]
        return found
