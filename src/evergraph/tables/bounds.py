"""How many columns a table may have, and how large it may be in memory."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.limits import MOST_COLUMNS

SHOWN = 12
"""Names in a message."""
TEXT_BYTES = 49
"""Of a text in Python besides its characters."""


def checked_names(name: str, columns: list[str]) -> list[str]:
    """The names of columns; DataError where they are too many or one is there twice."""
    if len(columns) > MOST_COLUMNS:
        raise DataError(
            f"{name} must have at most {MOST_COLUMNS:,} columns, got {len(columns):,} instead; give so many "
            "features as a matrix (.npz)"
        )
    if len(set(columns)) < len(columns):
        raise DataError(f"{name} must name every column once, got {_few(columns)} instead")
    return columns


def _few(names: Sequence[str]) -> str:
    """Some names for a message."""
    shown = ", ".join(name if len(name) <= 60 else name[:57] + "..." for name in names[:SHOWN])
    return shown + (f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else "")


def too_large(name: str, most: int) -> DataError:
    """The error about a table that takes more than so many bytes."""
    return DataError(
        f"{name} must be a table that fits into memory, got one of more than {most / 1e6:,.0f} MB; read it in "
        "blocks: evergraph data convert"
    )


def bytes_held(column: NDArray[Any]) -> int:
    """Bytes of a column with its texts; one that is there twice counts twice."""
    texts = sum(map(len, column.tolist())) + TEXT_BYTES * len(column) if column.dtype.kind == "O" else 0
    return column.nbytes + texts
