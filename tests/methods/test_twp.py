"""TWP: both importances and the size of the gradient against dense autograd, written out."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from backbones.references import (
    REFERENCES,
    Parameters,
    attention_weights,
    built,
    dense_features,
    hears,
    parameters_of,
)
from evergraph.backbones import (
    BACKBONES,
    Backbone,
    CustomBackbone,
    MessageGraph,
    NodeFeatures,
    Norm,
    model_input,
)
from evergraph.backbones.layers import Head
from evergraph.config import Settings
from evergraph.data.stream import learner_view
from evergraph.methods import METHODS
from evergraph.methods.ewc import squared_gradient
from evergraph.methods.twp import TWP, attention_coefficients, topology_importance
from evergraph.runs.build import make_learner
from evergraph.training.loop import Batch, TrainConfig, train
from evergraph.training.net import Net
from helpers import CPU, learn_tasks, run_config, stream_of, tiny_graph


def free_attention(heard: Tensor, z: Tensor) -> Tensor:
    """softmax over the nodes j that i hears of LeakyReLU(z_iᵀ tanh(z_j)), 0 for all others."""
    raw = nn.functional.leaky_relu(z @ torch.tanh(z).T, 0.2)
    return torch.softmax(raw.masked_fill(heard == 0, -torch.inf), dim=1)


def plain_layers(name: str, p: Parameters, heard: Tensor, x: Tensor, config: Any) -> list[Tensor]:
    """The attention coefficients of each layer as dense matrices."""
    if name == "gat":
        width = config.hidden // config.heads
        z = x @ p["first.weight"]
        heads, parts = [], []
        for head in range(config.heads):
            own = z[:, head * width : (head + 1) * width]
            heads.append(
                attention_weights(heard, own @ p["attend_to"][head], own @ p["attend_from"][head], config.slope)
            )
            parts.append(heads[-1] @ own)
        z = nn.functional.elu(torch.cat(parts, dim=1) + p["first.bias"]) @ p["head.weight"]
        to, sent = (z @ p["head.attend_to"])[:, 0], (z @ p["head.attend_from"])[:, 0]
        return [*heads, attention_weights(heard, to, sent, config.slope)]
    first = free_attention(heard, x @ p["first.weight"])
    if name == "gin":
        inner = torch.relu(heard @ x @ p["first.weight"] + p["first.bias"])
        hidden = torch.relu(inner @ p["second.weight"] + p["second.bias"])
        return [first, free_attention(heard, hidden @ p["third.weight"])]
    operator = torch.diag(heard.sum(1) ** -0.5) @ heard @ torch.diag(heard.sum(0) ** -0.5)
    hidden = torch.relu(operator @ x @ p["first.weight"] + p["first.bias"])
    return [first, free_attention(heard, hidden @ p["head.weight"])]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse_features", [False, True])
@pytest.mark.parametrize("name", list(BACKBONES))
def test_the_topology_importance_is_that_of_dense_autograd(
    name: str, sparse_features: bool, directed: bool
) -> None:
    graph = tiny_graph(directed=directed, sparse_features=sparse_features)
    model, config = built(name, graph.n_features, 4)
    values, rows = parameters_of(model), np.array([0, 3, 4, 9, 17])
    inputs = model_input(graph, rows, CPU)
    heard = hears(graph)
    dense = plain_layers(name, values, heard, dense_features(graph), config)
    reach = [inputs.graph.frontier[1]] * (len(dense) - 1) + [rows]
    e = torch.cat([layer[torch.as_tensor(nodes)].flatten() for layer, nodes in zip(dense, reach, strict=True)])
    norm = (e**2).sum().sqrt()
    norm.backward()  # type: ignore[no-untyped-call]
    found = topology_importance(model, inputs)
    for key, value in values.items():
        slope = torch.zeros_like(value) if value.grad is None else value.grad
        assert torch.allclose(found[key].double().sqrt(), slope.abs(), rtol=1e-3, atol=1e-5), key
    ours = torch.cat([layer.flatten() for layer in attention_coefficients(model, inputs)])
    assert ours.norm().item() == pytest.approx(norm.item(), rel=1e-5)
    entries = inputs.graph.pattern(1).n_entries, inputs.graph.pattern(2).n_entries
    assert len(ours) == entries[0] * (len(dense) - 1) + entries[1]


@pytest.mark.parametrize("name", list(BACKBONES))
def test_the_loss_importance_and_the_size_of_the_gradient_are_those_of_dense_autograd(name: str) -> None:
    """One training step sees the gradient of L + β ‖∇L‖₁, the second term by differentiating L twice."""
    graph = tiny_graph()
    model, config = built(name, graph.n_features, 4)
    values, rows = parameters_of(model), np.array([0, 3, 4, 9, 17])
    labels, weights = torch.as_tensor(graph.labels[rows]), torch.linspace(0.2, 1, 5)
    batch = Batch(model_input(graph, rows, CPU), labels, weights)
    logits = REFERENCES[name](values, hears(graph), dense_features(graph), config)[torch.as_tensor(rows)]
    loss = weights.double() @ nn.functional.cross_entropy(logits, labels, reduction="none")
    slopes = torch.autograd.grad(loss, list(values.values()), create_graph=True)
    for key, slope in zip(values, slopes, strict=True):
        found = squared_gradient(model, [batch])[key]
        assert torch.allclose(found.double().sqrt(), slope.detach().abs(), rtol=1e-3, atol=1e-5), key
    beta = 0.3
    expected = loss + beta * sum((slope.abs().sum() for slope in slopes), torch.zeros(()))
    targets = torch.autograd.grad(expected, list(values.values()))
    seen: dict[str, Tensor] = {}
    told: list[float] = []

    def look() -> None:
        seen.update({key: value.grad.clone() for key, value in model.named_parameters()})

    train(
        model,
        [batch],
        TrainConfig(epochs=1),
        torch.Generator(),
        gradient_weight=beta,
        adjust=look,
        on_epoch=lambda _, value: told.append(value),
    )
    assert told == [pytest.approx(expected.item(), rel=1e-5)]
    for key, target in zip(values, targets, strict=True):
        assert torch.allclose(seen[key].double(), target, rtol=1e-3, atol=1e-4), key


@pytest.mark.parametrize("backbone", list(BACKBONES))
def test_the_two_importances_are_added_by_weight_and_the_penalty_is_zero_at_the_optimum(backbone: str) -> None:
    small: dict[str, Any] = {"name": backbone, "hidden": 8} | ({"heads": 2} if backbone == "gat" else {})
    config = run_config(method={"name": "twp", "loss_weight": 3.0, "topology_weight": 5.0}, backbone=small)
    stream = stream_of(tiny_graph(), config)
    learner = learn_tasks(make_learner(config, 5), config, stream, range(1))
    assert isinstance(learner, TWP)
    net = learner.net
    batch = net.task_batch(learner_view(stream[0]))
    loss, topology = squared_gradient(net.model, [batch]), topology_importance(net.model, batch.input)
    for name, value in learner.penalty.importance.items():
        assert torch.allclose(value, 3 * loss[name] + 5 * topology[name], rtol=1e-5), name
    assert learner.penalty.value(net.model).item() == 0
    net.grow(learner_view(stream[1]))
    assert learner.penalty.value(net.model).item() == 0


class Propagated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(-1, 1, 30).view(5, 6))

    def forward(self, x: Tensor, graph: MessageGraph) -> Tensor:
        return graph.operator(Norm.SUM, 1) @ torch.tanh(x @ self.weight)


def test_a_module_of_ones_own_is_judged_by_its_output() -> None:
    graph = tiny_graph()
    model = CustomBackbone(Propagated(), 6)
    model.head.grow(3, torch.Generator().manual_seed(0))
    inputs = model_input(graph, None, CPU)
    (found,) = attention_coefficients(model, inputs)
    heard, p = hears(graph), parameters_of(model)
    hidden = heard @ torch.tanh(dense_features(graph) @ p["module.weight"])
    expected = free_attention(heard, hidden @ p["head.weight"])
    assert found.norm().item() == pytest.approx(expected.norm().item(), rel=1e-5)
    assert topology_importance(model, inputs)["module.weight"].abs().max() > 0


class Plain(Backbone):
    """A backbone of which only `embed` is known: one step of propagation and a tanh."""

    def __init__(self, n_features: int, config: Settings, generator: torch.Generator):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_features, 6).uniform_(-1, 1, generator=generator))
        self.head = Head(6)

    def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
        first = graph.operator(Norm.SUM, 1) @ (x.tensor() @ self.weight)[graph.frontier[0]]
        return torch.tanh(first)[graph.own(2)]


def plain(n_features: int, n_classes: int) -> Plain:
    model = Plain(n_features, Settings(), torch.Generator().manual_seed(0))
    model.head.grow(n_classes, torch.Generator().manual_seed(1))
    return model


@pytest.mark.parametrize("directed", [False, True])
def test_any_other_backbone_is_judged_by_what_its_head_sees(directed: bool) -> None:
    graph = tiny_graph(directed=directed)
    model = plain(graph.n_features, 3)
    rows = np.array([0, 3, 4, 9, 17])
    inputs = model_input(graph, rows, CPU)
    values, heard = parameters_of(model), hears(graph)
    hidden = torch.tanh(heard @ dense_features(graph) @ values["weight"])
    norm = free_attention(heard, hidden @ values["head.weight"])[torch.as_tensor(rows)].norm()
    norm.backward()
    (found,) = attention_coefficients(model, inputs)
    assert len(found) == inputs.graph.pattern(2).n_entries
    assert found.norm().item() == pytest.approx(norm.item(), rel=1e-5)
    importance = topology_importance(model, inputs)
    for key in ("weight", "head.weight"):
        slope = values[key].grad
        assert slope is not None
        assert slope.abs().max() > 0
        assert torch.allclose(importance[key].double().sqrt(), slope.abs(), rtol=1e-3, atol=1e-5), key


def test_any_other_backbone_learns_a_stream_and_is_held_in_place() -> None:
    config = run_config(method={"name": "twp"})
    stream = stream_of(tiny_graph(), config)
    net = Net(lambda generator: Plain(5, Settings(), generator), config.stream.setting, config.train, 0)
    learner = METHODS["twp"].build(net, config.method)
    assert isinstance(learner, TWP)
    learn_tasks(learner, config, stream, range(2))
    assert learner.net.n_classes == 4
    assert all(value.isfinite().all() for value in learner.state().values())
    assert learner.penalty.importance["weight"].max() > 0
