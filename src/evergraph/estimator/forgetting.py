"""One step of a classifier: take nodes out again."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.estimator.history import Step
from evergraph.estimator.learned import Learned
from evergraph.estimator.measuring import close_step
from evergraph.estimator.prepared import Prepared
from evergraph.methods.statistics_learner import StatisticsLearner
from evergraph.tables import Batch

EXACTLY = (
    "exactly: the sums are as if it had never been learned; neighbours keep what they had from it",
    "exactly: the sums are as if they had never been learned; neighbours keep what they had from them",
)
"""Of one node, and of several."""
ROUNDED = (
    "its row is subtracted from sums that are rounded, so traces below the rounding stay",
    "their rows are subtracted from sums that are rounded, so traces below the rounding stay",
)
WEIGHTS = (
    "what the weights learned from it stays, and only learning anew without it removes that",
    "what the weights learned from them stays, and only learning anew without them removes it",
)


@dataclass(frozen=True)
class Forgotten:
    """What `forget` did: how many nodes, whether it is as if they had never been seen, and that in a sentence."""

    nodes: int
    exact: bool
    statement: str


def forget(learned: Learned, batch: Batch, ids: Any, came_in: int | None) -> Forgotten:
    """Take nodes out; see `ContinualClassifier.forget`."""
    begun = time.perf_counter()
    if isinstance(ids, str | bytes) or np.ndim(ids) != 1:
        raise DataError(f"a list of ids is wanted to forget, got {ids!r} instead; put it into a list")
    rows = np.unique(batch.rows(ids))
    origin = None if came_in is None else learned.origin(came_in)
    prepared = learned.prepare(batch, came_in=None if origin is None else origin.number)
    other = origin is not None and origin.features not in (None, prepared.fingerprint)
    keys = prepared.keys[rows]
    place, aside = learned.ledger.find(keys), learned.held_out.as_ledger().find(keys) >= 0
    strangers = np.flatnonzero(((place < 0) & ~aside) | other)
    if len(strangers):
        raise DataError(
            f"nodes that were learned are wanted, got {batch.ids[rows[strangers[0]]]!s}, which was not "
            f"({len(strangers):,} such nodes{'' if batch.named else '; is this the graph of that batch?'}); "
            "nothing has changed"
        )
    known = place >= 0
    exact = isinstance(learned.learner, StatisticsLearner) and learned.learner.forgets_exactly
    if isinstance(learned.learner, StatisticsLearner):
        _check_unchanged(learned, prepared, rows[known], place[known])
        labels = learned.ledger.labels[place[known]].astype(np.int64)
        with learned.restored():
            learned.learner.forget(learned.view(prepared, rows[known], labels))
        statement = (EXACTLY if exact else ROUNDED)[len(rows) != 1]
    else:
        dropped = learned.learner.drop(keys)
        statement = f"{_replayed(dropped, len(rows))}; {WEIGHTS[len(rows) != 1]}"
    learned.ledger.remove(keys)
    learned.held_out.remove(keys)
    step = Step(kind="forget", nodes=len(rows), remarks=(statement,))
    close_step(learned, step, prepared, begun, None)
    nodes = "1 node" if len(rows) == 1 else f"{len(rows):,} nodes"
    return Forgotten(len(rows), exact, f"{nodes} forgotten; {statement}")


def _replayed(dropped: int, forgotten: int) -> str:
    """How many of the forgotten nodes were replayed."""
    if forgotten == 1:
        return "it was kept for replay and is gone" if dropped else "it was not kept for replay"
    if not dropped:
        return "none of them was kept for replay"
    were = "was kept for replay and is gone" if dropped == 1 else "were kept for replay and are gone"
    return f"{dropped:,} of them {were}"


def _check_unchanged(
    learned: Learned, prepared: Prepared, rows: NDArray[np.int64], place: NDArray[np.int64]
) -> None:
    other = np.flatnonzero(learned.checks(prepared.graph, rows) != learned.ledger.checks[place])
    if len(other):
        raise DataError(
            f"nodes as they were when they were learned are wanted, got other features or neighbours of "
            f"{prepared.batch.ids[rows[other[0]]]!s} ({len(other):,} of {len(rows):,} nodes); give the graph "
            "of the batch in which they came; nothing has changed"
        )
