"""What a classifier remembers of each step: what came, what was learned, how well every class is known since."""

from collections.abc import Sequence

import numpy as np

from evergraph.config import Settings
from evergraph.estimator.held_out import Outcome


class ClassAccuracy(Settings):
    """A class on held-out nodes."""

    label: str | int
    """The class."""
    nodes: int
    """Held-out nodes that were tested."""
    accuracy: float
    """The share that is right."""
    change: float | None = None
    """The change since the last step; null where the class is new."""


class Rejection(Settings):
    """Answers withheld."""

    below: float
    """The probability below which there is no answer."""
    share: float
    """The share of held-out nodes without an answer."""
    accuracy: float
    """The share of right answers among the others."""
    novel: int = 0
    """Nodes of classes that were new in this step."""
    novel_share: float | None = None
    """The share of these without an answer, before they were learned."""


class Step(Settings):
    """One step in the life of a classifier: `learn`, `forget` or `merge`."""

    kind: str
    """learn, forget or merge."""
    nodes: int
    """Nodes of the batch."""
    labelled: int = 0
    """Nodes with a label."""
    learned: int = 0
    """Nodes that were learned."""
    held_out: int = 0
    """Nodes that were kept aside."""
    known: int = 0
    """Labelled nodes that were learned before."""
    edges: int = 0
    """Edges of the batch."""
    weighted: bool = False
    """Whether edges have weights."""
    directed: bool = False
    """Whether edges have a direction."""
    new_classes: tuple[str | int, ...] = ()
    """Classes that came for the first time."""
    returning_classes: tuple[str | int, ...] = ()
    """Classes that came again."""
    classes: tuple[ClassAccuracy, ...] = ()
    """Accuracy of every class that has held-out nodes."""
    accuracy: float | None = None
    """Their mean; null where none was tested."""
    untested: int = 0
    """Held-out nodes that are not in this graph."""
    rejection: Rejection | None = None
    """Answers withheld; null where none are."""
    temperature: float | None = None
    """Divisor of the logits that calibrates probabilities."""
    bytes: int = 0
    """Bytes kept of the past."""
    seconds: float = 0.0
    """Seconds that the step took."""
    remarks: tuple[str, ...] = ()
    """What the person must know."""


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
