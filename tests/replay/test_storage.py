"""What each storage keeps of the chosen nodes, what that costs, and in which graph they are replayed."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from evergraph.backbones import model_input
from evergraph.config import validated
from evergraph.data.stream import TaskView, learner_view
from evergraph.errors import ConfigError
from evergraph.methods.ftf_er import FTFER
from evergraph.replay.buffer import ReplayBuffer
from evergraph.replay.neighbours import NeighbourStorage
from evergraph.replay.selection import Chosen
from evergraph.replay.storage import Storage, StorageConfig, compact, empty_buffer, keep
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.testing.samples import outputs_are_sound, resumes_bit_by_bit
from evergraph.training.loop import batch_loss, node_losses
from evergraph.training.net import Net
from evergraph.watch import Watch
from helpers import CPU, assert_same_bits, learned, one_sentence, run_config, stream_of, tiny_graph

from .test_propagation import dense_features, dense_operator

WHOLE = {"inter_task_edges": True}
METHODS = ["ftf-er-det", "ftf-er-prob", "random-replay", "er-gnn-mf", "er-gnn-cm"]
STORAGES = [storage.value for storage in Storage]


def config_of(method: str, storage: str, stream: dict[str, Any], **settings: Any) -> RunConfig:
    return run_config(
        method={"name": method, "storage": storage, "budget": 3, **settings},
        backbone={"hidden": 8},
        stream=stream,
    )


def view_of(*, sparse_features: bool = False, directed: bool = False) -> TaskView:
    config = run_config()
    graph = tiny_graph((14, 12), share=0.2, sparse_features=sparse_features, directed=directed)
    return learner_view(stream_of(graph, config)[0])


def kept(view: TaskView, storage: Storage, **settings: Any) -> ReplayBuffer:
    buffer = empty_buffer(storage)
    config = StorageConfig(storage=storage, **settings)
    keep(buffer, view, Chosen(np.arange(5), np.ones(5)), config, 5, np.random.default_rng(0))
    assert isinstance(buffer, ReplayBuffer)
    return buffer


@pytest.mark.parametrize("sparse_features", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_an_embedding_is_a_row_of_the_twice_propagated_features_without_edges(
    sparse_features: bool, directed: bool
) -> None:
    view = view_of(sparse_features=sparse_features, directed=directed)
    held = kept(view, Storage.EMBEDDING).graph
    assert held is not None
    operator = dense_operator(view.graph)
    expected = (operator @ operator @ dense_features(view.graph))[view.train[:5]]
    np.testing.assert_allclose(dense_features(held), expected, atol=1e-6)
    assert held.n_edges == 0
    assert held.labels.tolist() == view.graph.labels[view.train[:5]].tolist()


def test_nodes_alone_keep_their_features_and_neighbours_are_those_of_the_settings() -> None:
    view = view_of()
    alone = kept(view, Storage.NODES).graph
    assert alone is not None
    np.testing.assert_array_equal(dense_features(alone), dense_features(view.graph)[view.train[:5]])
    assert alone.n_edges == 0
    by_default, by_degree = kept(view, Storage.NEIGHBOURS), kept(view, Storage.SUBGRAPH, neighbours="degree")
    assert_same_bits(by_default.state(), by_degree.state())
    assert by_default.memory().nodes > kept(view, Storage.SUBGRAPH).memory().nodes == 5
    assert StorageConfig(storage=Storage.NEIGHBOURS, neighbours="random").sampled is NeighbourStorage.RANDOM


@pytest.mark.parametrize("storage", [Storage.SUBGRAPH, Storage.NEIGHBOURS, Storage.NODES, Storage.EMBEDDING])
@pytest.mark.parametrize("sparse_features", [False, True])
def test_bytes_counted_are_bytes_kept(storage: Storage, sparse_features: bool) -> None:
    buffer = kept(view_of(sparse_features=sparse_features), storage)
    assert buffer.memory().bytes == sum(value.numel() * value.element_size() for value in buffer.state().values())


def test_sparse_rows_stay_sparse_only_where_that_is_smaller() -> None:
    thin = sparse.csr_array(np.eye(50, dtype=np.float32))
    full = sparse.csr_array(np.ones((50, 50), dtype=np.float32))
    assert compact(thin) is thin
    np.testing.assert_array_equal(compact(full), np.ones((50, 50)))


def test_pieces_of_either_kind_are_put_together() -> None:
    for kinds in ((False, True), (True, False)):
        buffer, rows = ReplayBuffer(), []
        for sparse_features in kinds:
            graph = tiny_graph(sparse_features=sparse_features)
            buffer.add(graph, np.arange(4), graph.labels[:4])
            rows.append(dense_features(graph)[:4])
        assert buffer.graph is not None
        assert isinstance(buffer.graph.features, np.ndarray) is not kinds[0]
        np.testing.assert_array_equal(dense_features(buffer.graph), np.concatenate(rows))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("storage", STORAGES)
def test_every_method_learns_and_resumes_with_every_storage(method: str, storage: str) -> None:
    resumes_bit_by_bit(config_of(method, storage, WHOLE))
    outputs_are_sound(config_of(method, storage, WHOLE), tiny_graph(sparse_features=True, directed=True))
    if storage != "ids":
        outputs_are_sound(config_of(method, storage, {}), tiny_graph())


@pytest.mark.parametrize("method", METHODS)
def test_ids_need_the_whole_graph(method: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config_of(method, "ids", {})
    assert "inter_task_edges=true" in one_sentence(caught.value)


def test_ids_are_replayed_in_one_batch_with_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: class means of the new nodes plus λ times those of the kept ones, all in the graph known now."""
    config = config_of("ftf-er-det", "ids", WHOLE, replay_weight=0.7)
    stream = stream_of(tiny_graph((9, 8, 7, 9)), config)
    learner = make_learner(config, 5)
    assert isinstance(learner, FTFER)
    first, second = (learner_view(task) for task in stream)
    learner.learn(first, (), Watch())
    (ids, labels) = (learner.state()[f"buffer.{name}"].numpy() for name in ("ids", "labels"))
    seen: list[float] = []

    def watching(self: Net, task: TaskView, batches: Any, watch: Watch, **options: Any) -> list[Any]:
        assert len(batches) == 1
        seen.append(batch_loss(self.model, batches[0]).item())
        return []

    monkeypatch.setattr(Net, "fit", watching)
    learner.learn(second, (), Watch())
    expected = 0.0
    parts = [(second.train, second.train_labels, 1.0), (np.searchsorted(second.node_ids, ids), labels, 0.7)]
    for rows, own, scale in parts:
        logits = learner.net.logits(model_input(second.graph, rows, CPU))
        every = node_losses(logits, torch.as_tensor(own), None).numpy()
        expected += scale * sum(float(every[own == label].mean()) for label in set(own.tolist()))
    assert seen == [pytest.approx(expected, rel=1e-5)]


@pytest.mark.parametrize("how", ["random", "degree"])
def test_the_older_settings_store_neighbours_as_before(how: str) -> None:
    older = config_of("ftf-er-det", "subgraph", {}, neighbours=how, hops=2)
    newer = config_of("ftf-er-det", "neighbours", {}, neighbours=how, hops=2)
    stream = stream_of(tiny_graph((9, 8, 7, 9)), older)
    assert_same_bits(learned(older, stream).state(), learned(newer, stream).state())


@pytest.mark.parametrize("storage", ["nodes", "embedding", "ids"])
def test_neighbours_without_edges_are_refused(storage: str) -> None:
    with pytest.raises(ConfigError, match="neighbours=none is wanted"):
        validated(StorageConfig, {"storage": storage, "neighbours": "degree"}, "method")


def test_the_default_changes_no_identity() -> None:
    plain = RunConfig.from_values({"method": {"name": "ftf-er-det"}})
    named = RunConfig.from_values({"method": {"name": "ftf-er-det", "storage": "subgraph"}})
    assert plain.digest() == named.digest()
    assert "method.storage" not in plain.changed()
