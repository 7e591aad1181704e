"""What a column is to a batch: ids, labels, times, ends and weights of edges, or an attribute."""

from collections.abc import Collection

from evergraph.errors import ConfigError
from evergraph.tables.table import Table

ID, LABEL, TIME, SOURCE, TARGET, WEIGHT = "id", "label", "time", "source", "target", "weight"
"""The columns that are looked for where none are named."""
NO_NODES = "add a row for each node"
"""What to do about a table of no nodes."""


def present_column(table: Table, name: str | None, default: str, *, optional: bool) -> str | None:
    """The name of a column that is there: the one asked for, or the default if there is one."""
    if name is None:
        return default if default in table.columns else None
    if optional and name not in table.columns:
        return None
    table.column(name, f"; mend the name of the {default} column")
    return name


def left_out_columns(
    table: Table, id_column: str | None, label_column: str | None, time_column: str | None, ignore: Collection[str]
) -> dict[str, str]:
    if isinstance(ignore, str):
        raise ConfigError(f"a list of columns to ignore is wanted, got {ignore!r} instead; use [{ignore!r}]")
    for name in ignore:
        table.column(name, "; leave it out of the columns to ignore")
    roles: dict[str | None, str] = {id_column: "the ids", label_column: "the labels", time_column: "the times"}
    roles = {**dict.fromkeys(ignore, "ignored as asked"), **roles}
    return {name: why for name, why in roles.items() if name is not None and name in table.columns}
