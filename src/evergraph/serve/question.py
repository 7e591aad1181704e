"""What /predict is asked: nodes and edges as JSON or as pasted CSV, made into a batch that fits the model."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, WithJsonSchema

from evergraph.config import Settings, validated
from evergraph.errors import DataError
from evergraph.serve.limits import Limits, Refusal
from evergraph.tables import Batch, Duplicates, FeatureSchema, Table, table_from_text
from evergraph.tables.edges import edge_adjacency
from evergraph.tables.ids import checked_ids
from evergraph.tables.roles import ID, NO_NODES, SOURCE, TARGET, WEIGHT

TOO_LARGE = 413
SHOWN = 12
"""Names in a remark."""
PLAIN = (str, int, float, bool, type(None))

_SCALAR = {"anyOf": [{"type": kind} for kind in ("string", "number", "boolean", "null")]}
_NAME = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
NODES = {
    "title": "Nodes",
    "description": "One object a node, with `id` and the columns of GET /schema; or a table as CSV text.",
    "anyOf": [
        {"type": "array", "items": {"type": "object", "additionalProperties": _SCALAR}, "minItems": 1},
        {"type": "string"},
    ],
}
EDGES = {
    "title": "Edges",
    "description": "Pairs of ids, a third entry being a weight; or a table as CSV text with `source` and `target`.",
    "anyOf": [
        {"type": "array", "items": {"type": "array", "items": _NAME, "minItems": 2, "maxItems": 3}},
        {"type": "string"},
    ],
}


class Question(Settings):
    """The body of POST /predict.

    probabilities: of all classes; drawing: positions for a picture; unknown: the least probability of an answer,
    where it is not the model's. The names of columns are for tables whose columns are called otherwise.
    """

    model_config = ConfigDict(strict=True)

    nodes: Annotated[Any, WithJsonSchema(NODES)]
    edges: Annotated[Any, WithJsonSchema(EDGES)] = ()
    probabilities: bool = False
    drawing: bool = False
    unknown: float | None = Field(None, ge=0, le=1)
    id_column: str | None = None
    source_column: str = SOURCE
    target_column: str = TARGET
    weight_column: str | None = None
    directed: bool = False
    merge_duplicates: bool = False


def question_of(values: Any) -> Question:
    """The question in the values of a body; ConfigError in one sentence for others."""
    if not isinstance(values, dict):
        raise DataError(f'an object with "nodes" and "edges" is wanted, got {_kind(values)} instead')
    return validated(Question, values, "request")


def batch_of(question: Question, schema: FeatureSchema, limits: Limits) -> Batch:
    """The nodes and edges as a batch with the columns that the model uses; labels and times are not looked at."""
    id_column = question.id_column or role(schema, "the ids") or ID
    wanted = wanted_columns(schema)
    nodes, extra = _nodes(question.nodes, id_column, wanted, limits)
    ids = checked_ids(nodes.column(id_column, "; name the column of ids (id_column)"), nodes, id_column)
    edges = _edges(question, limits)
    adjacency, remarks = edge_adjacency(
        edges,
        ids,
        nodes.name,
        (question.source_column, question.target_column, question.weight_column),
        directed=question.directed,
        duplicates=Duplicates.MERGE if question.merge_duplicates else Duplicates.ERROR,
    )
    unused = [name for name in extra if name not in schema.left_out]
    if unused:
        remarks = (*remarks, f"nodes: columns that the model does not use: {_listed(unused)}")
    return Batch(
        ids=ids,
        labels=np.full(len(ids), None, dtype=object),
        adjacency=adjacency,
        attributes=_attributes(nodes, schema, wanted),
        directed=question.directed,
        remarks=remarks,
    )


def wanted_columns(schema: FeatureSchema) -> list[str]:
    """The names of the columns that a request must have; those without names are numbered."""
    return list(schema.feature_names) if schema.width is not None else [column.name for column in schema.columns]


def role(schema: FeatureSchema, what: str) -> str | None:
    """The column that had this role in the first batch."""
    return next((name for name, why in schema.left_out.items() if why == what), None)


def _attributes(nodes: Table, schema: FeatureSchema, wanted: Sequence[str]) -> Table | NDArray[np.float32] | None:
    if schema.width is None:
        present = [name for name in wanted if name in nodes.columns]
        return nodes.subset(present) if present else None
    missing = [name for name in wanted if name not in nodes.columns]
    if missing:
        raise DataError(
            f"{nodes.name} must have the columns '0' to '{schema.width - 1}', got none called {_listed(missing)} "
            "instead; add them"
        )
    return np.column_stack([nodes.doubles(name) for name in wanted]).astype(np.float32)


# nodes


def _nodes(given: Any, id_column: str, wanted: Collection[str], limits: Limits) -> tuple[Table, list[str]]:
    """The table of nodes with the ids and the wanted columns, and the names of the others."""
    if isinstance(given, str):
        table = table_from_text(given, "nodes", verbatim={id_column}, if_empty=NO_NODES)
        _forbid_many(table.n_rows, limits.nodes, "nodes")
        extra = [name for name in table.columns if name not in wanted and name != id_column]
        return table.subset([name for name in table.columns if name not in extra]), extra
    if not isinstance(given, list):
        raise DataError(f"nodes must be a list of objects or CSV text, got {_kind(given)} instead")
    if not given:
        raise DataError("nodes must have at least one node, got none instead")
    _forbid_many(len(given), limits.nodes, "nodes")
    for row, node in enumerate(given):
        if not isinstance(node, dict):
            raise DataError(
                f'nodes row {row + 1} must be an object such as {{"id": 1, …}}, got {_kind(node)} instead'
            )
    named = dict.fromkeys(name for node in given for name in node)
    columns = {
        name: _column([node.get(name) for node in given], "nodes", name)
        for name in (id_column, *wanted)
        if name in named
    }
    if id_column in columns:
        _check_ids([node.get(id_column) for node in given], "nodes", id_column)
    return Table("nodes", columns), [name for name in named if name not in columns]


def _column(values: list[Any], table: str, name: str) -> NDArray[Any]:
    """Values of JSON as numpy: numbers as numbers, others as they are; lists and objects raise."""
    kinds = set(map(type, values))
    if not kinds <= set(PLAIN):
        row = next(row for row, value in enumerate(values) if not isinstance(value, PLAIN))
        raise DataError(
            f"{table} row {row + 1}, column {name!r}, must be text, a number, true, false or null, "
            f"got {_kind(values[row])} instead"
        )
    try:
        if kinds == {int}:
            return np.array(values, dtype=np.int64)
        if kinds == {float}:
            return np.array(values, dtype=np.float64)
    except OverflowError:  # more than 64 bits
        pass
    return _objects(values)


def _objects(values: list[Any]) -> NDArray[np.object_]:
    return np.array([*values, None], dtype=object)[:-1]


def _check_ids(values: Sequence[Any], table: str, name: str) -> None:
    """DataError for an id that is neither text nor a whole number; missing ones are judged later."""
    if set(map(type, values)) <= {str, int, type(None)}:
        return
    row = next(row for row, value in enumerate(values) if type(value) not in (str, int, type(None)))
    raise DataError(
        f"{table} row {row + 1}, column {name!r}, must be text or a whole number, got {_kind(values[row])} instead"
    )


# edges


def _edges(question: Question, limits: Limits) -> Table | None:
    """The table of edges; None where there are none."""
    given, ends = question.edges, (question.source_column, question.target_column)
    if ends[0] == ends[1]:
        raise DataError(f"source_column and target_column must differ, got {ends[0]!r} twice instead")
    if isinstance(given, str):
        if not given.strip():
            return None
        table = table_from_text(given, "edges", verbatim=set(ends), if_empty="leave edges out where there are none")
        _forbid_many(table.n_rows, limits.edges, "edges")
        return table
    if not isinstance(given, list | tuple):
        raise DataError(f"edges must be a list of pairs or CSV text, got {_kind(given)} instead")
    _forbid_many(len(given), limits.edges, "edges")
    return _pairs(given, ends, question.weight_column) if given else None


def _pairs(given: Sequence[Any], ends: tuple[str, str], weight_column: str | None) -> Table:
    """Edges [source, target] or, all of them, [source, target, weight]."""
    size = len(given[0]) if isinstance(given[0], list) else 2
    for row, edge in enumerate(given):
        if not isinstance(edge, list) or len(edge) != size or size not in (2, 3):
            wanted = "[source, target, weight]" if size == 3 else "[source, target]"
            came = f"{len(edge)} entries" if isinstance(edge, list) else _kind(edge)
            raise DataError(f"edges row {row + 1} must be {wanted}, got {came} instead")
    names = (*ends, *((weight_column or WEIGHT,) if size == 3 else ()))
    if len(set(names)) < len(names):
        raise DataError(f"weight_column must differ from those of the ids, got {names[-1]!r} instead")
    entries = {name: [edge[at] for edge in given] for at, name in enumerate(names)}
    for name in ends:
        _check_ids(entries[name], "edges", name)
    return Table("edges", {name: _column(values, "edges", name) for name, values in entries.items()})


def _forbid_many(came: int, most: int, what: str) -> None:
    if came > most:
        raise Refusal(
            TOO_LARGE, f"at most {most:,} {what} are wanted, got {came:,} instead; ask for fewer at a time"
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(repr(name if len(name) <= 60 else name[:57] + "...") for name in names[:SHOWN]) + more


def _kind(value: object) -> str:
    """What JSON calls a value."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
