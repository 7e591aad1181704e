"""What every column of a schema has: a name, gaps, and remarks on what it did."""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from evergraph.config import Settings
from evergraph.tables.table import Table
from evergraph.tables.values import Values

CUT = 10.0
"""Standard deviations from the mean at which scaled numbers are cut."""
ENOUGH = 20
"""Numbers or rows from which on a batch is asked about that is unlike the first."""


class About(StrEnum):
    """What a remark on a column is about; those about many columns are given as one."""

    CUT = f"values cut at {CUT:g} standard deviations"
    UNLIKE = "numbers unlike those of the first batch (are they in the same unit?)"
    NEW = "new categories"
    MISSING = "missing values"


Encoded = tuple[NDArray[np.float32], dict[About, str]]


class ColumnKind(StrEnum):
    """What a column of features is."""

    NUMBER = "number"
    FLAG = "flag"
    CATEGORY = "category"


class Column(Settings):
    """name: as in the table. gaps: whether the first batch had missing values; they have a feature of their own."""

    name: str
    gaps: bool = False

    @property
    def gap_name(self) -> tuple[str, ...]:
        return (f"{self.name} (missing)",) if self.gaps else ()

    def refuse_gaps(self, table: Table, values: Values) -> None:
        rows = np.flatnonzero(values.missing)
        if len(rows) and not self.gaps:
            raise table.refusal(
                int(rows[0]),
                self.name,
                "filled in, as in the first batch, which had no gaps",
                f"; fill it in ({len(rows):,} rows)",
            )

    def with_gaps(self, features: NDArray[np.float32], missing: NDArray[np.bool_]) -> NDArray[np.float32]:
        if not self.gaps:
            return features
        return np.hstack([features, missing[:, None].astype(np.float32)])

    def gaps_described(self) -> str:
        return "; missing values are marked in a feature of their own" if self.gaps else ""
