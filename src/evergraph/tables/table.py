"""Tables: named columns of equal length, whose every complaint names the file, the line and the column."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.tables.values import Content, Values, is_missing, is_number, understood

LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Table:
    """Columns of equal length.

    name: what messages call it; path: its file, None where it was never one.
    lines: the line numbers of a text file, None for anything else.
    categorical: columns whose type says that they hold categories.
    places: the rows of the file that these are, None where they are all of them from the first on.
    """

    name: str
    columns: dict[str, NDArray[Any]]
    lines: NDArray[np.int64] | None = None
    path: Path | None = None
    categorical: frozenset[str] = frozenset()
    places: NDArray[np.int64] | None = None

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    @property
    def is_text(self) -> bool:
        """Whether all values came as text, so that a label 3 is a name like any other."""
        return self.lines is not None

    def where(self, row: int) -> str:
        """The place of a row, for a message."""
        if self.lines is not None:
            return f"{self.name} line {self.lines[row]}"
        return f"{self.name} row {(row if self.places is None else int(self.places[row])) + 1}"

    def refusal(self, row: int, column: str, wanted: str, advice: str = "") -> DataError:
        """The error about one value: where it is, what was wanted, what it is, what to do."""
        value = self.columns[column][row]
        shown = value.item() if isinstance(value, np.generic) else value
        came = repr("" if is_missing(shown) and not isinstance(shown, str) else shown)
        came = came if len(came) <= 60 else came[:57] + "..."
        return DataError(f"{self.where(row)}, column {column!r}, must be {wanted}, got {came} instead{advice}")

    def column(self, name: str, advice: str = "") -> NDArray[Any]:
        if name not in self.columns:
            have = ", ".join(map(repr, self.columns)) or "none"
            raise DataError(f"{self.name} must have a column {name!r}, got the columns {have} instead{advice}")
        return self.columns[name]

    def values(self, name: str) -> Values:
        """A column as it is understood."""
        return understood(self.column(name))

    def subset(self, names: Sequence[str]) -> "Table":
        """Some of the columns, as they are."""
        return replace(self, columns={name: self.columns[name] for name in names})

    def doubles(self, name: str, wanted: str = "a finite number", advice: str = "") -> NDArray[np.float64]:
        """A column as float64; anything but a number that 32 bits can hold raises."""
        values = self.values(name)
        if values.content not in (Content.NUMBERS, Content.FLAGS):
            raise self.refusal(self.first_other(name), name, wanted, advice)
        assert values.numbers is not None
        bad = np.flatnonzero(~(np.abs(values.numbers) <= LARGEST))
        if len(bad):
            raise self.too_large(int(bad[0]), name, float(values.numbers[bad[0]]), wanted, advice)
        return values.numbers

    def too_large(
        self, row: int, name: str, number: float, wanted: str = "a finite number", advice: str = ""
    ) -> DataError:
        """The error about a number that 32 bits cannot hold, an infinite one or none at all."""
        limit = "; 3.4e38 is the largest that fits 32 bits" if np.isfinite(number) else advice
        return self.refusal(row, name, wanted, limit)

    def first_other(self, name: str) -> int:
        """The first row of a column that is no number; 0 where all are."""
        values = enumerate(self.column(name).tolist())
        return next((row for row, value in values if not _is_number(value)), 0)


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return is_number(value.strip())
    return (
        isinstance(value, int | float | Decimal | np.number)
        and not isinstance(value, bool)
        and not is_missing(value)
    )
