"""ER-GNN: which nodes it keeps, that it keeps no edges, and how the two losses are weighed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evergraph.backbones import model_input
from evergraph.data.stream import TaskView, learner_view
from evergraph.methods.er_gnn import ERGNN
from evergraph.replay.buffer import ReplayBuffer
from evergraph.runs.build import make_learner
from evergraph.training.net import Net
from evergraph.watch import Watch
from helpers import CPU, learned, run_config, stream_of, tiny_graph

SIZES = (14, 12, 13, 15)


def learner_of(name: str, **method: Any) -> tuple[ERGNN, Any]:
    config = run_config(method={"name": name, **method}, backbone={"hidden": 8})
    stream = stream_of(tiny_graph(SIZES, share=0.3), config)
    learner = make_learner(config, 5)
    assert isinstance(learner, ERGNN)
    return learner, stream


def points_of(learner: ERGNN, view: TaskView, space: str) -> NDArray[np.float64]:
    if space == "features":
        assert isinstance(view.graph.features, np.ndarray)
        return view.graph.features[view.train].astype(np.float64)
    hidden = learner.net.model.embed(*model_input(view.graph, view.train, CPU))
    points: NDArray[np.float64] = hidden.detach().double().numpy()
    return points


def plain_scores(name: str, points: NDArray[np.float64], labels: NDArray[np.int64], distance: float) -> list[float]:
    """Minus the distance to the mean of the class; minus the number of other-class nodes nearby."""
    result = []
    for i, point in enumerate(points):
        if name == "er-gnn-mf":
            result.append(-float(np.linalg.norm(point - points[labels == labels[i]].mean(axis=0))))
        else:
            near = [np.linalg.norm(point - other) <= distance for other in points[labels != labels[i]]]
            result.append(-float(sum(near)))
    return result


@pytest.mark.parametrize("space", ["features", "hidden"])
@pytest.mark.parametrize("name", ["er-gnn-mf", "er-gnn-cm"])
def test_the_best_of_each_class_are_kept(name: str, space: str) -> None:
    distance = 0.7
    learner, stream = learner_of(name, budget=4, space=space, distance=distance)
    for task in stream:
        view = learner_view(task)
        learner.learn(view, (), Watch())
        scores = np.array(plain_scores(name, points_of(learner, view, space), view.train_labels, distance))
        chosen = view.train[learner.chosen(view).at]
        for label in view.classes:
            own = scores[view.train_labels == label]
            kept = scores[np.isin(view.train, chosen) & (view.train_labels == label)]
            assert len(kept) == 4
            assert np.sort(kept) == pytest.approx(np.sort(own)[-4:], abs=1e-5)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_nodes_are_chosen_before_or_after_a_task_is_learned(moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner, stream = learner_of("er-gnn-mf", budget=4, space="hidden", moment=moment)
    steps: list[str] = []

    def told(step: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            steps.append(step)
            return call(*given)

        return run

    monkeypatch.setattr(ERGNN, "chosen", told("choose", ERGNN.chosen))
    monkeypatch.setattr(Net, "fit", told("learn", Net.fit))
    for task in stream:
        learner.learn(learner_view(task), (), Watch())
    assert steps == (["choose", "learn"] if moment == "before" else ["learn", "choose"]) * len(stream)
    assert learner.memory().nodes == 4 * len(SIZES)


@pytest.mark.parametrize("name", ["er-gnn-mf", "er-gnn-cm"])
@pytest.mark.parametrize("sparse_features", [False, True])
def test_nodes_are_kept_with_their_features_and_without_edges(name: str, sparse_features: bool) -> None:
    config = run_config(method={"name": name, "budget": 4}, backbone={"hidden": 8})
    stream = stream_of(tiny_graph(SIZES, share=0.5, sparse_features=sparse_features), config)
    learner = learned(config, stream)
    assert isinstance(learner, ERGNN)
    assert isinstance(learner.buffer, ReplayBuffer)
    held = learner.buffer.graph
    assert held is not None
    assert held.n_edges == learner.memory().edges == 0
    assert np.bincount(held.labels).tolist() == [4, 4, 4, 4]
    view = learner_view(stream[1])
    source, kept = view.graph.features, held.features
    assert source is not None
    assert kept is not None
    difference = abs(source[view.train[learner.chosen(view).at]] - kept[8:])
    assert difference.max() == 0


@pytest.mark.parametrize(("moment", "classes"), [("after", 2), ("before", 4)])
def test_the_losses_are_weighed_by_the_numbers_of_nodes(
    moment: str, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes that are chosen before their task is learned are replayed while it is."""
    learner, stream = learner_of("er-gnn-mf", budget=3, moment=moment)
    seen: list[list[float]] = []
    fit = Net.fit

    def watching(self: Net, task: TaskView, batches: Any, watch: Watch, **options: Any) -> Any:
        seen.append([float(batch.weights.sum()) for batch in batches])
        return fit(self, task, batches, watch, **options)

    monkeypatch.setattr(Net, "fit", watching)
    for task in stream:
        learner.learn(learner_view(task), (), Watch())
    share = 3 * classes / (3 * classes + len(stream[1].train))
    assert seen[0] == pytest.approx([2.0])  # two classes, each counting 1
    assert seen[1] == pytest.approx([2 * share, classes * (1 - share)])
