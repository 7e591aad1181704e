"""Streams: class order, splits, tasks and their graphs against brute force, and what a learner may see."""

import gc
from collections import Counter
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evergraph.backbones import BACKBONES
from evergraph.data.graph import Graph, make_graph
from evergraph.data.preprocess import Preprocessing, preprocess
from evergraph.data.stream import (
    HIDDEN,
    ClassOrder,
    Remainder,
    StreamConfig,
    TaskStream,
    learner_view,
    make_stream,
)
from evergraph.errors import ConfigError, DataError
from evergraph.hodge import hodge_potential
from evergraph.methods import METHODS
from evergraph.testing.samples import with_wild_hidden_nodes
from helpers import assert_same_bits, learned, one_sentence, quick_config, stream_of, tiny_graph


def stream(graph: Graph, *, split_seed: int = 0, order_seed: int = 0, **settings_: Any) -> TaskStream:
    return make_stream(graph, StreamConfig(**settings_), split_seed=split_seed, order_seed=order_seed)


# splits


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(3, 60), min_size=2, max_size=4),
    shares=st.sampled_from([(0.6, 0.2, 0.2), (0.98, 0.01, 0.01), (0.01, 0.98, 0.01), (0.01, 0.01, 0.98)]),
    seed=st.integers(0, 5),
)
def test_each_class_is_split_into_three_disjoint_parts_that_cover_it(
    sizes: list[int], shares: tuple[float, float, float], seed: int
) -> None:
    graph = tiny_graph(tuple(sizes), share=0)
    made = stream(graph, split_seed=seed, split=shares, remainder="keep")
    for label, split in zip(made.order, made.splits, strict=True):
        together = np.concatenate(split)
        assert all(len(part) for part in split)
        assert all(np.all(np.diff(part) > 0) for part in split)
        assert np.array_equal(np.sort(together), np.flatnonzero(graph.labels == label))


@given(size=st.integers(3, 400))
@settings(max_examples=40)
def test_the_parts_are_six_to_two_to_two(size: int) -> None:
    train, val, test = (len(part) for part in stream(tiny_graph((size, 3), share=0)).splits[0])
    assert len({val, test}) == 1
    assert abs(val - 0.2 * size) <= max(0.5, 1 - 0.2 * size)
    assert train == size - 2 * val


def test_nodes_of_a_split_are_drawn_at_random() -> None:
    train, _, _ = stream(tiny_graph((100, 3), share=0)).splits[0]
    ids = np.flatnonzero(tiny_graph((100, 3), share=0).labels == 0)
    assert not np.array_equal(train, ids[:60])


# class order

SIZES = (4, 9, 6, 9, 5)


@pytest.mark.parametrize(
    ("order", "expected"),
    [("label", (0, 1, 2, 3, 4)), ("size", (1, 3, 2, 4, 0)), ((3, 0, 4), (3, 0, 4))],
)
def test_classes_arrive_in_the_order_asked_for(order: Any, expected: tuple[int, ...]) -> None:
    assert stream(tiny_graph(SIZES), class_order=order, remainder="keep").order == expected


def test_a_random_order_is_a_permutation_that_the_seed_decides() -> None:
    graph = tiny_graph((3,) * 8)
    orders = [stream(graph, class_order=ClassOrder.RANDOM, order_seed=seed).order for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) == list(range(8))


@pytest.mark.parametrize("order", [(0, 9), (0, 0), ()])
def test_a_wrong_list_of_classes_is_one_sentence(order: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError, match="must list labels of the graph, each once") as caught:
        stream(tiny_graph(), class_order=order)
    one_sentence(caught.value)


def test_class_indices_count_arrivals() -> None:
    graph = tiny_graph(SIZES)
    made = stream(graph, class_order=(3, 0, 4, 1))
    for task in made:
        own = [made.order[k] for k in task.classes]
        assert set(graph.labels[task.node_ids]) == set(own)
        assert [made.order[k] for k in task.graph.labels] == graph.labels[task.node_ids].tolist()
    assert [task.classes for task in made] == [(0, 1), (2, 3)]


def test_labels_may_be_any_whole_numbers() -> None:
    graph = tiny_graph((4, 4))
    far = replace(graph, labels=np.where(graph.labels == 0, 7, 10**15))
    made = stream(far)
    assert made.order == (7, 10**15)
    assert np.array_equal(made[0].graph.labels, graph.labels)


# what is dropped


def test_an_odd_last_class_is_dropped_with_a_message() -> None:
    made = stream(tiny_graph((3,) * 41, width=50, share=0))
    assert made.n_classes == 40
    assert len(made) == 20
    assert made.order == tuple(range(40))
    (message,) = made.messages
    assert message.startswith("dropped the last of 41 classes (40)")


def test_an_odd_last_class_is_kept_on_request() -> None:
    made = stream(tiny_graph((3,) * 5), remainder=Remainder.KEEP)
    assert (made.n_classes, len(made)) == (5, 3)
    assert [len(task.classes) for task in made] == [2, 2, 1]
    assert made.messages == ()


def test_small_classes_are_dropped_with_a_message() -> None:
    made = stream(tiny_graph((9, 4, 9, 5, 9)), min_class_size=5)
    assert made.order == (0, 2, 3, 4)
    assert made.messages == ("dropped classes with fewer than 5 nodes: 1",)


def test_classes_of_two_nodes_are_never_kept() -> None:
    assert stream(tiny_graph((2, 3, 3))).order == (1, 2)


def test_nodes_of_dropped_classes_are_in_no_task() -> None:
    graph = tiny_graph((9, 4, 9, 9, 9))
    for between in (False, True):
        made = stream(graph, min_class_size=5, inter_task_edges=between)
        assert not any(np.isin(graph.labels[task.node_ids], [1]).any() for task in made)


def test_no_task_at_all_is_one_sentence() -> None:
    with pytest.raises(ConfigError, match="at least one task is wanted, got none") as caught:
        stream(tiny_graph((4, 4)), classes_per_task=3)
    one_sentence(caught.value)


def test_no_features_is_one_sentence() -> None:
    graph = tiny_graph()
    with pytest.raises(DataError, match="tiny has no features") as caught:
        stream(make_graph(graph.adjacency, None, graph.labels, name="tiny"))
    assert "--features" in str(caught.value)


# seeds


def parts(made: TaskStream) -> list[list[int]]:
    return [part.tolist() for split in made.splits for part in split]


def test_the_same_seeds_give_the_same_stream() -> None:
    one, other = (stream(tiny_graph((9,) * 6), class_order="random", split_seed=3, order_seed=4) for _ in range(2))
    assert one.order == other.order
    assert parts(one) == parts(other)


def test_the_split_seed_changes_the_splits_only() -> None:
    one, other = (stream(tiny_graph((9,) * 6), class_order="random", split_seed=seed) for seed in (0, 1))
    assert one.order == other.order
    assert parts(one) != parts(other)


def test_the_order_seed_changes_the_order_only() -> None:
    one, other = (stream(tiny_graph((9,) * 6), class_order="random", order_seed=seed) for seed in (0, 1))
    assert one.order != other.order
    by_label = [
        dict(zip(made.order, [tuple(map(tuple, s)) for s in made.splits], strict=True)) for made in (one, other)
    ]
    assert by_label[0] == by_label[1]


# tasks and their graphs


@settings(max_examples=25)
@given(
    sizes=st.lists(st.integers(3, 8), min_size=2, max_size=6),
    per_task=st.integers(1, 3),
    between=st.booleans(),
    directed=st.booleans(),
    sparse_features=st.booleans(),
    seed=st.integers(0, 3),
)
def test_the_graphs_of_all_tasks_are_the_dense_selections(
    sizes: list[int], per_task: int, between: bool, directed: bool, sparse_features: bool, seed: int
) -> None:
    graph = tiny_graph(tuple(sizes), seed=seed, directed=directed, sparse_features=sparse_features)
    made = stream(
        graph, classes_per_task=per_task, remainder="keep", inter_task_edges=between, class_order="random"
    )
    dense = graph.adjacency.toarray()
    assert len(made) == len(list(made)) == -(-len(sizes) // per_task)
    for now in range(len(made)):
        for index, task in enumerate(made.seen(now)):
            first = 0 if between else index * per_task
            last = now if between else index
            inside = set(made.order[first : (last + 1) * per_task])
            nodes = np.array([node for node in range(graph.n_nodes) if graph.labels[node] in inside])
            assert task.node_ids.tolist() == nodes.tolist()
            assert np.array_equal(task.graph.adjacency.toarray(), dense[np.ix_(nodes, nodes)])
            assert task.graph.directed == directed
            assert np.array_equal(task.graph.original_ids, graph.original_ids[nodes])
            own = range(index * per_task, min((index + 1) * per_task, len(sizes)))
            for part, ids in enumerate((task.train, task.val, task.test)):
                wanted = sorted(node for k in own for node in made.splits[k][part])
                assert task.node_ids[ids].tolist() == wanted


def test_a_task_as_it_arrives_is_the_last_one_seen() -> None:
    for between in (False, True):
        made = stream(tiny_graph(), inter_task_edges=between)
        for now, task in enumerate(made):
            last = made.seen(now)[-1]
            assert np.array_equal(task.node_ids, last.node_ids)
            assert (task.graph.adjacency != last.graph.adjacency).nnz == 0


def test_features_are_preprocessed_once_from_the_first_tasks_training_nodes() -> None:
    graph = tiny_graph()
    made = stream(graph, preprocessing=Preprocessing.STANDARD)
    first = np.sort(np.concatenate([split[0] for split in made.splits[:2]]))
    assert graph.features is not None
    expected = preprocess(graph.features, Preprocessing.STANDARD, first)
    for task in made:
        assert task.graph.features is not None
        assert np.array_equal(task.graph.features, expected[task.node_ids])


@pytest.mark.parametrize("index", [-1, 2])
def test_there_is_no_task_beyond_the_last(index: int) -> None:
    with pytest.raises(IndexError, match="from 0 to 1"):
        stream(tiny_graph())[index]


# what a learner may see


@pytest.mark.parametrize("between", [False, True])
def test_a_view_has_no_validation_or_test_labels(between: bool) -> None:
    for task in stream(tiny_graph(), inter_task_edges=between).seen(1):
        view = learner_view(task)
        known = np.flatnonzero(view.graph.labels != HIDDEN)
        assert np.array_equal(known, task.train)
        assert np.array_equal(view.train_labels, task.graph.labels[task.train])
        assert view.index == task.index
        assert view.classes == task.classes
        assert not {"val", "test"} & set(vars(view))
        assert not np.shares_memory(view.graph.labels, task.graph.labels)


@pytest.mark.parametrize("between", [False, True])
def test_the_views_are_those_of_the_tasks_and_the_last_is_the_current_one(between: bool) -> None:
    made = stream(tiny_graph((6,) * 6), inter_task_edges=between)
    for now in range(3):
        for with_past, tasks in ((True, made.seen(now)), (False, [made[now]])):
            views = made.views(now, with_past=with_past)
            assert [view.index for view in views] == [task.index for task in tasks]
            assert views[-1].index == now
            for view, task in zip(views, tasks, strict=True):
                assert np.array_equal(view.node_ids, task.node_ids)
                assert np.array_equal(view.train, task.train)
                assert np.array_equal(view.graph.labels, learner_view(task).graph.labels)
                assert (view.graph.adjacency != task.graph.adjacency).nnz == 0


@pytest.mark.parametrize("directed", [False, True])
def test_the_potential_of_the_whole_graph_is_computed_once_and_only_when_asked_for(
    directed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def counted(adjacency: Any, *, directed: bool, memory: int) -> Any:
        asked.append(directed)
        return hodge_potential(adjacency, directed=directed, memory=memory)

    monkeypatch.setattr("evergraph.data.stream.ranking_potential", counted)
    made = stream(tiny_graph((6,) * 6, directed=directed))
    views = [view for now in range(3) for view in made.views(now, with_past=True)]
    assert asked == []
    whole = hodge_potential(made.graph.adjacency, directed=directed).value
    for view in views:
        assert view.whole_potential is not None
        assert np.array_equal(view.whole_potential(view.node_ids), whole[view.node_ids])
    assert asked == [directed]
    assert learner_view(made[0]).whole_potential is None


def reachable(start: object) -> list[object]:
    """Whatever an object holds, directly or not; classes, modules and what belongs to them are left out."""
    found: dict[int, object] = {}
    waiting = [start]
    while waiting:
        one = waiting.pop()
        if id(one) not in found and not isinstance(one, type | ModuleType | FunctionType):
            found[id(one)] = one
            waiting += gc.get_referents(one)
    return list(found.values())


def test_nothing_that_a_view_holds_leads_to_hidden_labels() -> None:
    made = stream(tiny_graph())
    (view,) = made.views(1, with_past=False)
    held = reachable(view)
    assert any(one is made.graph.adjacency for one in held), "the judge looks into what a view holds"
    assert not any(one is made or one is made.graph or one is made.splits for one in held)
    assert not any(one is made.graph.labels for one in held)


def permuted(made: TaskStream, seed: int) -> TaskStream:
    """The same stream, with the labels of the validation and test nodes of each task exchanged among them."""
    rng = np.random.default_rng(seed)
    labels = made.graph.labels.copy()
    for index in range(len(made)):
        hidden = np.concatenate([part for k in made.classes_of(index) for part in made.splits[k][1:]])
        labels[hidden] = rng.permutation(labels[hidden])
    return replace(made, graph=replace(made.graph, labels=labels))


@pytest.mark.parametrize("setting", ["class-il", "task-il"])
@pytest.mark.parametrize("backbone", list(BACKBONES))
@pytest.mark.parametrize("method", list(METHODS))
def test_no_trained_parameter_depends_on_a_validation_or_test_label(
    method: str, backbone: str, setting: str
) -> None:
    config = quick_config(method, backbone, stream={"setting": setting, "inter_task_edges": setting == "task-il"})
    made = stream_of(tiny_graph((9, 9, 9, 9)), config)
    other = permuted(made, seed=1)
    assert (other.graph.labels != made.graph.labels).sum() > 5
    assert Counter(other.graph.labels.tolist()) == Counter(made.graph.labels.tolist())
    assert_same_bits(learned(config, made).state(), learned(config, other).state())


@pytest.mark.parametrize("method", list(METHODS))
def test_the_trained_parameters_do_depend_on_training_labels(method: str) -> None:
    """The judge of the test above can tell a difference."""
    config = quick_config(method)
    made = stream_of(tiny_graph((9, 9, 9, 9)), config)
    labels = made.graph.labels.copy()
    one, other = made.splits[0][0][0], made.splits[1][0][0]
    labels[[one, other]] = labels[[other, one]]
    changed = replace(made, graph=replace(made.graph, labels=labels))
    with pytest.raises(AssertionError):
        assert_same_bits(learned(config, made).state(), learned(config, changed).state())


# inductive


@settings(max_examples=15)
@given(
    kind=st.sampled_from([{}, {"arrival": "time", "steps": 3}, {"arrival": "blurry"}]),
    between=st.booleans(),
    seed=st.integers(0, 3),
)
def test_an_inductive_view_is_the_graph_of_the_training_nodes(
    kind: dict[str, Any], between: bool, seed: int
) -> None:
    graph = tiny_graph((12,) * 4, seed=seed)
    made = stream(graph, inductive=True, inter_task_edges=between, **kind)
    dense = graph.adjacency.toarray()
    for now in range(len(made)):
        views = made.views(now, with_past=True)
        for view, task in zip(views, made.seen(now), strict=True):
            trained = [*made.seen(now)] if between else [task]
            nodes = sorted(int(node) for one in trained for node in one.node_ids[one.train])
            assert view.node_ids.tolist() == nodes
            assert np.array_equal(view.graph.adjacency.toarray(), dense[np.ix_(nodes, nodes)])
            assert view.node_ids[view.train].tolist() == task.node_ids[task.train].tolist()
            assert view.train_labels.tolist() == task.graph.labels[task.train].tolist()
            assert view.classes == task.classes
            assert len(task.val)
            assert len(task.test)
        (alone,) = made.views(now, with_past=False)
        assert alone.node_ids.tolist() == views[-1].node_ids.tolist()


def test_the_potential_of_an_inductive_stream_is_that_of_all_training_nodes() -> None:
    made = stream(tiny_graph((12,) * 4), inductive=True)
    train = np.sort(np.concatenate([split[0] for split in made.splits]))
    whole = hodge_potential(made.graph.subgraph(train).adjacency).value
    views = made.views(1, with_past=True)
    assert len(views) == 2
    for view in views:
        assert view.whole_potential is not None
        assert np.array_equal(view.whole_potential(view.node_ids), whole[np.isin(train, view.node_ids)])


def test_nothing_that_an_inductive_view_holds_leads_to_the_whole_graph() -> None:
    made = stream(tiny_graph(), inductive=True)
    (view,) = made.views(1, with_past=False)
    held = reachable(view)
    assert any(one is made._potential.adjacency for one in held), "the judge looks into what a view holds"
    whole = (made, made.graph, made.graph.adjacency, made.graph.features, made.graph.labels, made.splits)
    assert not any(one is part for one in held for part in whole)


@pytest.mark.parametrize("between", [False, True])
def test_without_it_the_features_and_edges_of_hidden_nodes_do_reach_a_learner(between: bool) -> None:
    """The judge of the contract test on inductive learning can tell a difference."""
    config = quick_config("finetune", stream={"inter_task_edges": between})
    graph = tiny_graph((9,) * 4)
    made = stream_of(graph, config)
    other = stream_of(with_wild_hidden_nodes(made, graph, seed=1), config)
    with pytest.raises(AssertionError):
        assert_same_bits(learned(config, made).state(), learned(config, other).state())
