"""A column of flags: true or false."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evergraph.tables.column import Column, Encoded
from evergraph.tables.table import Table


class FlagColumn(Column):
    """True or false, as 1 and 0."""

    kind: Literal["flag"] = "flag"
    treatment: ClassVar[str] = "flags"

    @property
    def feature_names(self) -> tuple[str, ...]:
        return (self.name, *self.gap_name)

    def encode(self, table: Table) -> Encoded:
        values = table.values(self.name)
        self.refuse_gaps(table, values)
        if values.numbers is None:
            numbers = np.full(table.n_rows, np.nan)
            wrong = np.flatnonzero(~values.missing)
        else:
            numbers = values.numbers
            wrong = np.flatnonzero(~values.missing & (numbers != 0) & (numbers != 1))
        if len(wrong):
            raise table.refusal(
                int(wrong[0]),
                self.name,
                "0 or 1, as in the first batch",
                "; mend it, or learn a new model that takes the column as a number",
            )
        return self.features(np.where(values.missing, np.nan, numbers)), {}

    def features(self, numbers: NDArray[np.float64]) -> NDArray[np.float32]:
        """Features of 0 and 1, NaN where one is missing."""
        return self.with_gaps(np.nan_to_num(numbers)[:, None].astype(np.float32), np.isnan(numbers))

    def filled(self, table: Table) -> int:
        """The features of a table that are not zero."""
        return int(np.count_nonzero(self.encode(table)[0]))

    def described(self) -> str:
        return f"{self.name}: flag, 0 or 1{self.gaps_described()}"
