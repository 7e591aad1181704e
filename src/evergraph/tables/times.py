"""A column of times: numbers, or dates as seconds."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from evergraph.tables.table import Table
from evergraph.tables.values import Content, seconds, time_kind


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
