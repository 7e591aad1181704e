"""The buffer holds exactly the chosen nodes, and says what they cost."""

import gc
import weakref

import numpy as np
import pytest
from scipy import sparse

from evergraph.data.graph import Graph
from evergraph.data.stream import HIDDEN
from evergraph.replay.buffer import ReplayBuffer
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
