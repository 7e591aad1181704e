"""EWC: its importance against finite differences, its penalty against the sum over tasks written out."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from backbones.references import REFERENCES, Parameters, dense_features, hears, parameters_of
from evergraph.backbones import BACKBONES
from evergraph.data.stream import Setting, TaskView, learner_view
from evergraph.methods.ewc import EWC, squared_gradient
from evergraph.methods.importance import QuadraticPenalty
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.training.loop import node_losses
from helpers import CPU, learn_tasks, learned, quick_config, run_config, stream_of, tiny_graph


def differences(function: Callable[[Parameters], Tensor], at: Parameters, step: float = 1e-6) -> Parameters:
    """The derivative in every single parameter by central differences, in float64."""
    at = {name: value.detach() for name, value in at.items()}
    result = {}
    for name, value in at.items():
        slopes = torch.empty(value.numel(), dtype=torch.float64)
        for k in range(value.numel()):
            ends = []
            for sign in (1, -1):
                moved = value.clone()
                moved.view(-1)[k] += sign * step
                ends.append(float(function({**at, name: moved})))
            slopes[k] = (ends[0] - ends[1]) / (2 * step)
        result[name] = slopes.view_as(value)
    return result


def plain_logits(config: RunConfig, view: TaskView) -> Callable[[Parameters], Tensor]:
    """The outputs of a task's training nodes as a function of the parameters, dense and in float64."""
    heard, x, rows = hears(view.graph), dense_features(view.graph), torch.as_tensor(view.train)
    return lambda values: REFERENCES[config.backbone_name](values, heard, x, config.backbone)[rows]


def plain_loss(config: RunConfig, view: TaskView) -> Callable[[Parameters], Tensor]:
    """A task's training loss, every class counting alike, as a function of the parameters."""
    labels = torch.as_tensor(view.train_labels)
    weights = 1 / torch.bincount(labels)[labels].double()
    logits = plain_logits(config, view)

    def loss(values: Parameters) -> Tensor:
        outputs = logits(values)
        allowed = None
        if config.stream.setting is Setting.TASK_IL:
            allowed = torch.zeros(outputs.shape, dtype=torch.bool)
            allowed[:, list(view.classes)] = True
        return weights @ node_losses(outputs, labels, allowed)

    return loss


@pytest.mark.parametrize("setting", ["class-il", "task-il"])
@pytest.mark.parametrize("backbone", list(BACKBONES))
def test_the_importance_is_the_squared_slope_of_the_loss(backbone: str, setting: str) -> None:
    config = quick_config("ewc", backbone, stream={"setting": setting})
    stream = stream_of(tiny_graph(), config)
    learner = learned(config, stream)
    assert isinstance(learner, EWC)
    view = learner_view(stream[1])
    model = learner.net.model
    found = squared_gradient(model, [learner.net.task_batch(view)])
    slopes = differences(plain_loss(config, view), parameters_of(model))
    assert list(found) == list(slopes)
    for name, slope in slopes.items():
        assert torch.allclose(found[name].double().sqrt(), slope.abs(), rtol=1e-3, atol=1e-5), name


@pytest.mark.parametrize("backbone", list(BACKBONES))
def test_the_penalty_is_zero_at_the_optimum_and_rises_by_importance(backbone: str) -> None:
    config = quick_config("ewc", backbone)
    stream = stream_of(tiny_graph(), config)
    learner = learn_tasks(make_learner(config, 5), config, stream, range(1))
    assert isinstance(learner, EWC)
    net, penalty = learner.net, learner.penalty
    assert penalty.value(net.model).item() == 0
    recorded = {name: value.detach().clone() for name, value in net.model.named_parameters()}
    net.grow(learner_view(stream[1]))
    assert penalty.value(net.model).item() == 0
    with torch.no_grad():
        for value in net.model.parameters():
            value.add_(torch.randn(value.shape, generator=torch.Generator().manual_seed(0)))
    named = dict(net.model.named_parameters())
    term = penalty.term(net.model, 3.0)
    assert term is not None
    slopes = dict(zip(named, torch.autograd.grad(term(), list(named.values())), strict=True))
    for name, optimum in recorded.items():
        old = tuple(slice(size) for size in optimum.shape)
        expected = torch.zeros_like(named[name])
        expected[old] = 2 * 3.0 * penalty.importance[name] * (named[name].detach()[old] - optimum)
        assert torch.allclose(slopes[name], expected, rtol=1e-5), name


class Growing(nn.Module):
    """Two parameters, of which one gets columns."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Parameter(torch.zeros(3, 4))
        self.head = nn.Parameter(torch.zeros(4, 0))

    def grow(self, columns: int) -> None:
        self.head = nn.Parameter(torch.cat([self.head.detach(), torch.zeros(4, columns)], dim=1))


def test_one_quadratic_is_the_sum_over_tasks() -> None:
    generator = torch.Generator().manual_seed(0)
    model, penalty = Growing(), QuadraticPenalty(CPU)
    assert penalty.term(model, 1.0) is None
    past: list[tuple[dict[str, Tensor], dict[str, Tensor]]] = []
    for columns in (2, 1, 0, 3):
        model.grow(columns)
        with torch.no_grad():
            for value in model.parameters():
                value.copy_(torch.randn(value.shape, generator=generator))
        importance = {
            name: torch.rand(value.shape, generator=generator) for name, value in model.named_parameters()
        }
        importance["body"][0] = 0  # what no task needs
        importance["body"][1, columns] = 0  # what not every task needs
        past.append((importance, {name: value.detach().clone() for name, value in model.named_parameters()}))
        penalty.add(importance, model)
    with torch.no_grad():
        for value in model.parameters():
            value.copy_(torch.randn(value.shape, generator=generator))
    named = dict(model.named_parameters())
    expected = torch.zeros((), dtype=torch.float64)
    for importance, optimum in past:
        for name, omega in importance.items():
            old = tuple(slice(size) for size in omega.shape)
            expected = expected + (omega.double() * (named[name][old].double() - optimum[name].double()) ** 2).sum()
    found = penalty.value(model)
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
    for one, other in zip(
        torch.autograd.grad(found, list(named.values())),
        torch.autograd.grad(expected, list(named.values())),
        strict=True,
    ):
        assert torch.allclose(one, other.to(one.dtype), rtol=1e-4, atol=1e-5)


def test_two_numbers_are_kept_for_each_parameter_whatever_the_number_of_tasks() -> None:
    config = quick_config("ewc", stream={"classes_per_task": 1})
    stream = stream_of(tiny_graph((6,) * 5), config)
    learner = make_learner(config, 5)
    for index in range(5):
        learn_tasks(learner, config, stream, range(index, index + 1))
        parameters = sum(value.numel() for value in learner.net.model.parameters())
        kept = learner.memory()
        assert (kept.parameters, kept.bytes) == (2 * parameters, 2 * parameters * 4 + 4)
        assert (kept.nodes, kept.edges, kept.floats) == (0, 0, 0)


def moved(weight: float) -> float:
    """How far the second task moves the parameters of the first, by the first task's importance."""
    training = {"epochs": 30, "lr": 0.02, "weight_decay": 0.0}
    config = run_config(method={"name": "ewc", "weight": weight}, backbone={"hidden": 8}, train=training)
    stream = stream_of(tiny_graph(), config)
    learner = learn_tasks(make_learner(config, 5), config, stream, range(1))
    assert isinstance(learner, EWC)
    importance = {name: value.clone() for name, value in learner.penalty.importance.items()}
    centre = {name: value.clone() for name, value in learner.penalty.centre.items()}
    learn_tasks(learner, config, stream, range(1, 2))
    now = {name: value.detach() for name, value in learner.net.model.named_parameters()}
    old = {name: tuple(slice(size) for size in value.shape) for name, value in centre.items()}
    return sum(float((importance[name] * (now[name][old[name]] - centre[name]) ** 2).sum()) for name in centre)


def test_what_matters_is_held() -> None:
    assert moved(1e4) < 0.1 * moved(0)


def test_a_penalty_without_a_past_is_nothing() -> None:
    penalty = QuadraticPenalty(CPU)
    penalty.load_state({})
    assert penalty.state() == {}
    assert penalty.constant == 0
    assert penalty.term(nn.Linear(2, 2), 1.0) is None
