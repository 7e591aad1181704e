"""What a column of a first batch becomes: a number, a flag, a category, or nothing, with the reason."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evergraph.errors import DataError
from evergraph.tables.category_column import CategoryColumn, category_words
from evergraph.tables.flag_column import FlagColumn
from evergraph.tables.number_column import NumberColumn, finite
from evergraph.tables.order import BLOCK, Sliced, blocks, present_blocks
from evergraph.tables.table import Table
from evergraph.tables.values import Commas, Content, is_number

MOST_CATEGORIES = 50
MOST_WORDS = 10_000
"""Different words of a column that are kept where it is read in chunks."""
FEWEST_ROWS = 10
"""Rows from which a column that counts them is taken for a row number."""
SAME, EMPTY = "always the same", "empty"
"""Why a column is left out that says nothing of a node; a later batch may have other values."""
MOSTLY_NUMBERS = "a finite number as most of this column"
MEND = "; mend it, ignore the column, or name it among the categories"
_INDEX = re.compile(r"|Unnamed: \d+|__index_level_\d+__")


@dataclass(frozen=True)
class Facts:
    """What a judgement on a column needs to know of it, whether it is in memory or was read in chunks.

    rows, missing: how many. numbers: of NUMBERS and FLAGS, NaN where one is missing.
    words: the different words of a column as a category, in order; None where there are more than can be kept.
    categorical: whether its type says that it holds categories.
    commas: why TEXT is no category where all of it is numbers with commas.
    numeric: how many present values of TEXT look like numbers; other: the error about the first that does not.
    forbid_large: raises for a number that 32 bits cannot hold.
    """

    content: Content
    rows: int
    missing: int
    numbers: Sliced | None
    words: Callable[[], tuple[str, ...] | None]
    categorical: bool
    commas: str | None
    numeric: int
    other: Callable[[], DataError]
    forbid_large: Callable[[], None]


def facts_of(table: Table, name: str) -> Facts:
    """The facts of a column in memory."""
    values = table.values(name)
    present = [] if values.text is None else values.text[~values.missing].tolist()
    numeric = [is_number(word) for word in present]

    def other() -> DataError:
        row = int(np.flatnonzero(~values.missing)[numeric.index(False)])
        return table.refusal(row, name, MOSTLY_NUMBERS, MEND)

    def words() -> tuple[str, ...]:
        return tuple(sorted({word for word in category_words(table, name)[0] if word is not None}))

    def forbid_large() -> None:
        if values.numbers is not None:
            finite(table, name, values.numbers)

    numbers = values.numbers if values.content in (Content.NUMBERS, Content.FLAGS) else None
    if numbers is not None and values.missing.any():
        numbers = np.where(values.missing, np.nan, numbers)
    return Facts(
        values.content,
        table.n_rows,
        int(values.missing.sum()),
        numbers,
        words,
        name in table.categorical,
        Commas().add([*set(present)]).reason(),
        sum(numeric),
        other,
        forbid_large,
    )


@dataclass(frozen=True)
class Judge:
    """What becomes of a column by its facts.

    table: what messages call it. ids: of the rows, None where they are text.
    scale: whether numbers are scaled; numbers, categories: columns whose kind the person has said.
    """

    table: str
    ids: Sliced | None
    scale: bool
    numbers: frozenset[str]
    categories: frozenset[str]

    def __call__(self, name: str, facts: Facts) -> NumberColumn | FlagColumn | CategoryColumn | str:
        """The column of the schema, or why it is left out."""
        if name in self.categories:
            return self._category(name, facts)
        if name in self.numbers:
            return self._asked_number(name, facts)
        why = self._useless(name, facts)
        if why is not None:
            return why
        return self._text(name, facts) if facts.content is Content.TEXT else self._numeric(name, facts)

    def _useless(self, name: str, facts: Facts) -> str | None:
        """Why a column is left out whatever its values are, if it is."""
        if _INDEX.fullmatch(name):
            return "row numbers"
        if facts.missing == facts.rows:
            return EMPTY
        return {Content.DATES: "dates", Content.OTHER: "neither numbers nor text"}.get(facts.content)

    def _asked_number(self, name: str, facts: Facts) -> NumberColumn:
        if facts.content is not Content.NUMBERS or facts.missing == facts.rows:
            came = "no values" if facts.missing == facts.rows else facts.content.value
            raise DataError(f"{self.table}, column {name!r}, must hold numbers, got {came} instead")
        return self._number(name, facts)

    def _numeric(self, name: str, facts: Facts) -> NumberColumn | FlagColumn | CategoryColumn | str:
        assert facts.numbers is not None
        gaps = facts.missing > 0
        if not gaps and (why := self._counting(facts.numbers)):
            return why
        parts = [part for part in _extremes(facts.numbers) if part is not None]
        if not gaps and min(low for low, _, _ in parts) == max(high for _, high, _ in parts):
            return SAME
        if facts.categorical and facts.content is Content.NUMBERS:
            return self._category(name, facts, most=MOST_CATEGORIES, what="categories")
        if facts.content is Content.FLAGS or all(flags for _, _, flags in parts):
            return FlagColumn(name=name, gaps=gaps)
        return self._number(name, facts)

    def _number(self, name: str, facts: Facts) -> NumberColumn:
        assert facts.numbers is not None
        facts.forbid_large()
        return NumberColumn.fit(name, facts.numbers, gaps=facts.missing > 0, scaled=self.scale)

    def _counting(self, numbers: Sliced) -> str | None:
        """Why a column without gaps is only another name of its rows, if it is."""
        if len(numbers) < FEWEST_ROWS:
            return None
        if self.ids is not None and all(map(np.array_equal, blocks(numbers), blocks(self.ids))):
            return "the ids again"
        first = numbers[0:1][0]
        if first not in (0, 1):
            return None
        starts = range(0, len(numbers), BLOCK)
        counted = all(
            np.array_equal(part - first, np.arange(start, start + len(part)))
            for start, part in zip(starts, blocks(numbers, BLOCK), strict=True)
        )
        return "row numbers" if counted else None

    def _text(self, name: str, facts: Facts) -> CategoryColumn | str:
        if facts.commas:
            return facts.commas
        if 2 * facts.numeric >= facts.rows - facts.missing:
            raise facts.other()
        return self._category(name, facts, most=min(MOST_CATEGORIES, max(2, facts.rows // 2)))

    def _category(
        self, name: str, facts: Facts, *, most: int | None = None, what: str = "text"
    ) -> CategoryColumn | str:
        """The column as categories, or why not; most: the number of different values above which it is none."""
        found = facts.words()
        if found is None:
            if most is not None:
                return f"{what} with more than {MOST_WORDS:,} different values"
            raise DataError(
                f"{self.table}, column {name!r}, must have at most {MOST_WORDS:,} different values as categories, "
                "got more instead; leave it out of the categories"
            )
        if not found:
            return EMPTY
        if most is not None and len(found) > most:
            return f"{what} with {len(found):,} different values"
        if len(found) == 1 and not facts.missing:
            return SAME
        return CategoryColumn(name=name, gaps=facts.missing > 0, categories=found)


def _extremes(numbers: Sliced) -> Iterator[tuple[float, float, bool] | None]:
    """Of each block its least and its largest number, and whether all are 0 or 1; None where all are missing."""
    for part in present_blocks(numbers):
        yield (float(part.min()), float(part.max()), bool(np.isin(part, (0, 1)).all())) if len(part) else None
