"""A buffer of ids finds its nodes again in the graph known now, or says that they are gone."""

from dataclasses import replace

import numpy as np
import pytest

from evergraph.data.graph import GlobalIds
from evergraph.data.stream import learner_view
from evergraph.errors import DataError
from evergraph.replay.ids import IdBuffer
from helpers import one_sentence, quick_config, stream_of, tiny_graph

STREAM = stream_of(tiny_graph((9, 8, 7, 9)), quick_config("finetune", stream={"inter_task_edges": True}))


def test_nodes_are_found_again_by_their_ids() -> None:
    buffer = IdBuffer()
    first, second = (learner_view(task) for task in STREAM)
    assert buffer.parts(first, 1.0) == []
    chosen = first.train[[5, 0, 3]]
    buffer.add(first, chosen)
    (part,) = buffer.parts(second, 0.5)
    assert part.graph is second.graph
    assert part.scale == 0.5
    assert second.node_ids[part.rows].tolist() == first.node_ids[chosen].tolist()
    assert part.labels.tolist() == first.graph.labels[chosen].tolist()
    assert STREAM.graph.labels[second.node_ids[part.rows]].tolist() == part.labels.tolist()


def test_nodes_may_stand_in_any_order() -> None:
    buffer = IdBuffer()
    first, second = (learner_view(task) for task in STREAM)
    buffer.add(first, first.train)
    order = np.random.default_rng(0).permutation(len(second.node_ids))
    mixed = replace(second, graph=second.graph.subgraph(order), node_ids=GlobalIds(second.node_ids[order]))
    (part,) = buffer.parts(mixed, 1.0)
    assert mixed.node_ids[part.rows].tolist() == first.node_ids[first.train].tolist()


def test_nodes_that_are_gone_are_one_sentence() -> None:
    buffer = IdBuffer()
    buffer.add(learner_view(STREAM[0]), learner_view(STREAM[0]).train)
    with pytest.raises(DataError) as caught:
        buffer.parts(learner_view(STREAM.alone(1)), 1.0)
    assert "inter_task_edges=true" in one_sentence(caught.value)


def test_bytes_are_those_of_ids_and_labels_and_the_state_holds_both() -> None:
    buffer, copy = IdBuffer(), IdBuffer()
    assert buffer.memory().bytes == 0
    assert buffer.state() == {}
    buffer.add(learner_view(STREAM[0]), learner_view(STREAM[0]).train[:4])
    state = buffer.state()
    assert buffer.memory().nodes == buffer.n_replayed == 4
    assert buffer.memory().bytes == sum(value.numel() * value.element_size() for value in state.values()) == 64
    copy.load_state(state)
    assert copy.ids.tolist() == buffer.ids.tolist()
    assert copy.labels.tolist() == buffer.labels.tolist()
