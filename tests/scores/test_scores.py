"""Every score against brute force, and the contract that all of them keep."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from evergraph.backbones import model_input
from evergraph.data.stream import TaskView, learner_view
from evergraph.errors import ConfigError
from evergraph.hodge import Orientation
from evergraph.runs.build import make_learner
from evergraph.scores import SCORES, Scope, ScoreContext, Space
from evergraph.scores.hps import misread_score
from evergraph.testing import ScoreContract
from evergraph.testing.scores import score_context
from evergraph.training.loop import node_losses
from helpers import quick_config, stream_of, tiny_graph


def points(task: TaskView) -> NDArray[np.float64]:
    features = task.graph.features
    assert features is not None
    dense = features if isinstance(features, np.ndarray) else features.toarray()
    result: NDArray[np.float64] = dense[task.train].astype(np.float64)
    return result


@pytest.mark.parametrize("name", list(SCORES))
class TestEveryScore(ScoreContract):
    pass


@pytest.mark.parametrize("sparse_features", [False, True])
def test_mean_feature_is_minus_the_distance_to_the_class_mean(sparse_features: bool) -> None:
    given = score_context(sparse_features=sparse_features)
    x, labels = points(given.task), given.task.train_labels
    brute = [-np.linalg.norm(x[i] - x[labels == labels[i]].mean(axis=0)) for i in range(len(x))]
    np.testing.assert_allclose(SCORES["mf"].score(given).value, brute, atol=1e-5)


@pytest.mark.parametrize("sparse_features", [False, True])
def test_coverage_counts_other_classes_nearby(sparse_features: bool) -> None:
    given = score_context(sparse_features=sparse_features)
    x, labels = points(given.task), given.task.train_labels
    for distance in (0.5, 0.9, 2.0):
        wider = ScoreContext(given.task, given.net, given.rng, distance=distance)
        brute = [
            -sum(bool(np.linalg.norm(x[i] - x[j]) <= distance and labels[i] != labels[j]) for j in range(len(x)))
            for i in range(len(x))
        ]
        np.testing.assert_array_equal(SCORES["cm"].score(wider).value, brute)


def test_hidden_space_is_what_the_output_layer_sees() -> None:
    given = score_context(space=Space.HIDDEN)
    model = given.trained.model
    hidden = model.embed(*model_input(given.task.graph, given.task.train, given.trained.device))
    x, labels = hidden.detach().double().numpy(), given.task.train_labels
    brute = [-np.linalg.norm(x[i] - x[labels == labels[i]].mean(axis=0)) for i in range(len(x))]
    np.testing.assert_allclose(SCORES["mf"].score(given).value, brute, atol=1e-5)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("orientation", "sign"), [(Orientation.PAPER, -1.0), (Orientation.OPPOSITE, 1.0)])
def test_hps_is_the_pseudo_inverse_of_the_task(directed: bool, orientation: Orientation, sign: float) -> None:
    given = score_context(directed=directed)
    dense = given.task.graph.adjacency.toarray().astype(np.float64)
    both = np.maximum(dense, dense.T)
    flow = dense - dense.T if directed else dense
    exact = sign * np.linalg.pinv(np.diag(both.sum(axis=1)) - both) @ flow.sum(axis=1)
    scores = SCORES["hps"].score(ScoreContext(given.task, given.net, given.rng, orientation))
    np.testing.assert_allclose(scores.value, exact[given.task.train], atol=1e-8)
    assert scores.certificate["converged"]


def test_hps_of_the_whole_graph_is_read_with_the_right_rows() -> None:
    config = quick_config("ftf-er-det")
    stream = stream_of(tiny_graph(), config)
    whole = np.arange(stream.graph.n_nodes, dtype=np.float64) ** 2
    task = stream[1]
    view = learner_view(task, lambda nodes: whole[nodes])
    learner = make_learner(config, stream.graph.n_features)
    for orientation, factor in ((Orientation.PAPER, 1.0), (Orientation.OPPOSITE, -1.0)):
        given = ScoreContext(view, learner.net, np.random.default_rng(0), orientation, scope=Scope.FULL)
        expected = factor * whole[task.node_ids[task.train]]
        np.testing.assert_array_equal(SCORES["hps"].score(given).value, expected)


def test_the_misread_potential_is_that_of_other_nodes() -> None:
    config = quick_config("ftf-er-det")
    stream = stream_of(tiny_graph(), config)
    whole = np.arange(stream.graph.n_nodes, dtype=np.float64) ** 2
    view = learner_view(stream[1], lambda nodes: whole[nodes])
    given = ScoreContext(view, make_learner(config, 5).net, np.random.default_rng(0))
    np.testing.assert_array_equal(misread_score(given).value, whole[view.train])
    assert (misread_score(given).value != whole[view.node_ids[view.train]]).any()
    with pytest.raises(ConfigError, match="misread needs the whole graph, got only a task"):
        misread_score(replace(given, task=replace(view, whole_potential=None)))


@pytest.mark.parametrize("directed", [False, True])
def test_hps_of_the_whole_graph_is_the_pseudo_inverse_of_the_graph(directed: bool) -> None:
    config = quick_config("ftf-er-det")
    stream = stream_of(tiny_graph(directed=directed), config)
    dense = stream.graph.adjacency.toarray().astype(np.float64)
    both = np.maximum(dense, dense.T)
    flow = dense - dense.T if directed else dense
    exact = -np.linalg.pinv(np.diag(both.sum(axis=1)) - both) @ flow.sum(axis=1)
    (view,) = stream.views(1, with_past=False)
    net = make_learner(config, stream.graph.n_features).net
    scores = SCORES["hps"].score(ScoreContext(view, net, np.random.default_rng(0), scope=Scope.FULL))
    np.testing.assert_allclose(scores.value, exact[view.node_ids[view.train]], atol=1e-8)


def test_hps_of_the_whole_graph_needs_one() -> None:
    bare = score_context()
    given = replace(bare, task=replace(bare.task, whole_potential=None), scope=Scope.FULL)
    with pytest.raises(ConfigError, match="scope=full needs the whole graph, got only a task"):
        SCORES["hps"].score(given)


def test_degree_counts_neighbours_in_the_task() -> None:
    given = score_context()
    degrees = (given.task.graph.adjacency.toarray() > 0).sum(axis=1)
    np.testing.assert_array_equal(SCORES["degree"].score(given).value, degrees[given.task.train])


def test_grand_is_the_norm_of_each_nodes_own_gradient() -> None:
    given = score_context()
    model, task = given.trained.model, given.task
    labels = torch.as_tensor(task.train_labels)
    losses = node_losses(model(*model_input(task.graph, task.train, given.trained.device)), labels, None)
    parameters = list(model.parameters())
    brute = [
        torch.cat([g.flatten() for g in torch.autograd.grad(loss, parameters, retain_graph=True)]).norm().item()
        for loss in losses
    ]
    np.testing.assert_allclose(SCORES["grand"].score(given).value, brute, rtol=1e-4)


def test_scores_say_what_they_need() -> None:
    assert {name for name, entry in SCORES.items() if entry.needs_model} == {"grand"}
    assert {name for name, entry in SCORES.items() if entry.needs_features} == {"grand", "mf", "cm"}


def test_points_far_from_the_origin_are_distinguished() -> None:
    """|x - m| comes from |x|² - 2 x·m + |m|², which loses all of its digits in 32 bits."""
    given = score_context()
    features = given.task.graph.features
    assert isinstance(features, np.ndarray)
    graph = replace(given.task.graph, features=features + np.float32(3000))
    task = replace(given.task, graph=graph)
    x, labels = points(task), task.train_labels
    brute = [-np.linalg.norm(x[i] - x[labels == labels[i]].mean(axis=0)) for i in range(len(x))]
    np.testing.assert_allclose(SCORES["mf"].score(replace(given, task=task)).value, brute, atol=0.05)
