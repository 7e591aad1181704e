"""Labels by the person's own names: text or whole numbers, None where one is missing."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evergraph.errors import DataError
from evergraph.tables.table import Table
from evergraph.tables.values import MISSING, MISSING_NUMBERS, array_of, is_missing, is_number

Labels: TypeAlias = ArrayLike | Sequence[object]
"""One label for each node, by any names."""
WANTED = "a name or a whole number that is not negative"
NO_NAMES = (MISSING_NUMBERS - {""}) | {"none", "#N/A", "<NA>"}
"""Words that programs write where a label is missing, in tables."""
NO_NAMES_IN_MEMORY = MISSING - {""}
"""The same for labels in memory, where all other words are names."""


def label_values(table: Table, name: str) -> NDArray[np.object_]:
    """A column of labels; all of a text file are text, so that 3 is the same class in every file."""
    values = [None if _is_no_name(value) else value for value in table.column(name).tolist()]
    labels = _text_labels(values) if table.is_text else [_name(value) for value in values]
    for row, label in enumerate(labels):
        if label is _REFUSED or _is_unfit(label):
            raise table.refusal(row, name, WANTED, "; leave the label empty where it is not known")
    _forbid_mixture(labels, lambda row: table.refusal(row, name, "text or a whole number as the labels before it"))
    return _objects(labels)


def plain(label: object) -> str:
    """One text for 3, "3", "3.0" and 3.0: ways to write a label that files of one person mix up."""
    text = str(label)
    whole = text.removesuffix(".0")
    return whole if whole.removeprefix("-").isdecimal() else text


def labels_of(given: Labels, n_nodes: int) -> NDArray[np.object_]:
    """Labels in memory: a list, an array, a tensor or a pandas column; None, NaN, "" and -1 are missing ones."""
    given = array_of(given) if hasattr(given, "detach") else given
    shape = given.shape if isinstance(given, np.ndarray) else None
    values = _listed(given)
    if (shape is not None and shape != (n_nodes,)) or len(values) != n_nodes:
        came = len(values) if shape is None else f"shape {shape}"
        raise DataError(f"there must be one label for each of the {n_nodes} nodes, got {came} instead")
    labels = [_name(value) for value in values]
    labels = [None if label == -1 and not isinstance(label, bool) else label for label in labels]
    for row, label in enumerate(labels):
        if label is _REFUSED or _is_unfit(label):
            raise DataError(
                f"label {row + 1} must be {WANTED}, got {values[row]!r} instead; use None where it is not known"
            )
    _forbid_mixture(
        labels,
        lambda row: DataError(
            f"label {row + 1} must be text or a whole number as the labels before it, got {values[row]!r} instead"
        ),
    )
    return _objects(labels)


_REFUSED = object()


def label_remarks(table: Table, name: str) -> tuple[str, ...]:
    """Remarks on a column of labels: words such as NA, which are taken as missing, and spaces around names."""
    return _remarks(table.name, table.column(name).tolist(), NO_NAMES)


def remarks_of(given: Labels) -> tuple[str, ...]:
    """The same remarks on labels in memory."""
    if hasattr(given, "detach") or (isinstance(given, np.ndarray) and given.dtype.kind not in "OUT"):
        return ()
    return _remarks("y", _listed(given), NO_NAMES_IN_MEMORY)


def _remarks(where: str, values: list[Any], no_names: frozenset[str]) -> tuple[str, ...]:
    text = [value for value in values if isinstance(value, str)]
    gaps = Counter(word for value in text if (word := value.strip()) in no_names)
    wider = [value for value in text if value != value.strip() and value.strip() not in {*no_names, ""}]
    found = []
    if gaps:
        words, are = ", ".join(map(repr, sorted(gaps))), "label {} is" if gaps.total() == 1 else "labels {} are"
        found.append(
            f"{where}: {gaps.total():,} {are.format(words)} taken as missing; rename a class that is called so"
        )
    if wider:
        first, these = wider[0], "1 label has" if len(wider) == 1 else f"{len(wider):,} labels have"
        found.append(f"{where}: {these} spaces around, which are left out: {first!r} is {first.strip()!r}")
    return tuple(found)


def _listed(given: Labels) -> list[Any]:
    return given.tolist() if isinstance(given, np.ndarray) else list(given)  # type: ignore[arg-type]


def _is_no_name(value: object) -> bool:
    return isinstance(value, str) and value.strip() in NO_NAMES


def _text_labels(values: list[Any]) -> list[object]:
    """Labels of a text file; where all are numbers, 2.0 is 2 (a column with gaps is often written so)."""
    labels: list[object] = [None if is_missing(value) else str(value).strip() for value in values]
    words = {str(label) for label in labels if label is not None}
    if not all(map(is_number, words)):
        return labels
    whole = {word: str(int(float(word))) for word in words if "." in word and float(word).is_integer()}
    return [whole.get(str(label), label) for label in labels]


def _name(value: Any) -> object:
    """A value as a label: text without blanks, a whole number as int, None where missing, else _REFUSED."""
    value = value.item() if getattr(value, "ndim", None) == 0 else value  # one of numpy, or of a tensor
    if is_missing(value):
        return None
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, bool | int | float) else _REFUSED


def _is_unfit(label: object) -> bool:
    """Whether this is a number, but not a whole one from 0."""
    if isinstance(label, str) and not is_number(label):
        return False
    number = float(label) if isinstance(label, str | int | float) else 0.0
    return number < 0 or not number.is_integer()


def _forbid_mixture(labels: list[object], refusal: Any) -> None:
    """Raise where text and numbers are mixed, since 3 and "3" would be two classes."""
    kinds = [None if label is None else isinstance(label, str) for label in labels]
    first = next((kind for kind in kinds if kind is not None), None)
    for row, kind in enumerate(kinds):
        if kind is not None and kind != first:
            raise refusal(row)


def _objects(labels: list[object]) -> NDArray[np.object_]:
    result = np.empty(len(labels), dtype=object)
    result[:] = labels
    return result
