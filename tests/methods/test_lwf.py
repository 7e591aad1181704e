"""LwF: the distillation term against loops, where it vanishes, and that nothing is kept."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from evergraph.backbones import BACKBONES, model_input
from evergraph.data.stream import TaskView, learner_view
from evergraph.methods.lwf import LwF, LwFConfig, distillation
from evergraph.replay.usage import MemoryUsage
from evergraph.runs.build import make_learner
from evergraph.training.loop import Batch
from evergraph.training.net import Net
from evergraph.watch import Watch
from helpers import CPU, learn_tasks, quick_config, run_config, stream_of, tiny_graph


def test_the_term_is_the_mean_divergence_of_softened_outputs() -> None:
    rng = np.random.default_rng(0)
    said, logits = rng.standard_normal((5, 6)), rng.standard_normal((5, 8))
    groups = [[0, 1], [2, 3, 4], [5]]

    def softened(values: Any, group: list[int]) -> Any:
        powers = [math.exp(values[k] / 2) for k in group]
        return [power / sum(powers) for power in powers]

    expected = 0.0
    for row in range(5):
        for group in groups:
            pairs = zip(softened(said[row], group), softened(logits[row], group), strict=True)
            expected += sum(old * math.log(old / new) for old, new in pairs) / 5
    cost = distillation(torch.as_tensor(said), [torch.tensor(group) for group in groups], LwFConfig(weight=3))
    assert cost(torch.as_tensor(logits)).item() == pytest.approx(3 * expected, rel=1e-9)


def extras(learner: LwF, view: TaskView, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The extra cost with which a learner trains on a task."""
    seen: list[Any] = []
    fit = Net.fit

    def watching(self: Net, task: TaskView, batches: list[Batch], watch: Watch, **options: Any) -> Any:
        for batch in batches:
            cost = None if batch.extra is None else batch.extra(self.model(*batch.input))
            slopes = None if cost is None else torch.autograd.grad(cost, list(self.model.parameters()))
            seen.append((cost, slopes))
        return fit(self, task, batches, watch, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Net, "fit", watching)
        learner.learn(view, (), Watch())
    return seen


@pytest.mark.parametrize("setting", ["class-il", "task-il"])
@pytest.mark.parametrize("backbone", list(BACKBONES))
def test_the_term_vanishes_for_identical_models(
    backbone: str, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first step the model and its predecessor are the same on the old classes."""
    config = quick_config("lwf", backbone, stream={"setting": setting})
    stream = stream_of(tiny_graph((6,) * 6), config)
    learner = make_learner(config, 5)
    assert isinstance(learner, LwF)
    assert extras(learner, learner_view(stream[0]), monkeypatch) == [(None, None)]
    for index in (1, 2):
        ((cost, slopes),) = extras(learner, learner_view(stream[index]), monkeypatch)
        assert abs(cost.item()) < 1e-7
        assert all(slope.abs().max() < 1e-6 for slope in slopes)


def test_the_old_classes_compete_as_in_training() -> None:
    for setting, expected in (("class-il", [[0, 1, 2, 3]]), ("task-il", [[0, 1], [2, 3]])):
        config = quick_config("lwf", stream={"setting": setting})
        learner = make_learner(config, 5)
        assert isinstance(learner, LwF)
        assert learner.old_classes() == []
        learn_tasks(learner, config, stream_of(tiny_graph(), config), range(2))
        assert [group.tolist() for group in learner.old_classes()] == expected
        assert learner.memory() == MemoryUsage()


def drift(weight: float) -> float:
    """How far the outputs of the old classes move on the new nodes."""
    training = {"epochs": 40, "lr": 0.02}
    config = run_config(method={"name": "lwf", "weight": weight}, backbone={"hidden": 8}, train=training)
    stream = stream_of(tiny_graph(), config)
    learner = learn_tasks(make_learner(config, 5), config, stream, range(1))
    view = learner_view(stream[1])
    inputs = model_input(view.graph, view.train, CPU)
    before = torch.softmax(learner.net.logits(inputs), dim=1)
    learn_tasks(learner, config, stream, range(1, 2))
    return float((torch.softmax(learner.net.logits(inputs)[:, :2], dim=1) - before).abs().mean())


def test_distillation_keeps_the_old_outputs() -> None:
    assert drift(10) < 0.5 * drift(0)
