"""One step of a classifier: learn a batch."""

import time

import numpy as np

from evergraph.estimator.doubts import doubts, weighted
from evergraph.estimator.held_out import degrees_of
from evergraph.estimator.history import Step
from evergraph.estimator.keys import Origin
from evergraph.estimator.learned import Learned
from evergraph.estimator.measuring import close_step
from evergraph.estimator.plan import Plan, planned
from evergraph.estimator.prepared import Prepared
from evergraph.tables import Batch
from evergraph.watch import Watch


def learn(learned: Learned, batch: Batch, watch: Watch) -> None:
    """Learn the new labelled nodes of a batch."""
    begun = time.perf_counter()
    prepared = learned.prepare(batch)
    plan = planned(learned, prepared)
    novel = _novel(learned, prepared, plan)
    with learned.restored():
        checks = learned.learn(prepared, plan.train, plan.labels, watch)
        inputs = learned.learner.lasting_inputs(prepared.graph, plan.aside) if len(plan.aside) else None
    learned.ledger.add(prepared.keys[plan.train], plan.labels, checks)
    degrees = degrees_of(prepared.graph, plan.aside)
    learned.held_out.add(prepared.keys[plan.aside], plan.aside_labels, degrees, inputs)
    learned.held_out.refresh(learned.learner, prepared.graph, prepared.keys)
    old, learned.classes = len(learned.classes), plan.classes
    learned.origins.append(Origin(prepared.came_in, prepared.fingerprint))
    returning = np.unique(plan.labels[plan.labels < old]).tolist()
    step = Step(
        kind="learn",
        nodes=batch.n_nodes,
        labelled=len(plan.train) + len(plan.aside) + plan.known,
        learned=len(plan.train),
        held_out=len(plan.aside),
        known=plan.known,
        new_classes=tuple(learned.classes[old:]),
        returning_classes=tuple(learned.classes[label] for label in returning),
        edges=batch.adjacency.nnz,
        weighted=weighted(batch),
        directed=batch.directed,
        remarks=(*prepared.remarks, *_doubts(learned, batch)),
    )
    close_step(learned, step, prepared, begun, novel)


def _doubts(learned: Learned, batch: Batch) -> list[str]:
    columns = [column.name for column in learned.schema.columns]
    return doubts(batch, columns, len(learned.classes), len(learned.ledger), learned.batches)


def _novel(learned: Learned, prepared: Prepared, plan: Plan) -> tuple[int, float] | None:
    """The nodes of new classes, and the share of them that gets no answer before these are learned."""
    rows = plan.train[plan.labels >= len(learned.classes)]
    if not learned.below or not len(rows) or not learned.classes:
        return None
    return len(rows), float((learned.probabilities(prepared.graph, rows).max(axis=1) < learned.below).mean())
