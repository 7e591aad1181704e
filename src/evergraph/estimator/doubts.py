"""What is allowed and seldom meant: remarks on a batch, beside those on its columns."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.data.on_disk import has_weights
from evergraph.estimator.history import Step
from evergraph.tables import Batch
from evergraph.tables.labels import plain
from evergraph.tables.table import Table
from evergraph.tables.values import is_missing

MANY_CLASSES = 20
"""From so many classes on, few nodes of each are a reason to ask."""
AGREEING = 0.95
"""The share of rows from which on a column and the labels are said to be alike."""
FEW_LABELS = 20
"""Below so many labels a column may tell them by chance."""
LENGTHS_UNSEEN = (
    "features that are given as numbers are seen by their direction alone, not by their length; where that "
    "matters, add a column of ones, or give a table"
)
"""Said once, before anything was learned."""


def weighted(batch: Batch) -> bool:
    """Whether edges have weights other than 1."""
    return has_weights(batch.adjacency)


def unlike_before(batch: Batch, history: Sequence[Step]) -> list[str]:
    """In what the edges are unlike those that were learned."""
    learned = [step for step in history if step.edges]
    if not learned:
        return []
    if not batch.adjacency.nnz:
        return ["no edges were given, though the model has learned with edges"]
    found = []
    if any(step.weighted for step in learned) and not weighted(batch):
        found.append("these edges have no weights, though the model has learned with weights")
    if weighted(batch) and not any(step.weighted for step in learned):
        found.append("these edges have weights, though the model has learned without them")
    if any(step.directed for step in learned) != batch.directed:
        now, then = ("have", "without") if batch.directed else ("have no", "with")
        found.append(f"these edges {now} directions, though the model has learned {then} them")
    return found


def doubts(batch: Batch, columns: Sequence[str], n_classes: int, n_learned: int, n_batches: int) -> list[str]:
    """Of a batch that has just been learned; columns: those that are used."""
    found = []
    if n_classes > MANY_CLASSES and n_classes > n_learned / 5:
        found.append(f"{n_classes:,} classes for {n_learned:,} nodes: is this the column of labels?")
    if n_batches > 1 and not batch.named:
        found.append("nodes without ids are all taken as new ones; give ids to know them again")
    telling = _telling(batch, columns)
    if telling:
        found.append(
            f"the column {telling[0]!r} tells nearly every label: is it one of labels? "
            f"ignore={telling!r} (--ignore) leaves it out"
        )
    return found


def _telling(batch: Batch, columns: Sequence[str]) -> list[str]:
    """The columns that have a value of its own for each class, in enough labelled nodes to ask."""
    rows = np.flatnonzero(batch.labelled)
    if not isinstance(batch.attributes, Table) or len(rows) < FEW_LABELS:
        return []
    table, labels = batch.attributes.columns, np.array([plain(label) for label in batch.labels[rows]], dtype=object)
    return [name for name in columns if name in table and _are_alike(table[name][rows], labels)]


def _are_alike(values: NDArray[Any], labels: NDArray[np.object_]) -> bool:
    """Whether nearly every value that is there goes with one label, and that label with it."""
    for some in (slice(1000), slice(None)):  # most columns are done with after a few rows
        rows = zip(values[some].tolist(), labels[some].tolist(), strict=True)
        pairs = Counter((str(value), label) for value, label in rows if not is_missing(value))
        rising = sorted(pairs, key=pairs.__getitem__)
        label_of, value_of = dict(rising), {label: value for value, label in rising}
        mutual = [pair for pair in label_of.items() if value_of[pair[1]] == pair[0]]
        if len(mutual) < 2 or sum(map(pairs.__getitem__, mutual)) < AGREEING * pairs.total():
            return False
    return True
