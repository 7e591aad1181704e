"""Streams whose classes come back: by time and blurred, against loops over nodes; and what is refused."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evergraph.data.graph import Graph
from evergraph.data.stream import StreamConfig, TaskStream, make_stream
from evergraph.errors import ConfigError, DataError
from evergraph.runs.config import RunConfig
from helpers import one_sentence, tiny_graph


def stream(graph: Graph, *, split_seed: int = 0, order_seed: int = 0, **settings_: Any) -> TaskStream:
    return make_stream(graph, StreamConfig(**settings_), split_seed=split_seed, order_seed=order_seed)


def task_by_node(made: TaskStream) -> dict[int, int]:
    return {int(node): task.index for task in map(made.alone, range(len(made))) for node in task.node_ids}


@settings(max_examples=30)
@given(
    sizes=st.lists(st.integers(6, 20), min_size=2, max_size=4),
    steps=st.integers(1, 4),
    seed=st.integers(0, 5),
)
def test_steps_follow_the_times_in_equal_numbers(sizes: list[int], steps: int, seed: int) -> None:
    graph = tiny_graph(tuple(sizes), seed=seed)
    try:
        made = stream(graph, arrival="time", steps=steps)
    except ConfigError:  # a step in which no class has three nodes
        assume(False)
    assert graph.times is not None
    by_time = sorted(range(graph.n_nodes), key=lambda node: (graph.times[node], node))  # type: ignore[index]
    task_of = task_by_node(made)
    assert [task_of[node] for node in by_time] == sorted(task_of.values())
    counts = Counter(task_of.values())
    assert len(counts) == len(made) == steps
    assert max(counts.values()) - min(counts.values()) <= 1
    assert list(made.order) == list(dict.fromkeys(int(graph.labels[node]) for node in by_time))


def test_nodes_of_one_time_stay_in_the_order_of_their_rows() -> None:
    graph = replace(tiny_graph((12, 12), share=0), times=np.zeros(24))
    made = stream(graph, arrival="time", steps=3)
    assert [made.alone(index).node_ids.tolist() for index in range(3)] == [
        list(range(8)),
        list(range(8, 16)),
        list(range(16, 24)),
    ]


COMING_BACK = [{"arrival": "time", "steps": 3}, {"arrival": "blurry", "blur": 0.5}]


@pytest.mark.parametrize("kind", COMING_BACK, ids=lambda kind: kind["arrival"])
@pytest.mark.parametrize("between", [False, True])
def test_tasks_have_old_and_new_classes_in_their_own_or_the_whole_graph(
    kind: dict[str, Any], between: bool
) -> None:
    graph = tiny_graph((20, 13, 9, 9))
    made = stream(graph, inter_task_edges=between, **kind)
    task_of, dense = task_by_node(made), graph.adjacency.toarray()
    assert sorted(task_of) == list(range(graph.n_nodes))
    parts = {int(node): part for split in made.splits for part, nodes in enumerate(split) for node in nodes}
    known: set[int] = set()
    for now in range(len(made)):
        own = {made.order.index(int(graph.labels[node])) for node, task in task_of.items() if task == now}
        assert made.classes_of(now) == made[now].classes == tuple(sorted(own))
        assert sorted(own - known) == list(range(len(known), len(known | own)))
        known |= own
        assert made.known(now) == len(known)
        for task in made.seen(now):
            tasks = range(now + 1) if between else [task.index]
            nodes = [node for node in range(graph.n_nodes) if task_of[node] in tasks]
            assert task.node_ids.tolist() == nodes
            assert np.array_equal(task.graph.adjacency.toarray(), dense[np.ix_(nodes, nodes)])
            assert [made.order[k] for k in task.graph.labels] == graph.labels[nodes].tolist()
            for part, rows in enumerate((task.train, task.val, task.test)):
                wanted = [node for node in nodes if task_of[node] == task.index and parts[node] == part]
                assert task.node_ids[rows].tolist() == wanted
    assert any(set(made.classes_of(index)) & set(made.classes_of(index + 1)) for index in range(len(made) - 1))


@pytest.mark.parametrize("kind", COMING_BACK, ids=lambda kind: kind["arrival"])
def test_every_task_is_split_by_class_by_itself(kind: dict[str, Any]) -> None:
    graph = tiny_graph((40, 13, 9, 5))
    made = stream(graph, **kind)
    cells, small = made.cells, 0
    for task, label, sizes in zip(cells.task, cells.label, cells.sizes, strict=True):
        alone = made.alone(int(task))
        found = [int((alone.graph.labels[rows] == label).sum()) for rows in (alone.train, alone.val, alone.test)]
        assert found == sizes.tolist()
        size = sum(found)
        if size < 3:
            assert found == [size, 0, 0]
            small += size
        else:
            share = max(1, round(0.2 * size))
            assert found == [size - 2 * share, share, share]
    assert small
    assert made.messages == (f"{small} nodes of classes with fewer than 3 nodes in a task are all training nodes",)
    assert (cells.task * 4 + cells.label).tolist() == sorted((cells.task * 4 + cells.label).tolist())


@settings(max_examples=20)
@given(blur=st.floats(0, 0.95), seed=st.integers(0, 9))
def test_a_share_of_every_class_arrives_in_other_tasks(blur: float, seed: int) -> None:
    graph = tiny_graph((30, 20, 25, 30, 20, 25), width=6, share=0)
    made = stream(graph, arrival="blurry", blur=blur, order_seed=seed)
    task_of = task_by_node(made)
    for label, size in enumerate((30, 20, 25, 30, 20, 25)):
        tasks = Counter(task_of[int(node)] for node in np.flatnonzero(graph.labels == label))
        assert tasks[label // 2] == size - round(blur * size)
        assert sum(tasks.values()) == size


def test_blurred_nodes_go_to_every_other_task_alike() -> None:
    graph = tiny_graph((3000, 5, 5, 5, 5, 5, 5, 5), share=0, width=8)
    made = stream(graph, arrival="blurry", blur=0.9)
    tasks = Counter(task for node, task in task_by_node(made).items() if graph.labels[node] == 0)
    assert all(abs(tasks[index] - 900) < 90 for index in (1, 2, 3))


def test_without_blur_the_tasks_are_those_of_the_classes() -> None:
    graph = tiny_graph((9,) * 6)
    plain = stream(graph, class_order="random", order_seed=3)
    blurry = stream(graph, class_order="random", order_seed=3, arrival="blurry", blur=0)
    assert plain.order == blurry.order
    assert task_by_node(plain) == task_by_node(blurry)


def test_seeds_decide_what_arrives_where_and_how_it_is_split() -> None:
    graph = tiny_graph((30,) * 4)

    def made(split_seed: int, order_seed: int) -> tuple[dict[int, int], list[list[int]]]:
        found = stream(graph, split_seed=split_seed, order_seed=order_seed, arrival="blurry")
        return task_by_node(found), [part.tolist() for split in found.splits for part in split]

    assert made(0, 0) == made(0, 0)
    assert made(0, 0)[0] == made(1, 0)[0]
    assert made(0, 0)[1] != made(1, 0)[1]
    assert made(0, 0)[0] != made(0, 1)[0]


def test_small_classes_are_in_no_step() -> None:
    made = stream(tiny_graph((9, 4, 9, 20)), arrival="time", steps=2, min_class_size=5)
    assert sorted(made.order) == [0, 2, 3]
    assert not any((task.graph.labels < 0).any() for task in made)
    assert sum(made.alone(index).graph.n_nodes for index in range(2)) == 38


def test_a_number_of_classes_that_does_not_fill_the_tasks_does_not_matter_by_time() -> None:
    assert stream(tiny_graph((9, 9, 9)), arrival="time", steps=2).n_classes == 3


# what is refused


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"arrival": "time", "setting": "task-il"}, "setting=class-il is wanted with arrival=time, got task-il"),
        ({"arrival": "blurry", "setting": "task-il"}, "setting=class-il is wanted with arrival=blurry"),
        ({"steps": 3}, "steps goes with arrival=time, got it with arrival=classes"),
        ({"arrival": "time", "blur": 0.2}, "blur goes with arrival=blurry, got it with arrival=time"),
        ({"arrival": "time", "classes_per_task": 3}, "classes_per_task goes with arrival=classes or blurry"),
        ({"arrival": "time", "class_order": "size"}, "class_order goes with arrival=classes or blurry"),
        ({"arrival": "blurry", "blur": 1}, "stream.blur"),
        ({"arrival": "blurry", "blur": -0.1}, "stream.blur"),
        ({"arrival": "time", "steps": 0}, "stream.steps"),
        ({"arrival": "chance"}, "stream.arrival"),
    ],
)
def test_settings_that_do_not_fit_are_one_sentence(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RunConfig.from_values({"stream": values})
    assert message in one_sentence(caught.value)


def test_a_graph_without_times_is_one_sentence() -> None:
    with pytest.raises(DataError, match=r"tiny has no times, and stream.arrival=time needs some") as caught:
        stream(replace(tiny_graph(), times=None), arrival="time")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"arrival": "time", "steps": 99}, "at most the number of nodes, 24, got 99"),
        ({"arrival": "time", "steps": 12}, "every task must have test nodes, got none in task"),
        ({"arrival": "blurry", "classes_per_task": 4}, "at least two tasks, got 4 classes in one"),
    ],
)
def test_streams_that_cannot_be_are_one_sentence(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        stream(tiny_graph(), **values)
    assert message in one_sentence(caught.value)
