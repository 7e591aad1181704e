"""SSM: what is stored, within which budget, and whose loss is replayed."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from evergraph.data.stream import HIDDEN, TaskStream, learner_view
from evergraph.methods.ssm import SSM
from evergraph.runs.build import make_learner
from evergraph.watch import Watch
from helpers import run_config, stream_of, tiny_graph


def learner_of(name: str, **method: Any) -> tuple[SSM, TaskStream]:
    config = run_config(method={"name": name, **method}, backbone={"hidden": 8})
    stream = stream_of(tiny_graph((20, 18, 22, 16), share=0.15), config)
    learner = make_learner(config, 5)
    assert isinstance(learner, SSM)
    return learner, stream


@pytest.mark.parametrize("name", ["ssm", "ssm-random"])
@pytest.mark.parametrize("hops", [1, 2])
def test_the_budget_holds_for_each_class_and_hop(name: str, hops: int) -> None:
    learner, stream = learner_of(name, budget=3, neighbour_budget=2, hops=hops)
    for done, task in enumerate(stream, 1):
        learner.learn(learner_view(task), (), Watch())
        held = learner.buffer.graph
        assert held is not None
        centres = learner.buffer.in_loss
        assert np.bincount(held.labels[centres]).tolist() == [3] * 2 * done
        assert 0 < np.sum(~centres) <= done * 2 * hops * 2
        assert (held.labels[~centres] == HIDDEN).all()
        assert learner.memory().nodes == held.n_nodes
        assert learner.memory().floats == held.n_nodes * 5


@pytest.mark.parametrize("name", ["ssm", "ssm-random"])
def test_one_hop_stores_neighbours_of_centres_only(name: str) -> None:
    learner, stream = learner_of(name, budget=2, neighbour_budget=3, hops=1)
    learner.learn(learner_view(stream[0]), (), Watch())
    held, centres = learner.buffer.graph, learner.buffer.in_loss
    assert held is not None
    assert (held.adjacency.toarray()[~centres][:, centres].sum(axis=1) > 0).all()


def test_only_centres_enter_the_loss() -> None:
    learner, stream = learner_of("ssm", budget=3, neighbour_budget=4, replay_weight=0.5)
    learner.learn(learner_view(stream[0]), (), Watch())
    learner.net.grow(learner_view(stream[1]))
    (batch,) = learner.buffer.batches(learner.net, learner.config.replay_weight)
    assert len(batch.labels) == 6
    assert sorted(batch.labels.tolist()) == [0, 0, 0, 1, 1, 1]
    assert torch.allclose(batch.weights, torch.full((6,), 0.5 / 3))
    assert np.array_equal(batch.input.graph.rows, np.flatnonzero(learner.buffer.in_loss))


def test_neighbours_still_speak() -> None:
    """The centres' outputs are those in the stored subgraph, not those of lone nodes."""
    learner, stream = learner_of("ssm", budget=3, neighbour_budget=4)
    learner.learn(learner_view(stream[0]), (), Watch())
    held = learner.buffer.graph
    assert held is not None
    (batch,) = learner.buffer.batches(learner.net, 1.0)
    before = learner.net.logits(batch.input)
    assert isinstance(held.features, np.ndarray)
    held.features[~learner.buffer.in_loss] += 1
    (batch,) = learner.buffer.batches(learner.net, 1.0)
    assert not torch.allclose(learner.net.logits(batch.input), before)


def test_degree_prefers_hubs() -> None:
    degrees = []
    for name in ("ssm", "ssm-random"):
        found = []
        for seed in range(20):
            config = run_config(
                method={"name": name, "budget": 5, "neighbour_budget": 4, "hops": 1},
                backbone={"hidden": 8},
                seeds={"init": seed},
                train={"epochs": 1},
            )
            graph = tiny_graph((60, 60), share=0.08, seed=3)
            identities = replace(graph, features=np.eye(graph.n_nodes, dtype=np.float32))
            view = learner_view(stream_of(identities, config)[0])
            learner = make_learner(config, graph.n_nodes)
            assert isinstance(learner, SSM)
            learner.learn(view, (), Watch())
            held = learner.buffer.graph
            assert held is not None
            assert isinstance(held.features, np.ndarray)
            nodes = held.features[~learner.buffer.in_loss].argmax(axis=1)
            found.append(np.diff(graph.adjacency.indptr)[nodes].mean())
        degrees.append(np.mean(found))
    assert degrees[0] > degrees[1]
