"""The buffer holds exactly the chosen nodes, and says what they cost."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from evergraph.data.graph import GlobalIds, Graph, LocalIds
from evergraph.data.stream import HIDDEN, TaskView
from evergraph.replay.buffer import ReplayBuffer
from evergraph.replay.neighbours import NeighbourStorage, sample_neighbours
from evergraph.replay.selection import Chosen, Selection, choose_per_class
from evergraph.runs.build import make_net
from helpers import quick_config, tiny_graph


@pytest.mark.parametrize("sparse_features", [False, True])
def test_holds_the_induced_subgraphs_side_by_side(sparse_features: bool) -> None:
    graphs = [tiny_graph(seed=seed, sparse_features=sparse_features) for seed in (0, 1)]
    nodes = [np.array([1, 5, 9]), np.array([0, 2, 3, 20])]
    buffer = ReplayBuffer()
    for graph, chosen in zip(graphs, nodes, strict=True):
        buffer.add(graph, chosen, graph.labels[chosen])
    held = buffer.graph
    assert held is not None
    parts = [graph.adjacency.toarray()[np.ix_(chosen, chosen)] for graph, chosen in zip(graphs, nodes, strict=True)]
    np.testing.assert_array_equal(held.adjacency.toarray(), sparse.block_diag(parts).toarray())
    rows = [_dense(graph)[chosen] for graph, chosen in zip(graphs, nodes, strict=True)]
    np.testing.assert_array_equal(_dense(held), np.concatenate(rows))
    assert held.labels.tolist() == [
        int(g.labels[i]) for g, chosen in zip(graphs, nodes, strict=True) for i in chosen
    ]


def _dense(graph: Graph) -> np.ndarray:
    assert graph.features is not None
    return graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()


@pytest.mark.parametrize("sparse_features", [False, True])
def test_memory_counts_what_is_held(sparse_features: bool) -> None:
    graph = tiny_graph(sparse_features=sparse_features)
    buffer = ReplayBuffer()
    assert buffer.memory().bytes == 0
    chosen = np.arange(1, 11)
    buffer.add(graph, chosen, graph.labels[chosen])
    memory, held = buffer.memory(), buffer.graph
    assert held is not None
    assert memory.nodes == 10
    assert memory.edges == np.count_nonzero(graph.adjacency.toarray()[np.ix_(chosen, chosen)])
    arrays = [held.labels, buffer.in_loss, held.adjacency.data, held.adjacency.indices, held.adjacency.indptr]
    if isinstance(held.features, np.ndarray):
        arrays.append(held.features)
        assert memory.floats == held.features.size
    else:
        assert held.features is not None
        arrays += [held.features.data, held.features.indices, held.features.indptr]
    slack = memory.bytes - sum(array.nbytes for array in arrays)
    assert 0 <= slack <= 64  # shapes and one flag


def test_state_round_trip_keeps_everything() -> None:
    for directed in (False, True):
        graph = tiny_graph(sparse_features=True, directed=directed)
        buffer, copy = ReplayBuffer(), ReplayBuffer()
        buffer.add(graph, np.array([1, 2, 8]), graph.labels[[1, 2, 8]], np.array([True, False, True]))
        copy.load_state(buffer.state())
        assert copy.graph is not None
        assert copy.graph.directed is directed
        assert {name: value.tolist() for name, value in copy.state().items()} == {
            name: value.tolist() for name, value in buffer.state().items()
        }


def test_only_marked_nodes_enter_the_loss_and_classes_count_alike() -> None:
    graph = tiny_graph()
    chosen = np.concatenate([np.flatnonzero(graph.labels == 0)[:4], np.flatnonzero(graph.labels == 1)[:2]])
    buffer = ReplayBuffer()
    buffer.add(graph, chosen, graph.labels[chosen], np.array([True, True, True, False, True, True]))
    (batch,) = buffer.batches(make_net(quick_config("finetune"), graph.n_features), scale=2.0)
    assert batch.labels.tolist() == [0, 0, 0, 1, 1]
    np.testing.assert_allclose(batch.weights.numpy(), [2 / 3, 2 / 3, 2 / 3, 1, 1])
    assert batch.input.graph.n_nodes == 6


def test_nothing_else_of_a_task_survives() -> None:
    graph = tiny_graph()
    arrays = [graph.adjacency.data, graph.adjacency.indices, graph.features, graph.labels, graph.original_ids]
    watched = [weakref.ref(array) for array in arrays]
    buffer = ReplayBuffer()
    buffer.add(graph, np.array([1, 2, 8]), graph.labels[[1, 2, 8]])
    del graph, arrays
    gc.collect()
    assert [reference() for reference in watched] == [None] * len(watched)


def test_neighbours_bring_neither_label_nor_loss() -> None:
    graph = tiny_graph(share=0.4)
    chosen, neighbours = np.array([3, 8]), np.array([1, 12, 20])
    buffer = ReplayBuffer()
    buffer.add_with_neighbours(graph, chosen, neighbours)
    held = buffer.graph
    assert held is not None
    rows = np.concatenate([chosen, neighbours])
    np.testing.assert_array_equal(held.adjacency.toarray(), graph.adjacency.toarray()[np.ix_(rows, rows)])
    assert held.labels.tolist() == [*graph.labels[chosen].tolist(), HIDDEN, HIDDEN, HIDDEN]
    assert buffer.in_loss.tolist() == [True, True, False, False, False]


# classes that come back


def view_of(graph: Graph, index: int) -> TaskView:
    """All nodes of a graph as the training nodes of a task of a stream whose classes come back."""
    nodes = np.arange(graph.n_nodes)
    classes = tuple(np.unique(graph.labels).tolist())
    return TaskView(index, classes, graph, GlobalIds(nodes), LocalIds(nodes), classes_return=True)


@settings(max_examples=40)
@given(
    rounds=st.lists(st.lists(st.integers(0, 9), min_size=24, max_size=24), min_size=1, max_size=4),
    budget=st.integers(1, 8),
)
def test_a_class_keeps_the_best_of_all_its_nodes_and_of_equal_ones_the_first(
    rounds: list[list[int]], budget: int
) -> None:
    buffer = ReplayBuffer()
    every: list[tuple[int, int, int]] = []  # label, task, position in it
    keys = [np.array(own, dtype=np.float64) for own in rounds]
    for index, own in enumerate(keys):
        view = view_of(tiny_graph(seed=index), index)
        rng = np.random.default_rng(0)
        chosen = choose_per_class(own, view.train_labels, budget, Selection.DETERMINISTIC, rng)
        buffer.store(view, buffer.admit(view, chosen, budget))
        every += [(int(label), index, at) for at, label in enumerate(view.train_labels)]
    best: list[tuple[int, int, int]] = []
    for label in range(4):
        members = [entry for entry in every if entry[0] == label]
        best += sorted(members, key=lambda entry: -keys[entry[1]][entry[2]])[:budget]
    held, ranks = buffer.graph, buffer.ranks
    assert held is not None
    assert ranks is not None
    best.sort(key=lambda entry: entry[1:])
    assert held.labels.tolist() == [label for label, _, _ in best]
    assert ranks.tasks.tolist() == [task for _, task, _ in best]
    assert ranks.keys.tolist() == [keys[task][at] for _, task, at in best]
    rows = [_dense(tiny_graph(seed=task))[at] for _, task, at in best]
    np.testing.assert_array_equal(_dense(held), np.array(rows))
    for at, (_, task, one) in enumerate(best):
        for to, (_, other, two) in enumerate(best):
            edge = tiny_graph(seed=task).adjacency[one, two] if task == other else 0
            assert held.adjacency[at, to] == edge


@pytest.mark.parametrize("hops", [1, 2])
@pytest.mark.parametrize("directed", [False, True])
def test_neighbours_leave_with_the_last_node_that_they_serve(hops: int, directed: bool) -> None:
    graph = tiny_graph((12,) * 4, share=0.06, directed=directed)
    view = view_of(graph, 0)
    buffer = ReplayBuffer()
    rng = np.random.default_rng(1)
    chosen = choose_per_class(rng.random(48), graph.labels, 3, Selection.DETERMINISTIC, rng)
    extra = sample_neighbours(graph, chosen.at, NeighbourStorage.RANDOM, 99, hops, rng)
    buffer.store(view, chosen, extra)
    stored = np.concatenate([chosen.at, extra])
    later = view_of(tiny_graph((12,) * 4, seed=1), 1)
    rivals = Chosen(np.flatnonzero(later.train_labels < 3), np.full(36, 2.0))
    admitted = buffer.admit(later, rivals, 3, hops)
    assert len(admitted.at) == 9
    centres = {int(node) for node in chosen.at if graph.labels[node] == 3}
    may_stay, dense = {*centres, *extra.tolist()}, graph.adjacency.toarray()
    reached = set(centres)
    for _ in range(hops):
        reached |= {int(to) for node in reached for to in np.flatnonzero(dense[node])} & may_stay
    assert len(centres) < len(reached) < len(may_stay)
    kept = [int(node) for node in stored if int(node) in reached]
    held, ranks = buffer.graph, buffer.ranks
    assert held is not None
    assert ranks is not None
    np.testing.assert_array_equal(held.adjacency.toarray(), dense[np.ix_(kept, kept)])
    assert np.isnan(ranks.keys).tolist() == (~buffer.in_loss).tolist() == [node not in centres for node in kept]


def test_where_no_class_comes_back_everything_chosen_is_kept_without_keys() -> None:
    graph = tiny_graph()
    view = replace(view_of(graph, 0), classes_return=False)
    buffer = ReplayBuffer()
    for _ in range(2):
        chosen = Chosen(np.array([1, 5]), np.array([0.5, 0.1]))
        assert buffer.admit(view, chosen, 1) is chosen
        buffer.store(view, chosen)
    assert buffer.memory().nodes == 4
    assert buffer.ranks is None
    assert not {"buffer.keys", "buffer.tasks"} & set(buffer.state())


def test_keys_and_tasks_are_part_of_the_state_and_of_the_bytes() -> None:
    buffer, plain, copy = ReplayBuffer(), ReplayBuffer(), ReplayBuffer()
    view, chosen = view_of(tiny_graph(), 3), Chosen(np.array([1, 5, 7]), np.array([0.5, 0.1, 0.2]))
    buffer.store(view, chosen)
    plain.store(replace(view, classes_return=False), chosen)
    assert buffer.memory().bytes == plain.memory().bytes + 3 * (8 + 8)
    copy.load_state(buffer.state())
    assert copy.ranks is not None
    assert copy.ranks.keys.tolist() == [0.5, 0.1, 0.2]
    assert copy.ranks.tasks.tolist() == [3, 3, 3]


def test_nothing_is_stored_where_nothing_is_admitted() -> None:
    buffer, view = ReplayBuffer(), view_of(tiny_graph(), 0)
    buffer.store(view, Chosen(np.array([1]), np.array([0.5])))
    before = buffer.state()
    buffer.store(view, Chosen(np.zeros(0, dtype=np.int64), np.zeros(0)))
    assert {name: value.tolist() for name, value in buffer.state().items()} == {
        name: value.tolist() for name, value in before.items()
    }
