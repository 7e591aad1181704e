"""What the server says: the answer to a question, the health and the columns of the model, as plain values."""

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

import evergraph
from evergraph.errors import DataError
from evergraph.serve.layout import drawing
from evergraph.serve.limits import Limits
from evergraph.serve.question import Question, batch_of, role, wanted_columns
from evergraph.serve.served import Loaded
from evergraph.tables import FeatureSchema
from evergraph.tables.category_column import CategoryColumn
from evergraph.tables.flag_column import FlagColumn
from evergraph.tables.roles import ID

EXACT = 2**53
"""Whole numbers from here on are sent as text, because readers of JSON round them."""
FIELDS = ("id", "label", "probability", "margin")


def answered(loaded: Loaded, question: Question, limits: Limits) -> dict[str, Any]:
    """Label, probability and margin (to the next class) of every node, in the order of the nodes."""
    classifier = loaded.classifier
    batch = batch_of(question, classifier.schema_, limits)
    found = classifier.answers(batch, question.unknown)
    if not np.isfinite(found.top).all():
        raise DataError("numbers that the model can follow are wanted, got some for which its answer is no number")
    rows = zip(
        map(exact, batch.ids.tolist()),
        map(exact, found.labels.tolist()),
        np.round(found.top, 6).tolist(),
        np.round(found.margin, 6).tolist(),
        strict=True,
    )
    predictions = [dict(zip(FIELDS, row, strict=True)) for row in rows]
    if question.probabilities:
        shares = np.round(classifier.predict_proba(batch), 6).tolist()
        for prediction, share in zip(predictions, shares, strict=True):
            prediction["probabilities"] = share
    told: dict[str, Any] = {
        "model": loaded.name,
        "checksum": loaded.checksum,
        "classes": classes(loaded),
        "predictions": predictions,
        "remarks": [*found.remarks, *([loaded.remark] if loaded.remark else [])],
    }
    if question.drawing:
        drawn = drawing(batch.adjacency)
        told["drawing"] = {
            "nodes": drawn.nodes.tolist(),
            "x": np.round(drawn.places[:, 0], 4).tolist(),
            "y": np.round(drawn.places[:, 1], 4).tolist(),
            "edges": drawn.edges.tolist(),
            "remarks": list(drawn.remarks),
        }
    return told


def exact(value: Any) -> Any:
    """An id or a label as any reader of JSON has it again."""
    return str(value) if isinstance(value, int) and abs(value) > EXACT else value


def classes(loaded: Loaded) -> list[Any]:
    return [exact(name) for name in loaded.classifier.classes_.tolist()]


def health(loaded: Loaded) -> dict[str, Any]:
    """What is served. loads: how often the model was read since the start; remark: what is wrong, if anything."""
    history = loaded.classifier.history_
    return {
        "status": "ok",
        "model": loaded.name,
        "method": loaded.classifier.method,
        "classes": classes(loaded),
        "batches": loaded.classifier.n_batches_,
        "accuracy": history[-1].accuracy if history else None,
        "version": evergraph.__version__,
        "checksum": loaded.checksum,
        "loads": loaded.loads,
        "remark": loaded.remark,
    }


def columns(schema: FeatureSchema) -> dict[str, Any]:
    """The columns that a table of nodes must have, and an example of both tables."""
    id_column = role(schema, "the ids") or ID
    kinds = {column.name: column for column in schema.columns}
    entries: list[dict[str, Any]] = []
    for name in wanted_columns(schema):
        column = kinds.get(name)
        entry: dict[str, Any] = {"name": name, "kind": column.kind if column else "number"}
        if isinstance(column, CategoryColumn):
            entry["categories"] = list(column.categories)
        entries.append({**entry, "may_be_missing": bool(column and column.gaps)})
    return {
        "id_column": id_column,
        "columns": entries,
        "left_out": [{"name": name, "why": why} for name, why in schema.left_out.items()],
        "example": {"nodes": _example(schema, id_column), "edges": "source,target\nn1,n2\nn2,n3\nn3,n1\nn3,n4\n"},
    }


def _example(schema: FeatureSchema, id_column: str) -> str:
    """Four nodes as CSV, with values that the first batch could have had."""
    names = wanted_columns(schema)
    rows = [[f"n{row + 1}", *(_value(schema, at, row) for at in range(len(names)))] for row in range(4)]
    return _csv([[id_column, *names], *rows])


def _value(schema: FeatureSchema, at: int, row: int) -> object:
    if schema.width is not None:
        return (at + row) % 2
    column = schema.columns[at]
    if isinstance(column, CategoryColumn):
        return column.categories[row % len(column.categories)]
    if isinstance(column, FlagColumn):
        return row % 2
    near = column.mean + (row - 1.5) / 2 * column.deviation
    if column.unit is not None:  # the inverse of the logarithm by which the column is scaled
        near = float(np.sign(near) * column.unit * np.expm1(min(abs(near), 80.0)))
    return f"{near:.6g}"


def _csv(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
