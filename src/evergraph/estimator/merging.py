"""One step of a classifier: learn what another one has learned."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.estimator.history import Step
from evergraph.estimator.learned import Learned
from evergraph.estimator.measuring import close_step
from evergraph.methods.statistics_learner import StatisticsLearner


def merge(learned: Learned, other: Learned) -> None:
    """Learn what another has learned; see `ContinualClassifier.merge`."""
    begun = time.perf_counter()
    mine, others = learned.learner, other.learner
    if not isinstance(mine, StatisticsLearner) or not isinstance(others, StatisticsLearner):
        raise DataError(
            f"two classifiers that keep sums (analytic, slda, ncm) are wanted to merge, got "
            f"{learned.config.method_name} and {other.config.method_name}"
        )
    if learned.config != other.config or learned.schema != other.schema:
        what = "settings" if learned.config != other.config else "columns, scaling or categories"
        raise DataError(
            f"classifiers with the same settings and schema are wanted to merge, got other {what}; "
            "begin the second as a sibling of the first (learn --like)"
        )
    common = np.intersect1d(_keys(learned), _keys(other))
    if len(common):
        raise DataError(
            f"classifiers that learned different nodes are wanted to merge, got {len(common):,} nodes that "
            "both have learned; forget them in one of them first"
        )
    if learned.classes:
        learned.check_names(other.classes)
    classes = [*learned.classes, *(name for name in other.classes if name not in learned.classes)]
    places = np.array([classes.index(name) for name in other.classes], dtype=np.int64)
    with learned.restored():
        mine.merge(others, places)
    learned.ledger.add(other.ledger.keys, places[other.ledger.labels], other.ledger.checks)
    aside = other.held_out
    learned.held_out.add(aside.keys, places[aside.labels], aside.degrees, aside.inputs)
    again = tuple(name for name in other.classes if name in learned.classes)
    new = tuple(classes[len(learned.classes) :])
    learned.classes = classes
    learned.origins += other.origins
    step = Step(kind="merge", new_classes=new, returning_classes=again, **_sums(other))
    close_step(learned, step, None, begun, None)


def _sums(other: Learned) -> dict[str, Any]:
    """What a step says of the nodes and edges of a classifier: the sums of its batches, without forgotten nodes."""
    steps = [step for step in other.history if step.kind != "forget"]
    count, aside, known = len(other.ledger), len(other.held_out), sum(step.known for step in steps)
    return {
        "nodes": max(sum(step.nodes for step in steps), count + aside),
        "labelled": count + aside + known,
        "learned": count,
        "held_out": aside,
        "known": known,
        "edges": sum(step.edges for step in steps),
        "weighted": any(step.weighted for step in steps),
        "directed": any(step.directed for step in steps),
    }


def _keys(learned: Learned) -> NDArray[np.int64]:
    return np.concatenate([learned.ledger.keys, learned.held_out.keys])
