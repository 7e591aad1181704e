"""What a classifier remembers of each step: what came, what was learned, how well every class is known since."""

from collections.abc import Sequence

import numpy as np

from evergraph.config import Settings
from evergraph.estimator.held_out import Outcome


class ClassAccuracy(Settings):
    """A class on held-out nodes: how many were tested, the share that is right, the change since the last step."""

    label: str | int
    nodes: int
    accuracy: float
    change: float | None = None


class Rejection(Settings):
    """Answers withheld. below: the probability; share: of held-out nodes; accuracy: of those that were answered.

    novel: nodes of classes that were new in this step; novel_share: of these, before they were learned.
    """

    below: float
    share: float
    accuracy: float
    novel: int = 0
    novel_share: float | None = None


class Step(Settings):
    """One step in the life of a classifier: `learn`, `forget` or `merge`."""

    kind: str
    nodes: int
    labelled: int = 0
    learned: int = 0
    held_out: int = 0
    known: int = 0
    edges: int = 0
    weighted: bool = False
    directed: bool = False
    new_classes: tuple[str | int, ...] = ()
    returning_classes: tuple[str | int, ...] = ()
    classes: tuple[ClassAccuracy, ...] = ()
    accuracy: float | None = None
    untested: int = 0
    rejection: Rejection | None = None
    temperature: float | None = None
    bytes: int = 0
    seconds: float = 0.0
    remarks: tuple[str, ...] = ()


def class_accuracies(
    tested: Outcome, classes: Sequence[str | int], before: Sequence[ClassAccuracy]
) -> tuple[ClassAccuracy, ...]:
    """The accuracy of every class that has held-out nodes, in order of arrival."""
    last = {entry.label: entry.accuracy for entry in before}
    right = tested.logits.argmax(axis=1) == tested.labels if len(tested.labels) else np.zeros(0, dtype=bool)
    found = []
    for index, label in enumerate(classes):
        own = tested.labels == index
        if own.any():
            accuracy = float(right[own].mean())
            change = accuracy - last[label] if label in last else None
            found.append(ClassAccuracy(label=label, nodes=int(own.sum()), accuracy=accuracy, change=change))
    return tuple(found)
