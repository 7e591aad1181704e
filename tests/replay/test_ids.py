"""A buffer of ids finds its nodes again in the graph known now, or says that they are gone."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from evergraph.data.graph import GlobalIds
from evergraph.data.stream import TaskView, learner_view
from evergraph.errors import DataError
from evergraph.replay.ids import IdBuffer
from evergraph.replay.selection import Chosen
from helpers import one_sentence, quick_config, stream_of, tiny_graph

STREAM = stream_of(tiny_graph((9, 8, 7, 9)), quick_config("finetune", stream={"inter_task_edges": True}))


def first_of(view: TaskView, at: Iterable[int]) -> Chosen:
    """Training nodes at these positions, chosen with descending keys."""
    places = np.array(list(at))
    return Chosen(places, -np.arange(len(places), dtype=np.float64))


def test_a_class_that_comes_back_keeps_the_highest_keys() -> None:
    view = replace(learner_view(STREAM[0]), classes_return=True)
    buffer, copy = IdBuffer(), IdBuffer()
    members = np.flatnonzero(view.train_labels == view.train_labels[0])
    buffer.store(view, Chosen(members[:2], np.array([3.0, 1.0])))
    copy.load_state(buffer.state())
    admitted = copy.admit(view, Chosen(members[2:4], np.array([2.0, 0.5])), budget=2)
    assert admitted.at.tolist() == [members[2]]
    copy.store(view, admitted)
    assert copy.ids.tolist() == view.node_ids[view.train[members[[0, 2]]]].tolist()
    assert copy.keys.tolist() == [3.0, 2.0]
    assert copy.memory().bytes == 2 * 24


def test_nodes_are_found_again_by_their_ids() -> None:
    buffer = IdBuffer()
    first, second = (learner_view(task) for task in STREAM)
    assert buffer.parts(first, 1.0) == []
    chosen = first.train[[5, 0, 3]]
    buffer.store(first, first_of(first, [5, 0, 3]))
    (part,) = buffer.parts(second, 0.5)
    assert part.graph is second.graph
    assert part.scale == 0.5
    assert second.node_ids[part.rows].tolist() == first.node_ids[chosen].tolist()
    assert part.labels.tolist() == first.graph.labels[chosen].tolist()
    assert STREAM.graph.labels[second.node_ids[part.rows]].tolist() == part.labels.tolist()


def test_nodes_may_stand_in_any_order() -> None:
    buffer = IdBuffer()
    first, second = (learner_view(task) for task in STREAM)
    buffer.store(first, first_of(first, range(len(first.train))))
    order = np.random.default_rng(0).permutation(len(second.node_ids))
    mixed = replace(second, graph=second.graph.subgraph(order), node_ids=GlobalIds(second.node_ids[order]))
    (part,) = buffer.parts(mixed, 1.0)
    assert mixed.node_ids[part.rows].tolist() == first.node_ids[first.train].tolist()


def test_nodes_that_are_gone_are_one_sentence() -> None:
    buffer = IdBuffer()
    view = learner_view(STREAM[0])
    buffer.store(view, first_of(view, range(len(view.train))))
    with pytest.raises(DataError) as caught:
        buffer.parts(learner_view(STREAM.alone(1)), 1.0)
    assert "inter_task_edges=true" in one_sentence(caught.value)


def test_bytes_are_those_of_ids_and_labels_and_the_state_holds_both() -> None:
    buffer, copy = IdBuffer(), IdBuffer()
    assert buffer.memory().bytes == 0
    assert buffer.state() == {}
    buffer.store(learner_view(STREAM[0]), first_of(learner_view(STREAM[0]), range(4)))
    state = buffer.state()
    assert buffer.memory().nodes == buffer.n_replayed == 4
    assert buffer.memory().bytes == sum(value.numel() * value.element_size() for value in state.values()) == 64
    copy.load_state(state)
    assert copy.ids.tolist() == buffer.ids.tolist()
    assert copy.labels.tolist() == buffer.labels.tolist()
