"""MAS: its importance against finite differences, the running average, and that no label enters."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from backbones.references import Parameters, parameters_of
from evergraph.backbones import BACKBONES, model_input
from evergraph.data.stream import learner_view
from evergraph.methods.mas import MAS, sensitivity
from evergraph.runs.build import make_learner
from helpers import CPU, learn_tasks, learned, quick_config, run_config, stream_of, tiny_graph

from .test_ewc import differences, plain_logits


@pytest.mark.parametrize("setting", ["class-il", "task-il"])
@pytest.mark.parametrize("backbone", list(BACKBONES))
def test_the_importance_is_the_slope_of_the_mean_squared_norm(backbone: str, setting: str) -> None:
    config = quick_config("mas", backbone, stream={"setting": setting})
    stream = stream_of(tiny_graph(), config)
    learner = learned(config, stream)
    view = learner_view(stream[1])
    found = sensitivity(learner.net, [model_input(view.graph, view.train, CPU)], len(view.train), 1)
    logits = plain_logits(config, view)
    columns = slice(0, 4) if setting == "class-il" else slice(2, 4)

    def mean_square(values: Parameters) -> torch.Tensor:
        return (logits(values)[:, columns] ** 2).sum() / len(view.train)

    slopes = differences(mean_square, parameters_of(learner.net.model))
    assert list(found) == list(slopes)
    for name, slope in slopes.items():
        assert torch.allclose(found[name].double(), slope.abs(), rtol=1e-3, atol=1e-5), name


def test_no_label_enters_the_importance() -> None:
    config = quick_config("mas")
    view = learner_view(stream_of(tiny_graph(), config)[0])
    blank = replace(view.graph, labels=np.full_like(view.graph.labels, -1))
    net = make_learner(config, 5).net
    net.grow(view)
    one, other = (
        sensitivity(net, [model_input(graph, view.train, CPU)], len(view.train), 0) for graph in (view.graph, blank)
    )
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_the_average_counts_nodes_and_the_centre_is_the_last_optimum() -> None:
    config = quick_config("mas")
    stream = stream_of(tiny_graph((6, 6, 15, 12)), config)
    learner = learn_tasks(make_learner(config, 5), config, stream, range(1))
    assert isinstance(learner, MAS)
    first = {name: value.clone() for name, value in learner.penalty.importance.items()}
    assert learner.penalty.value(learner.net.model).item() == 0
    learn_tasks(learner, config, stream, range(1, 2))
    assert learner.penalty.value(learner.net.model).item() == 0
    views = [learner_view(task) for task in stream]
    counts = [len(view.train) for view in views]
    second = sensitivity(learner.net, [model_input(views[1].graph, views[1].train, CPU)], len(views[1].train), 1)
    for name, value in learner.penalty.importance.items():
        expected = second[name] * counts[1]
        expected[tuple(slice(size) for size in first[name].shape)] += first[name] * counts[0]
        assert torch.allclose(value, expected / sum(counts), rtol=1e-5), name


def test_the_penalty_holds_what_earlier_tasks_depend_on() -> None:
    """The stronger it is, the less the sensitive parameters move while the second task is learned."""
    moved = []
    for weight in (0.0, 100.0, 10_000.0):
        config = run_config(method={"name": "mas", "weight": weight}, backbone={"hidden": 8}, train={"epochs": 30})
        stream = stream_of(tiny_graph(), config)
        learner = learn_tasks(make_learner(config, 5), config, stream, range(1))
        assert isinstance(learner, MAS)
        importance = learner.penalty.importance["first.weight"].clone()
        before = learner.net.model.state_dict()["first.weight"].clone()
        learn_tasks(learner, config, stream, range(1, 2))
        after = learner.net.model.state_dict()["first.weight"]
        moved.append(float((importance * (after - before).square()).sum()))
    assert moved[0] > 2 * moved[1] > 2 * moved[2] > 0
