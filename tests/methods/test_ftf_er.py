"""FTF-ER: what it keeps, that it ranks the right nodes, and that its ablations are settings."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from evergraph.backbones import model_input
from evergraph.data.graph import GlobalIds, Graph
from evergraph.data.stream import Protocol, TaskStream, TaskView, learner_view
from evergraph.errors import ConfigError
from evergraph.methods.ftf_er import FTFER, FTFERConfig
from evergraph.replay.buffer import ReplayBuffer
from evergraph.replay.selection import Chosen
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.runs.evaluate import Evaluator
from evergraph.seeding import Purpose
from evergraph.training.loop import node_losses
from evergraph.watch import Watch
from helpers import assert_same_bits, copied, learn_tasks, stream_of, tiny_graph

from . import references

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

    def watching(self: FTFER, task: TaskView, mixed: Any, rng: np.random.Generator) -> Chosen:
        chosen = choose(self, task, mixed, rng)
        kept.append(GlobalIds(task.node_ids[task.train[chosen.at]]))
        return chosen

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
    assert isinstance(learner.buffer, ReplayBuffer)
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
    labels = held["buffer.labels"].tolist()
    assert labels
    for features, label in zip(held["buffer.features"].numpy(), labels, strict=True):
        assert train[rows[features.tobytes()]] == label


def distinct(seed: int = 0, share: float = 0.15) -> Graph:
    """A graph whose features lie close together and tell every node apart."""
    graph = tiny_graph(SIZES, share=share, seed=seed)
    features = np.random.default_rng(seed).random((graph.n_nodes, 5)) + 0.4 * np.eye(5)[graph.labels]
    return replace(graph, features=features.astype(np.float32))


def after_one_task(config: RunConfig, stream: TaskStream) -> tuple[FTFER, TaskView, list[int]]:
    """A learner of the first task, what it saw, and which rows of that its buffer holds."""
    learner = learner_of(config, stream)
    (view,) = stream.views(0, with_past=False)
    learner.learn(view, (), Watch())
    rows = {row.tobytes(): index for index, row in enumerate(np.asarray(view.graph.features))}
    assert len(rows) == view.graph.n_nodes
    return learner, view, [rows[row.tobytes()] for row in learner.state()["buffer.features"].numpy()]


def score_by_hand(config: RunConfig, learner: FTFER, view: TaskView, stream: TaskStream) -> references.Scores:
    """The mixed score of each training node, from the definitions of its parts."""
    method, labels = config.method, view.train_labels
    assert isinstance(method, FTFERConfig)
    rng = np.random.default_rng([config.seeds.init, Purpose.SELECTION, view.index])
    points = references.feature_points(view)
    if method.space.value == "hidden":
        points = references.hidden_points(learner.net, view)
    sign = {"paper": -1.0, "opposite": 1.0}[method.orientation.value]
    graph = view.graph.adjacency.toarray()
    whole = stream.graph.adjacency.toarray()
    feature: dict[str, Callable[[], references.Scores]] = {
        "grand": lambda: references.gradient_norms(learner.net, view),
        "random": lambda: rng.random(len(labels)),
        "mf": lambda: references.mean_feature(points, labels),
        "cm": lambda: references.coverage(points, labels, method.distance),
        "none": lambda: np.zeros(len(labels)),
    }
    topology: dict[str, Callable[[], references.Scores]] = {
        "hps": lambda: (
            references.potential(whole, sign)[view.node_ids[view.train]]
            if method.scope.value == "full"
            else references.potential(graph, sign)[view.train]
        ),
        "random": lambda: rng.random(len(labels)),
        "degree": lambda: graph.sum(axis=1).astype(np.float64)[view.train],
        "none": lambda: np.zeros(len(labels)),
    }
    beta = {"none": 1.0}.get(method.feature_score.value, method.beta)
    beta = {"none": 0.0}.get(method.topology_score.value, beta)
    loss, place = feature[method.feature_score.value](), topology[method.topology_score.value]()
    return references.fused(loss, place, labels, beta)


@pytest.mark.parametrize(
    ("without", "change"),
    [
        ({}, {"beta": 0.0}),
        ({}, {"beta": 0.2}),
        ({}, {"beta": 1.0}),
        ({}, {"budget": 2}),
        ({}, {"feature_score": "random"}),
        ({}, {"feature_score": "mf"}),
        ({}, {"feature_score": "cm"}),
        ({}, {"feature_score": "none"}),
        ({}, {"topology_score": "random"}),
        ({}, {"topology_score": "degree"}),
        ({}, {"topology_score": "none"}),
        ({"beta": 0.0}, {"feature_score": "none"}),
        ({"beta": 1.0}, {"topology_score": "none"}),
        ({"feature_score": "random"}, {"topology_score": "random"}),
        ({"feature_score": "none"}, {"topology_score": "random"}),
        ({"topology_score": "none"}, {"feature_score": "random"}),
        ({"beta": 1.0}, {"orientation": "opposite"}),
        ({"beta": 1.0}, {"scope": "full"}),
        ({"beta": 1.0, "scope": "full"}, {"orientation": "opposite"}),
        ({"feature_score": "mf"}, {"space": "hidden"}),
        ({"feature_score": "cm", "topology_score": "none", "distance": 0.4}, {"space": "hidden"}),
        ({"feature_score": "cm", "topology_score": "none", "distance": 0.4}, {"distance": 0.6}),
    ],
    ids=str,
)
def test_every_ablation_changes_the_choice_to_what_its_definition_says(
    without: dict[str, Any], change: dict[str, Any]
) -> None:
    config = settings("ftf-er-det", 15, **{"budget": 3, **without, **change})
    stream = stream_of(distinct(), config)
    learner, view, kept = after_one_task(config, stream)
    scores = score_by_hand(config, learner, view, stream)
    budget = change.get("budget", 3)
    assert kept == view.train[references.best(scores, view.train_labels, budget)].tolist()
    assert kept != after_one_task(settings("ftf-er-det", 15, **{"budget": 3, **without}), stream)[2]


@pytest.mark.parametrize(
    "setting",
    [{"feature_score": "random"}, {"topology_score": "degree"}, {"neighbours": "random"}, {"snapshots": 2}],
    ids=str,
)
@pytest.mark.parametrize("name", ["ftf-er-det", "ftf-er-prob"])
def test_a_configuration_with_ablations_survives_the_round_trip_and_repeats(
    name: str, setting: dict[str, Any]
) -> None:
    config = settings(name, budget=3, **setting)
    assert RunConfig.from_values(config.to_values()) == config
    stream = stream_of(tiny_graph(SIZES), config)
    one, two = learned(config, stream), learned(config, stream)
    assert_same_bits(copied(one.state()), copied(two.state()))


def test_the_selection_decides_between_the_top_and_a_draw_in_proportion() -> None:
    config = settings("ftf-er-det", 15, budget=1, selection="prob")
    stream = stream_of(distinct(), config)
    assert RunConfig.from_values(config.to_values()).method == config.method
    learner, view, _ = after_one_task(config, stream)
    mixed = score_by_hand(config, learner, view, stream)
    rng = np.random.default_rng(0)
    drawn = np.zeros(len(view.train))
    rounds = 4000
    for _ in range(rounds):
        drawn[learner.chosen(view, mixed, rng).at] += 1
    for label in view.classes:
        own = view.train_labels == label
        np.testing.assert_allclose(drawn[own] / rounds, mixed[own] / mixed[own].sum(), atol=0.03)
    same = settings("ftf-er-prob", 15, budget=1)
    assert_same_bits(learner.state(), after_one_task(same, stream)[0].state())
    top = settings("ftf-er-prob", 15, budget=1, selection="det")
    expected = view.train[references.best(mixed, view.train_labels, 1)].tolist()
    assert after_one_task(top, stream)[2] == expected


@pytest.mark.parametrize("how", ["random", "degree"])
@pytest.mark.parametrize("hops", [1, 2])
@pytest.mark.parametrize("neighbour_budget", [1, 2, 50])
def test_stored_neighbours_are_as_many_and_as_far_as_the_settings_say(
    how: str, hops: int, neighbour_budget: int
) -> None:
    config = settings("ftf-er-det", budget=2, neighbours=how, neighbour_budget=neighbour_budget, hops=hops)
    stream = stream_of(distinct(share=0.1), config)
    _, view, kept = after_one_task(config, stream)
    centres = after_one_task(settings("ftf-er-det", budget=2), stream)[2]
    assert kept[: len(centres)] == centres
    graph = view.graph.adjacency.toarray() > 0
    stored, frontier, extra = set(centres), set(centres), kept[len(centres) :]
    for _ in range(hops):
        reached = {node for centre in frontier for node in np.flatnonzero(graph[centre]).tolist()} - stored
        wanted = min(len(reached), 2 * neighbour_budget)
        frontier, extra = set(extra[:wanted]), extra[wanted:]
        assert wanted > 0
        assert len(frontier) == wanted
        assert frontier <= reached
        stored |= frontier
    assert extra == []


def test_neighbours_by_degree_have_more_neighbours_than_those_at_random() -> None:
    degrees: dict[str, list[float]] = {"random": [], "degree": []}
    for how, found in degrees.items():
        for seed in range(30):
            config = settings("ftf-er-det", 1, budget=3, neighbours=how, neighbour_budget=1)
            config = replace(config, seeds=config.seeds.model_copy(update={"init": seed}))
            learner, view, kept = after_one_task(config, stream_of(distinct(), config))
            assert isinstance(learner.buffer, ReplayBuffer)
            extra = np.array(kept)[~learner.buffer.in_loss]
            found.extend(np.diff(view.graph.adjacency.indptr)[extra].tolist())
    assert np.mean(degrees["degree"]) > np.mean(degrees["random"]) + 0.5


def test_without_weight_the_buffer_is_fine_tuning() -> None:
    idle, plain = settings("ftf-er-det", 20, budget=3, replay_weight=0.0), settings("finetune", 20)
    stream = stream_of(distinct(), plain)
    alone = learn_tasks(make_learner(plain, stream.graph.n_features), plain, stream, range(len(stream)))
    found = learned(idle, stream).net.state()
    for name, value in alone.net.state().items():
        torch.testing.assert_close(found[name], value)


@pytest.mark.parametrize("weight", [0.0, 1.0, 2.5])
def test_the_loss_is_that_of_the_task_plus_the_weighted_one_of_the_buffer(
    weight: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses: list[float] = []
    monkeypatch.setattr(Watch, "epoch", lambda self, epoch, loss: losses.append(loss))
    config = settings("ftf-er-det", 1, budget=3, replay_weight=weight)
    stream = stream_of(distinct(), config)
    learner = learner_of(config, stream)
    learner.learn(learner_view(stream[0]), (), Watch())
    assert isinstance(learner.buffer, ReplayBuffer)
    held = learner.buffer.graph
    assert held is not None
    before = make_learner(config, stream.graph.n_features)
    before.load_state(learner.state())
    before.net.grow(learner_view(stream[1]))
    learner.learn(learner_view(stream[1]), (), Watch())
    task = learner_view(stream[1])
    parts = [(task.graph, task.train), (held, np.arange(held.n_nodes))]
    means = []
    for graph, rows in parts:
        labels = graph.labels[rows]
        logits = before.net.logits(model_input(graph, rows, before.net.device))
        every = node_losses(logits, torch.as_tensor(labels), None).numpy()
        means.append(sum(float(every[labels == label].mean()) for label in set(labels.tolist())))
    assert losses[-1] == pytest.approx(means[0] + weight * means[1], rel=1e-5)


def test_stored_neighbours_bring_no_label_and_count_as_memory() -> None:
    config = settings("ftf-er-det", budget=2, neighbours="random", neighbour_budget=3)
    stream = stream_of(tiny_graph(SIZES, share=0.4), config)
    state = learned(config, stream).state()
    labels, in_loss = state["buffer.labels"].numpy(), state["buffer.in_loss"].numpy()
    assert (labels[~in_loss] == -1).all()
    assert (labels[in_loss] >= 0).all()
    assert in_loss.sum() == 8
    assert 0 < (~in_loss).sum() <= 12


def test_snapshots_average_the_gradient_norm_over_the_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: three learners that stop where the snapshots of one are taken, their gradient norms averaged."""
    stream = stream_of(distinct(), settings("ftf-er-det"))
    stopped = [after_one_task(settings("ftf-er-det", epochs, budget=3), stream) for epochs in (10, 20, 30)]
    view = stopped[0][1]
    norms = [references.gradient_norms(learner.net, view) for learner, _, _ in stopped]
    none, labels = np.zeros(len(view.train)), view.train_labels
    expected, last = (references.fused(loss, none, labels, 0.0) for loss in (np.mean(norms, axis=0), norms[-1]))
    assert np.abs(expected - last).max() > 0.05
    mixed: list[NDArray[np.float64]] = []
    choose = FTFER.chosen

    def watching(self: FTFER, task: TaskView, scores: Any, rng: np.random.Generator) -> Chosen:
        mixed.append(scores)
        return choose(self, task, scores, rng)

    monkeypatch.setattr(FTFER, "chosen", watching)
    learner, _, kept = after_one_task(settings("ftf-er-det", 30, budget=3, beta=0, snapshots=3), stream)
    np.testing.assert_allclose(mixed[0], expected, atol=1e-3)
    assert kept == view.train[references.best(expected, labels, 3)].tolist()
    for name, value in stopped[-1][0].net.state().items():
        torch.testing.assert_close(learner.net.state()[name], value)


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
        results[name] = Evaluator(digits_stream, learner)(4)[Protocol.TASK_GRAPHS].test.sum()
    assert results["ftf-er-prob"] > 3 * results["finetune"]
