"""The plan of a conversion: how much of what is in memory at a time, from a budget."""

from dataclasses import dataclass

from evergraph.budget import LEAST
from evergraph.errors import ConfigError
from evergraph.tables.reading import CHUNK

CELL_BYTES, RECORD_BYTES, KEY_BYTES, FEATURE_BYTES = 240, 192, 64, 32
"""Memory of a cell of a table while it is read, of an edge while it is sorted, of an id while it is looked up, and
of a feature while it is written: with all copies."""


@dataclass(frozen=True)
class Plan:
    """memory: the budget in bytes. table_cells: read together; sort: edges or ids sorted together.

    lookup: ids that edges are compared with at a time. write: features encoded together.
    """

    memory: int
    table_cells: int
    sort: int
    lookup: int
    write: int

    @classmethod
    def of(cls, memory: int) -> "Plan":
        """What fits into so many bytes, besides what the program needs by itself."""
        if memory < LEAST:
            raise ConfigError(f"--memory must be at least {LEAST // 10**6} MB, got {memory:,} bytes instead")
        quarter = memory // 4
        return cls(
            memory,
            quarter // CELL_BYTES,
            memory // 2 // RECORD_BYTES,
            memory // 2 // KEY_BYTES,
            quarter // FEATURE_BYTES,
        )

    def table_rows(self, n_columns: int) -> int:
        """Rows of a table that are read together."""
        return max(1, min(CHUNK, self.table_cells // max(n_columns, 1)))

    def write_rows(self, n_features: int) -> int:
        """Rows of features that are encoded together."""
        return max(1, self.write // max(n_features, 1))

    def described(self, node_columns: int, edge_columns: int) -> str:
        """One sentence on what the budget leads to."""
        return (
            f"memory of {self.memory / 1e9:g} GB besides the program's own: {self.table_rows(node_columns):,} "
            f"nodes and {self.table_rows(edge_columns):,} edges are read at a time, {self.sort:,} edges are sorted "
            f"at a time, and each edge is compared with {self.lookup:,} ids at a time"
        )
