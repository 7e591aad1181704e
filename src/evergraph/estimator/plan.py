"""Plan: what of a batch is learned and what is kept aside."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.estimator.keys import chances
from evergraph.estimator.learned import Learned
from evergraph.estimator.names import Label, in_order, spelled
from evergraph.estimator.prepared import Prepared

GIVE_LABELS = "name their column (--label-column, label_column), fill y and train_mask of a PyG Data, or give y"


@dataclass(frozen=True)
class Plan:
    """What a batch brings: the classes after it, the rows and class indices to learn and those to keep aside.

    known: labelled nodes that were learned before and are context now.
    """

    classes: list[Label]
    train: NDArray[np.int64]
    labels: NDArray[np.int64]
    aside: NDArray[np.int64]
    aside_labels: NDArray[np.int64]
    known: int


def planned(learned: Learned, prepared: Prepared) -> Plan:
    """Which nodes to learn; DataError where there are none or where one was learned as another class."""
    batch = prepared.batch
    labelled = np.flatnonzero(batch.labelled)
    if not len(labelled):
        raise DataError(f"nodes with labels are wanted, got none; {GIVE_LABELS}")
    names: list[Label] = spelled(batch.labels[labelled], learned.classes).tolist()
    learned.check_names(names)
    classes = [*learned.classes, *in_order(set(names) - set(learned.classes))]
    index = {name: place for place, name in enumerate(classes)}
    labels = np.fromiter((index[name] for name in names), dtype=np.int64, count=len(names))
    known = _known(learned, prepared, labelled, labels)
    rows, labels = labelled[~known], labels[~known]
    if not len(rows):
        raise DataError(
            f"nodes that were not learned before are wanted, got {len(known):,} that were; nothing has changed"
        )
    if not learned.returns and labels.min() < len(learned.classes):
        raise DataError(
            f"new classes only are wanted for a classifier that an earlier version saved, got "
            f"{classes[int(labels.min())]!r} again; learn it anew"
        )
    chance = chances(prepared.keys[rows], learned.answers.seed)
    aside = learned.held_out.chosen(chance, labels, learned.answers.holdout)
    return Plan(classes, rows[~aside], labels[~aside], rows[aside], labels[aside], int(known.sum()))


def _known(
    learned: Learned, prepared: Prepared, labelled: NDArray[np.int64], labels: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which labelled nodes were learned or kept aside before."""
    known = np.zeros(len(labelled), dtype=bool)
    for part in (learned.ledger, learned.held_out.as_ledger()):
        place = part.find(prepared.keys[labelled])
        here = place >= 0
        other = np.flatnonzero(here)[part.labels[place[here]] != labels[here]]
        if len(other):
            at, was = labelled[other[0]], learned.classes[int(part.labels[place[other[0]]])]
            raise DataError(
                f"node {prepared.batch.ids[at]!s} was learned as {was!r}, got {prepared.batch.labels[at]!r} "
                f"instead ({len(other):,} such nodes); forget it first, or give its label as it was"
            )
        known |= here
    return known
