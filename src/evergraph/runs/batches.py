"""Full or sampled batches for a whole run: chosen once, before its first task, recorded, and kept by `--resume`."""

from collections.abc import Sequence

from evergraph.backbones.size import GraphSize
from evergraph.data.stream import TaskStream
from evergraph.methods.base import Learner
from evergraph.runs.record import BatchRecord, TaskRecord
from evergraph.training.batching import FULL, Batching, BatchPlan, training_budget


def choose_batches(
    learner: Learner, stream: TaskStream, tasks: Sequence[TaskRecord], *, with_past: bool
) -> BatchPlan | None:
    """How all tasks of a run are trained, as the tasks before were, and set in the learner; None if nothing is."""
    if not learner.trains_net or not learner.in_batches:
        return None
    net = learner.net
    if tasks:
        plan = _as_before(tasks[0].batches)
    else:
        plan = net.plan(_largest(learner, stream, with_past=with_past), stream.n_classes)
    batch = FULL if plan.batching is None else plan.batching.size
    fanout = net.config.fanout if plan.batching is None else plan.batching.fanout
    net.config = net.config.model_copy(update={"batch": batch, "fanout": fanout})
    return plan


def batch_record(plan: BatchPlan) -> BatchRecord:
    """What a record says of a choice."""
    sampled = plan.batching
    return BatchRecord(
        size=None if sampled is None else sampled.size,
        fanout=[] if sampled is None else list(sampled.fanout),
        automatic=plan.automatic,
        full_bytes=plan.full_bytes,
        budget=plan.budget,
    )


def _as_before(found: BatchRecord | None) -> BatchPlan:
    """The choice of the tasks before; runs of earlier versions had full batches only."""
    if found is None:
        return BatchPlan(None, 0, training_budget(), automatic=True)
    batching = None if found.size is None else Batching(found.size, tuple(found.fanout))
    return BatchPlan(batching, found.full_bytes, found.budget, found.automatic)


def _largest(learner: Learner, stream: TaskStream, *, with_past: bool) -> list[GraphSize]:
    """The graphs of the step that takes the most memory.

    That is at most the whole graph; the graphs of the tasks are made only where that does not fit.
    """
    whole = [_size(learner, stream, None)]
    together = stream.config.inter_task_edges or with_past
    if together or learner.net.step_bytes(whole, stream.n_classes) <= training_budget():
        return whole
    alone = [[_size(learner, stream, index)] for index in range(len(stream))]
    return max(alone, key=lambda sizes: learner.net.step_bytes(sizes, stream.n_classes))


def _size(learner: Learner, stream: TaskStream, index: int | None) -> GraphSize:
    """Of the graph of a task, or of the whole graph; of the nodes alone where rows without edges are learned."""
    graph = stream.graph if index is None else stream.alone(index).graph
    if learner.reads_blocks:
        return GraphSize(graph.n_nodes, graph.n_nodes, graph.n_features)
    return GraphSize.of(graph)
