"""What a column holds: numbers, flags, dates or text, with the missing values told apart."""

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset({"", "nan", "NaN"})
"""Text that stands for a missing value, everywhere."""
MISSING_NUMBERS = MISSING | {"NA", "N/A", "n/a", "null", "NULL", "None"}
"""Text that stands for a missing number; in a column of text these are words like others."""

_NUMBER = re.compile(r"[+-]?(?!0\d)(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|Inf|infinity|Infinity)")
_DATE = re.compile(r"\d{4}-\d\d(-\d\d([T ]\S.*)?)?|\d{4}/\d\d?/\d\d?( .*)?|\d\d?[./]\d\d?[./]\d{4}( .*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
"""Numbers with a comma before every three digits, as in 1,000,000.5."""
_NOTHING = {"NoneType", "NAType", "NaTType"}


class Content(StrEnum):
    """The kinds of values that a column can hold."""

    NUMBERS = "numbers"
    FLAGS = "flags"
    DATES = "dates"
    TEXT = "text"
    OTHER = "other"


@dataclass(frozen=True)
class Values:
    """A column as it is understood.

    missing: (n,) which values are absent.
    numbers: (n,) float64 of NUMBERS, FLAGS (0 or 1) and DATES (seconds since 1970, where they can be read), NaN
    where missing; else None.
    text: (n,) the values as stripped text where they are TEXT, None where missing; else None.
    """

    content: Content
    missing: NDArray[np.bool_]
    numbers: NDArray[np.float64] | None = None
    text: NDArray[np.object_] | None = None

    @property
    def varied(self) -> bool:
        """Whether there is more than one value, where a gap counts as one."""
        if self.missing.any():
            return not self.missing.all()
        if self.numbers is not None:
            return bool(np.any(self.numbers != self.numbers[0]))
        return self.text is None or len(set(self.text.tolist())) > 1


def understood(column: NDArray[Any]) -> Values:
    """The values of a column, by their type, and for text by what all of it can be read as."""
    kind = column.dtype.kind
    if kind in "iub":
        content = Content.FLAGS if kind == "b" else Content.NUMBERS
        return Values(content, np.zeros(len(column), dtype=bool), column.astype(np.float64))
    if kind == "f":
        return Values(Content.NUMBERS, np.isnan(column), column.astype(np.float64))
    if kind == "M":
        return _dates(column)
    if kind in "UST":
        return _of_text(column.astype(object))
    return _of_objects(column) if kind == "O" else Values(Content.OTHER, np.zeros(len(column), dtype=bool))


def _dates(column: NDArray[Any]) -> Values:
    missing = np.isnat(column)
    seconds = np.full(len(column), np.nan)
    seconds[~missing] = column[~missing].astype("datetime64[us]").astype(np.int64) / 1e6
    return Values(Content.DATES, missing, seconds)


def is_missing(value: object) -> bool:
    """Whether this stands for no value: None, NaN, NaT, NA, or text that says so."""
    if isinstance(value, str):
        return value.strip() in MISSING
    return type(value).__name__ in _NOTHING or (
        isinstance(value, float | np.floating | Decimal) and math.isnan(value)
    )


def _of_objects(column: NDArray[Any]) -> Values:
    """By the types of the values; numbers among text count as text."""
    values = column.tolist()
    absent = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    types = {type(value) for value, missing in zip(values, absent.tolist(), strict=True) if not missing}
    if not types:
        return Values(Content.TEXT, absent, text=np.full(len(values), None, dtype=object))
    if all(issubclass(kind, bool | np.bool_) for kind in types):
        return Values(Content.FLAGS, absent, _floats(values, absent))
    if all(issubclass(kind, bool | np.bool_ | int | float | Decimal | np.number) for kind in types):
        return Values(Content.NUMBERS, absent, _floats(values, absent))
    if all(issubclass(kind, datetime.date | np.datetime64) for kind in types):
        return Values(Content.DATES, absent, np.array([seconds(value) for value in values]))
    if all(issubclass(kind, str | int | float | Decimal | np.number | np.bool_) for kind in types):
        return _of_text(column)
    return Values(Content.OTHER, absent)


def _floats(values: Sequence[Any], absent: NDArray[np.bool_]) -> NDArray[np.float64]:
    result = np.full(len(values), np.nan)
    for row in np.flatnonzero(~absent).tolist():
        result[row] = _float(values[row])
    return result


def _float(value: Any) -> float:
    """A number as float64; one that is too large becomes infinite, which the caller refuses."""
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _of_text(column: NDArray[Any]) -> Values:
    """Text that is a number, a flag or a date throughout becomes one; judged on the different values only."""
    text = [None if is_missing(value) else str(value).strip() for value in column.tolist()]
    words = {value for value in text if value is not None}
    numeric = {word for word in words if word not in MISSING_NUMBERS}
    if numeric and all(map(is_number, numeric)):
        values = {word: float(word) for word in numeric}
        numbers = np.array([values.get(value or "", np.nan) for value in text])
        return Values(Content.NUMBERS, np.isnan(numbers), numbers)
    absent = np.array([value is None for value in text], dtype=bool)
    if words and all(map(is_flag, words)):
        flags = {word: float(word.lower() == "true") for word in words}
        return Values(Content.FLAGS, absent, np.array([flags.get(value or "", np.nan) for value in text]))
    if words and all(map(is_date, words)):
        moments = {word: seconds(word) for word in words}
        return Values(Content.DATES, absent, np.array([moments.get(value or "", np.nan) for value in text]))
    return Values(Content.TEXT, absent, text=np.array([*text, None], dtype=object)[:-1])


def is_number(word: str) -> bool:
    """Whether text is a number; one with zeros before it, such as 007, is a code and not a number."""
    return _NUMBER.fullmatch(word) is not None


def time_kind(value: object) -> Content | None:
    """Whether one value is a finite number or a date that can be read; None where it is neither."""
    if is_missing(value):
        return None
    word = str(value).strip()
    if isinstance(value, datetime.date | np.datetime64) or _DATE.fullmatch(word):
        return None if math.isnan(seconds(value)) else Content.DATES
    return Content.NUMBERS if is_number(word) and math.isfinite(float(word)) else None


def is_flag(word: str) -> bool:
    """Whether text says true or false."""
    return word.lower() in ("true", "false")


def is_date(word: str) -> bool:
    """Whether text looks like a date."""
    return _DATE.fullmatch(word) is not None


@dataclass
class Commas:
    """What the commas of a column's numbers mean, gathered from its words some at a time.

    first: the least word with a comma; grouped, decimal: whether all such words can be read so; numbers: whether
    all others are numbers; points: whether some of these have a point; sure: whether a word tells what a comma is.
    """

    first: str | None = None
    grouped: bool = True
    decimal: bool = True
    numbers: bool = True
    points: bool = False
    sure: bool = False

    def add(self, words: Sequence[str]) -> "Commas":
        commas = [word for word in words if "," in word]
        others = [word for word in words if "," not in word and word not in MISSING_NUMBERS]
        self.first = min([*commas, *([] if self.first is None else [self.first])], default=None)
        self.grouped = self.grouped and all(map(_GROUPED.fullmatch, commas))
        self.decimal = self.decimal and all(map(_DECIMAL_COMMA.fullmatch, commas))
        self.numbers = self.numbers and all(map(is_number, others))
        self.points |= any("." in word for word in others)
        self.sure |= any("." in word or word.count(",") > 1 for word in words)
        return self

    def add_numbers(self, *, whole: bool) -> None:
        """The same for text that was read as numbers."""
        self.points |= not whole
        self.sure |= not whole

    def reason(self) -> str | None:
        """What the commas mean and how to write the numbers without; None where not all text is numbers."""
        if self.first is None or not self.numbers:
            return None
        if self.grouped:
            if self.sure:
                return "numbers with commas between thousands; write them without"
            readings = f"{self.first.replace(',', '')} or {self.first.replace(',', '.')}"
            doubt = f"numbers with commas, of which {self.first} may be {readings}"
            return f"{doubt}; write thousands without a comma and decimals with a point"
        return "numbers with a decimal comma; write a point" if self.decimal and not self.points else None


def seconds(value: Any) -> float:
    """Seconds since 1970 of a date or of text in ISO format, without a time zone in UTC; NaN for others."""
    if is_missing(value):
        return float("nan")
    if isinstance(value, np.datetime64):
        return float(value.astype("datetime64[us]").astype(np.int64)) / 1e6
    try:
        moment = datetime.datetime.fromisoformat(str(value))
    except ValueError:
        return float("nan")
    return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()


def array_of(tensor: Any) -> NDArray[Any]:
    """A tensor of torch, wherever it is, or an array."""
    return np.asarray(tensor.detach().cpu().numpy() if hasattr(tensor, "detach") else tensor)
