"""FTF-ER: what it keeps, that it ranks the right nodes, and that its ablations are settings."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evergraph.data.graph import GlobalIds
from evergraph.data.stream import TaskStream, TaskView, learner_view
from evergraph.errors import ConfigError
from evergraph.methods.ftf_er import FTFER
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.runs.evaluate import Evaluator
from evergraph.watch import Watch
from helpers import assert_same_bits, copied, learn_tasks, stream_of, tiny_graph

SIZES = (14, 12, 13, 15)


def settings(name: str, epochs: int = 2, **method: Any) -> RunConfig:
    return RunConfig.from_values(
        {
            "method": {"name": name, **method},
            "backbone": {"hidden": 8},
            "train": {"epochs": epochs, "threads": 1},
        }
    )


def learned(config: RunConfig, stream: TaskStream) -> FTFER:
    """A learner after all tasks, as a run hands them over."""
    learner = learner_of(config, stream)
    for index in range(len(stream)):
        (task,) = stream.views(index, with_past=False)
        learner.learn(task, (), Watch())
    return learner


def learner_of(config: RunConfig, stream: TaskStream) -> FTFER:
    learner = make_learner(config, stream.graph.n_features)
    assert isinstance(learner, FTFER)
    return learner


def kept_nodes(config: RunConfig, stream: TaskStream, monkeypatch: pytest.MonkeyPatch) -> list[GlobalIds]:
    """The rows of the full graph that a learner keeps of each task."""
    kept: list[GlobalIds] = []
    choose = FTFER.chosen

    def watching(self: FTFER, task: TaskView, mixed: Any, rng: np.random.Generator) -> NDArray[np.int64]:
        rows = choose(self, task, mixed, rng)
        kept.append(GlobalIds(task.node_ids[rows]))
        return rows

    with monkeypatch.context() as patch:
        patch.setattr(FTFER, "chosen", watching)
        learned(config, stream)
    return kept


def relabelled(stream: TaskStream, order: NDArray[np.int64]) -> TaskStream:
    """The same stream with node order[k] of the graph now called k."""
    place = np.argsort(order)
    splits = tuple((np.sort(place[a]), np.sort(place[b]), np.sort(place[c])) for a, b, c in stream.splits)
    return replace(stream, graph=stream.graph.subgraph(order), splits=splits)


@pytest.mark.parametrize("scope", ["task", "full"])
@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0])
def test_renaming_the_nodes_changes_no_selected_node(
    scope: str, beta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settings("ftf-er-det", 10, budget=3, beta=beta, scope=scope)
    stream = stream_of(tiny_graph(SIZES, width=9, share=0.15, seed=3), config)
    order = np.random.default_rng(5).permutation(stream.graph.n_nodes)
    original = kept_nodes(config, stream, monkeypatch)
    renamed = kept_nodes(config, relabelled(stream, order), monkeypatch)
    assert [sorted(nodes.tolist()) for nodes in original] == [sorted(order[nodes].tolist()) for nodes in renamed]


def test_keeps_the_top_of_the_mixed_score_of_each_class() -> None:
    config = settings("ftf-er-det", budget=4, beta=0.3)
    stream = stream_of(tiny_graph(SIZES), config)
    learner = learner_of(config, stream)
    view = learner_view(stream[0])
    learner.learn(view, (), Watch())
    mixed = learner.mixed_scores(view, [], np.random.default_rng(0))
    expected = []
    for label in view.classes:
        members = view.train[view.train_labels == label]
        scores = mixed[view.train_labels == label]
        expected += sorted(members[np.argsort(-scores, kind="stable")[:4]].tolist())
    held = learner.buffer.graph
    assert held is not None
    features = view.graph.features
    assert isinstance(features, np.ndarray)
    assert isinstance(held.features, np.ndarray)
    np.testing.assert_array_equal(held.features, features[sorted(expected)])
    np.testing.assert_array_equal(
        held.adjacency.toarray(), view.graph.adjacency.toarray()[np.ix_(sorted(expected), sorted(expected))]
    )


@pytest.mark.parametrize("name", ["ftf-er-det", "ftf-er-prob"])
def test_the_budget_is_kept_and_a_small_class_is_kept_whole(name: str) -> None:
    config = settings(name, budget=5)
    stream = stream_of(tiny_graph((20, 20, 3, 20)), config)
    learner = learned(config, stream)
    state = learner.state()
    counts = np.bincount(state["buffer.labels"].numpy())
    assert counts.tolist() == [5, 5, 1, 5]
    assert learner.memory().nodes == 16


def test_only_training_nodes_are_kept_and_their_labels_are_right() -> None:
    config = settings("ftf-er-prob", budget=6)
    stream = stream_of(tiny_graph(SIZES, width=30), config)
    learner = learned(config, stream)
    held = learner.state()
    rows = {row.tobytes(): index for index, row in enumerate(np.asarray(stream.graph.features))}
    train = {int(node): label for label, split in enumerate(stream.splits) for node in split[0]}
    for features, label in zip(held["buffer.features"].numpy(), held["buffer.labels"].tolist(), strict=True):
        assert train[rows[features.tobytes()]] == label


@pytest.mark.parametrize(
    "ablation",
    [
        {"feature_score": "random"},
        {"feature_score": "mf"},
        {"feature_score": "mf", "space": "hidden"},
        {"feature_score": "cm"},
        {"feature_score": "none"},
        {"topology_score": "random"},
        {"topology_score": "degree"},
        {"topology_score": "none"},
        {"orientation": "opposite"},
        {"scope": "full"},
        {"neighbours": "random", "neighbour_budget": 2},
        {"neighbours": "degree", "neighbour_budget": 2, "hops": 2},
        {"snapshots": 3},
        {"replay_weight": 0.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["ftf-er-det", "ftf-er-prob"])
def test_every_ablation_is_a_setting(name: str, ablation: dict[str, Any]) -> None:
    config = settings(name, budget=3, **ablation)
    stream = stream_of(tiny_graph(SIZES), config)
    one, two = learned(config, stream), learned(config, stream)
    assert_same_bits(copied(one.state()), copied(two.state()))
    assert RunConfig.from_values(config.to_values()) == config


def test_stored_neighbours_bring_no_label_and_count_as_memory() -> None:
    config = settings("ftf-er-det", budget=2, neighbours="random", neighbour_budget=3)
    stream = stream_of(tiny_graph(SIZES, share=0.4), config)
    state = learned(config, stream).state()
    labels, in_loss = state["buffer.labels"].numpy(), state["buffer.in_loss"].numpy()
    assert (labels[~in_loss] == -1).all()
    assert (labels[in_loss] >= 0).all()
    assert in_loss.sum() == 8
    assert 0 < (~in_loss).sum() <= 12


def test_snapshots_average_the_gradient_norm_over_the_parameters() -> None:
    plain, averaged = (settings("ftf-er-det", 9, budget=3, beta=0, snapshots=k) for k in (1, 3))
    stream = stream_of(tiny_graph(SIZES), plain)
    view = learner_view(stream[0])
    learner = learner_of(plain, stream)
    learner.net.grow(view)
    snapshots = learner.net.fit(view, [learner.net.task_batch(view)], Watch(), snapshots=3)
    assert len(snapshots) == 2
    before = copied(learner.net.state())
    rng = np.random.default_rng(0)
    seen = [learner.mixed_scores(view, [], rng) for _ in learner.net.at_each(snapshots)]
    assert_same_bits(before, copied(learner.net.state()))
    assert len(seen) == 3
    assert not np.allclose(seen[0], seen[2])
    assert len(learned(averaged, stream).state()["buffer.labels"]) == 12


def test_nothing_to_choose_by_is_refused() -> None:
    with pytest.raises(ConfigError, match="random"):
        settings("ftf-er-det", feature_score="none", topology_score="none")


def test_replay_prevents_forgetting_on_digits(digits_stream: TaskStream) -> None:
    results = {}
    for name in ("finetune", "ftf-er-prob"):
        config = RunConfig.from_values({"method": {"name": name}, "train": {"epochs": 30, "threads": 1}})
        learner = learn_tasks(
            make_learner(config, digits_stream.graph.n_features), config, digits_stream, range(len(digits_stream))
        )
        results[name] = Evaluator(digits_stream, learner.net.device)(learner, len(digits_stream) - 1).test.sum()
    assert results["ftf-er-prob"] > 3 * results["finetune"]
