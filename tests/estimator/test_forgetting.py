"""Forgotten nodes: as if they had never been seen, or said to be what they are."""

from copy import deepcopy

import numpy as np
import pytest

from evergraph import ContinualClassifier
from evergraph.errors import ConfigError, DataError
from evergraph.estimator.keys import node_keys
from evergraph.tables import to_batch
from helpers import assert_same_bits, tiny_graph

from .growing import FAST, GRAPH, SUMS, batch, months, state


def test_forgotten_nodes_were_never_seen() -> None:
    rows = np.flatnonzero(GRAPH.labels < 3)
    whole = batch(rows)
    gone = np.random.default_rng(0).permutation(len(rows))[:60]
    model = ContinualClassifier(**FAST, holdout=0.0).partial_fit(whole)
    labels = whole.labels.copy()
    labels[gone] = None
    never = ContinualClassifier(**FAST, holdout=0.0).partial_fit(whole.with_labels(labels.tolist()))
    found = model.forget(whole, whole.ids[gone])
    assert (found.nodes, found.exact) == (60, True)
    assert_same_bits(state(model, *SUMS), state(never, *SUMS))
    assert np.array_equal(model.predict(whole), never.predict(whole))


def test_a_graph_that_has_changed_is_refused_and_nothing_changes(grown: ContinualClassifier) -> None:
    model, part = deepcopy(grown), months()[0]
    learned = part.ids[np.flatnonzero(part.labelled)[:20]]
    with pytest.raises(
        DataError, match=r"nodes as they were when they were learned are wanted, got other features"
    ):
        model.forget(batch(np.arange(GRAPH.n_nodes)), learned)
    stranger = to_batch((part.adjacency, part.attributes), ids=[f"m{row}" for row in range(part.n_nodes)])
    with pytest.raises(DataError, match=r"nodes that were learned are wanted, got m3, which was not \(1 such"):
        model.forget(stranger, ["m3"])
    assert_same_bits(state(model), state(grown))
    assert model.forget(part, learned).exact


def test_held_out_nodes_are_forgotten_too(grown: ContinualClassifier) -> None:
    model, part = deepcopy(grown), months()[0]
    aside = np.isin(node_keys(part.ids), model._learned.held_out.keys)
    before = len(model._learned.held_out)
    assert model.forget(part, part.ids[aside]).nodes == aside.sum() > 0
    assert len(model._learned.held_out) == before - aside.sum()


def test_a_class_of_which_nothing_is_left_is_not_predicted() -> None:
    part = batch(np.flatnonzero(GRAPH.labels < 3))
    model = ContinualClassifier(**FAST, holdout=0).partial_fit(part)
    model.forget(part, part.ids[part.labels == "digit 1"])
    assert "digit 1" not in model.predict(part)


@pytest.mark.parametrize("method", ["ftf-er-det", "ssm", "tem", "gem", "cat", "ewc"])
def test_other_methods_take_nodes_out_of_what_they_replay_and_say_what_that_means(method: str) -> None:
    graph = tiny_graph((20, 20, 20))
    ids = np.arange(100, 160)
    model = ContinualClassifier(method, epochs=2, holdout=0, settings={"backbone": {"hidden": 8}})
    if method != "ewc":
        model.set_params(budget=5)
    model.partial_fit((graph.adjacency, graph.features), graph.labels, ids=ids)
    found = model.forget((graph.adjacency, graph.features), ids, ids=ids)
    assert not found.exact
    assert "what the weights learned from them stays" in found.statement
    assert model.memory_["learner"] == 0 or method == "ewc"
    model.partial_fit((graph.adjacency, graph.features), graph.labels, ids=ids)


@pytest.mark.parametrize("count", [1, 30])
def test_replayed_nodes_are_counted_once_however_many_copies_there_are(count: int) -> None:
    graph = tiny_graph((20, 20, 20))
    given = (graph.adjacency, graph.features)
    model = ContinualClassifier("ssm", epochs=1, budget=15, holdout=0, settings={"backbone": {"hidden": 8}})
    first = np.where(np.arange(60) % 2, -1, graph.labels)
    for labels in (first, graph.labels):  # nodes of the first batch are neighbours of those of the second
        model.partial_fit(given, labels, ids=np.arange(60))
    buffer = model._learned.learner.buffer  # type: ignore[attr-defined]
    copies = (buffer.ids == node_keys(np.arange(60))[:, None]).sum(axis=1)
    most = np.argsort(-copies, kind="stable")[:count]
    assert copies[most].max() > 1  # a node is kept itself and as a neighbour of others
    said = model.forget(given, most, ids=np.arange(60)).statement
    if count == 1:
        assert said.startswith("1 node forgotten; it was kept for replay and is gone; what the weights learned")
    else:
        assert said.startswith(
            f"30 nodes forgotten; {np.count_nonzero(copies[most])} of them were kept for replay and are"
        )


def test_nodes_that_were_not_replayed_are_not_said_to_be() -> None:
    graph = tiny_graph((20, 20))
    given = (graph.adjacency, graph.features)
    model = ContinualClassifier("finetune", epochs=1, holdout=0, settings={"backbone": {"hidden": 8}})
    model.partial_fit(given, graph.labels, ids=np.arange(40))
    assert "1 node forgotten; it was not kept" in model.forget(given, [3], ids=np.arange(40)).statement
    assert "2 nodes forgotten; none of them was kept" in model.forget(given, [4, 5], ids=np.arange(40)).statement


def test_nodes_without_ids_are_forgotten_by_batch_and_row() -> None:
    graph = tiny_graph((20, 20))
    pair = (graph.adjacency, graph.features)
    model = ContinualClassifier(**FAST, holdout=0)
    for _ in range(2):
        model.partial_fit(pair, graph.labels)
    with pytest.raises(ConfigError, match="batch=0 for the first"):
        model.forget(pair, [1, 2])
    assert model.forget(pair, [1, 2], batch=0).exact
    with pytest.raises(DataError, match="got 1, which was not"):
        model.forget(pair, [1, 2], batch=0)
    assert model.forget(pair, [1, 2], batch=1).exact


def test_a_model_that_forgot_all_says_so() -> None:
    part = batch(np.flatnonzero(GRAPH.labels < 2))
    model = ContinualClassifier(**FAST).partial_fit(part)
    model.forget(part, part.ids)
    with pytest.raises(DataError, match="got one that forgot all; learn first"):
        model.predict(part)
    with pytest.raises(DataError, match="a list of ids is wanted to forget, got 'n3' instead"):
        model.forget(part, "n3")
    assert model.partial_fit(part).score(part) > 0.9
