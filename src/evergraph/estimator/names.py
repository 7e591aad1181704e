"""How classes are called: one name for 3, "3" and "3.0", all of one kind, and none like the answer `unknown`."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.tables.labels import plain

Label = str | int
UNKNOWN: tuple[str, int] = ("unknown", -1)
"""The answer for nodes unlike anything learned, where classes are text and where they are numbers."""


def spelled(labels: NDArray[np.object_], classes: Sequence[Label]) -> NDArray[np.object_]:
    """Labels as the classes are called: 3, "3" and "3.0" are one name, that of the first batch."""
    known: dict[str, object] = {plain(name): name for name in classes}
    here = {(type(label), label) for label in labels.tolist() if label is not None}
    text = isinstance(classes[0], str) if classes else None
    for _, label in sorted(here, key=lambda one: (len(str(one[1])), str(one[1]))):
        known.setdefault(plain(label), label if text is None else _as_text_or_number(label, text))
    found = labels.copy()
    found[:] = [None if label is None else known[plain(label)] for label in labels.tolist()]
    return found


def _as_text_or_number(label: Any, text: bool) -> Any:
    """A new label as the others are: text, or a whole number where it is one."""
    if text:
        return str(label)
    whole = plain(label)
    return int(whole) if isinstance(label, str) and whole.isdecimal() and str(int(whole)) == whole else label


def check_names(names: Sequence[Label], classes: Sequence[Label], *, rejecting: bool) -> None:
    """DataError for names of another kind than the classes before, or one that means no answer."""
    text = isinstance(classes[0] if classes else names[0], str)
    other = next((name for name in names if isinstance(name, str) != text), None)
    if other is not None:
        wanted = "text" if text else "whole numbers"
        raise DataError(
            f"labels must be {wanted} as in the first batch, got {other!r} instead; give them as they were"
        )
    flags = [name for name in names if isinstance(name, bool)]
    if flags and (len(flags) < len(names) or (classes and not isinstance(classes[0], bool))):
        raise DataError(f"labels must be of one kind, got {flags[0]} among numbers instead; use names")
    if not flags and classes and isinstance(classes[0], bool):
        raise DataError(f"labels must be True or False as in the first batch, got {names[0]!r} instead")
    if rejecting and UNKNOWN[0] in names:
        raise DataError(
            f"a class called {UNKNOWN[0]!r} cannot be told from no answer, which reject gives; rename the class"
        )


def in_order(names: Collection[Label]) -> list[Label]:
    """Names sorted, whole numbers by their size."""
    return sorted(names, key=lambda name: (str(type(name)), name))
