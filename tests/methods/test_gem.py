"""GEM: the projection's optimality conditions, the past gradients, and what the memory holds."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch import Tensor

from evergraph.backbones import BACKBONES
from evergraph.backbones.layers import InputLinear
from evergraph.data.graph import Graph
from evergraph.data.stream import learner_view
from evergraph.errors import ConvergenceError
from evergraph.methods import gem
from evergraph.methods.gem import GEM, GradientProjection, multipliers, nonnegative_minimiser
from evergraph.runs.build import make_learner
from evergraph.testing.samples import COMING_BACK
from evergraph.training.loop import batch_loss
from helpers import learn_tasks, learned, run_config, stream_of, tiny_graph


def vectors(tasks: int, width: int, seed: int) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(seed)
    past = rng.standard_normal((tasks, width))
    if tasks > 2:
        past[1] = past[0]  # two tasks that want the same
    if tasks > 3:
        past[3] = 0  # one that has nothing to say
    return torch.as_tensor(rng.standard_normal(width)).float(), torch.as_tensor(past).float()


def projected(gradient: Tensor, past: Tensor, margin: float) -> Tensor:
    """g + Σ_s v_s g_s."""
    return gradient + multipliers(past @ gradient, past @ past.T, margin) @ past


@settings(max_examples=150)
@example(tasks=5, width=3, seed=48, margin=0.0)
@given(
    tasks=st.integers(1, 6), width=st.integers(1, 9), seed=st.integers(0, 999), margin=st.sampled_from([0.0, 0.5])
)
def test_the_projection_is_optimal(tasks: int, width: int, seed: int, margin: float) -> None:
    """v >= m, ⟨g̃, g_s⟩ >= 0, and no v_s above the margin where g_s does not bind: Karush, Kuhn and Tucker."""
    gradient, past = vectors(tasks, width, seed)
    assume((past @ gradient < 0).any())
    found = projected(gradient, past, margin)
    gram = (past.double() @ past.double().T).numpy()
    linear = (past.double() @ gradient.double()).numpy() + margin * gram.sum(axis=1)
    above = nonnegative_minimiser(gram, linear)
    slack = (past.double() @ found.double()).numpy()
    largest = max(above.max(), 1)  # of terms that cancel: the gradients have 32 bits
    size = (1 + np.abs(gram).max()) * largest
    assert (above >= 0).all()
    assert (slack >= -1e-5 * size).all()
    assert np.abs(above * slack).max() <= 1e-4 * size
    rebuilt = gradient.double() + torch.as_tensor(margin + above) @ past.double()
    assert torch.allclose(found.double(), rebuilt, atol=1e-4 * largest)


def test_without_a_margin_no_allowed_vector_is_closer() -> None:
    gradient, past = vectors(3, 5, 4)
    assert (past @ gradient < 0).any()
    found = projected(gradient, past, 0.0).double()
    distance = (found - gradient).norm()
    tried = torch.randn(20_000, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64) + found
    allowed = tried[(tried @ past.double().T >= 0).all(dim=1)]
    assert len(allowed) > 100
    assert ((allowed - gradient).norm(dim=1) >= distance - 1e-6).all()


def test_a_single_conflict_is_the_textbook_projection() -> None:
    gradient, past = torch.tensor([1.0, 1.0]), torch.tensor([[-2.0, 0.0]])
    assert torch.allclose(projected(gradient, past, 0.0), torch.tensor([0.0, 1.0]), atol=1e-6)
    assert torch.allclose(projected(gradient, past, 0.75), torch.tensor([-0.5, 1.0]), atol=1e-6)


@pytest.mark.parametrize("margin", [0.0, 0.5])
@pytest.mark.parametrize("size", [torch.inf, torch.nan])
def test_products_that_overflow_are_an_error_in_one_sentence(size: float, margin: float) -> None:
    with pytest.raises(ConvergenceError, match=r"lower train\.lr"):
        multipliers(torch.tensor([-1.0, 1.0]), torch.tensor([[1.0, 0.0], [0.0, size]]), margin)


def trained(backbone: str, setting: str, graph: Graph | None = None) -> GEM:
    small: dict[str, Any] = {"name": backbone, "hidden": 8}
    small |= {"heads": 2, "dropout": 0.0} if backbone == "gat" else {}
    config = run_config(method={"name": "gem"}, backbone=small, stream={"setting": setting})
    graph = tiny_graph((6,) * 6) if graph is None else graph
    stream = stream_of(graph, config)
    learner = learn_tasks(make_learner(config, graph.n_features), config, stream, range(2))
    assert isinstance(learner, GEM)
    learner.net.grow(learner_view(stream[2]))
    return learner


@pytest.mark.parametrize("setting", ["class-il", "task-il"])
@pytest.mark.parametrize("backbone", list(BACKBONES))
def test_a_models_gradient_is_replaced_by_its_projection(backbone: str, setting: str) -> None:
    learner = trained(backbone, setting)
    model, memories = learner.net.model, learner.memories()
    parameters = list(model.parameters())
    flat = [
        torch.cat([part.flatten() for part in torch.autograd.grad(batch_loss(model, batch), parameters)])
        for batch in memories
    ]
    assert len(flat) == 2
    against = -flat[0] + 0.1 * flat[1]
    position = 0
    for value in parameters:
        value.grad = against[position : position + value.numel()].view_as(value).clone()
        position += value.numel()
    projection = GradientProjection(model, memories, 0.5)
    projection()
    assert torch.allclose(projection.past, torch.stack(flat), rtol=1e-4, atol=1e-6)
    found = torch.cat([value.grad.flatten() for value in parameters if value.grad is not None])
    assert torch.allclose(found, projected(against, torch.stack(flat), 0.5), atol=1e-5)
    assert (torch.stack(flat) @ found >= -1e-5).all()


@pytest.mark.parametrize("setting", ["class-il", "task-il"])
@pytest.mark.parametrize("backbone", list(BACKBONES))
def test_rows_kept_apart_change_nothing(backbone: str, setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = tiny_graph((6,) * 6, share=0.05)
    words = sparse.random_array((graph.n_nodes, 60), density=0.03, rng=0, dtype=np.float32, format="csr")
    learner = trained(backbone, setting, replace(graph, features=words))
    model, memories = learner.net.model, learner.memories()
    parameters = list(model.parameters())
    total = torch.stack([batch_loss(model, batch) for batch in memories]).sum()
    against = [-part for part in torch.autograd.grad(total, parameters)]
    found = []
    for share in (0.0, 1.0):
        monkeypatch.setattr(gem, "KEEP_ROWS_BELOW", share)
        projection = GradientProjection(model, memories, 0.5)
        assert (projection.rows is None) is (share == 0)
        for value, part in zip(parameters, against, strict=True):
            value.grad = part.clone()
        projection()
        found.append([value.grad for value in parameters if value.grad is not None])
    assert not torch.allclose(against[0], found[0][0], atol=1e-3)
    for whole, apart in zip(*found, strict=True):
        assert torch.allclose(whole, apart, rtol=1e-4, atol=1e-5)
    assert isinstance(model.first, InputLinear)
    assert model.first.narrowed is None


def test_what_is_not_a_number_is_left_to_the_loop() -> None:
    learner = trained("gcn", "class-il")
    for value in learner.net.model.parameters():
        value.grad = torch.full_like(value, torch.nan)
    GradientProjection(learner.net.model, learner.memories(), 0.5)()
    for value in learner.net.model.parameters():
        assert value.grad is not None
        assert value.grad.isnan().all()


def test_a_models_gradient_that_conflicts_with_nothing_is_left_alone() -> None:
    learner = trained("gcn", "class-il")
    model, memories = learner.net.model, learner.memories()
    projection = GradientProjection(model, memories, 0.5)
    for value in model.parameters():
        value.grad = torch.zeros_like(value)
    projection()
    agreeing = torch.linalg.pinv(projection.past) @ torch.ones(2)
    parts = torch.split(agreeing, [value.numel() for value in model.parameters()])
    for value, part in zip(model.parameters(), parts, strict=True):
        value.grad = part.view_as(value).clone()
    projection()
    for value, part in zip(model.parameters(), parts, strict=True):
        assert value.grad is not None
        assert torch.equal(value.grad.flatten(), part)


def test_a_past_loss_can_be_taken_among_the_classes_known_then() -> None:
    config = run_config(method={"name": "gem", "past_classes": "known"}, backbone={"hidden": 8})
    stream = stream_of(tiny_graph((6,) * 6), config)
    learner = learn_tasks(make_learner(config, 5), config, stream, range(2))
    assert isinstance(learner, GEM)
    learner.net.grow(learner_view(stream[2]))
    first, second = learner.memories()
    for batch, known in ((first, 2), (second, 4)):
        logits = learner.net.model(*batch.input)[:, :known]
        losses = torch.nn.functional.cross_entropy(logits, batch.labels, reduction="none")
        assert batch_loss(learner.net.model, batch).item() == pytest.approx((batch.weights @ losses).item())


def test_the_memory_is_the_budget_of_each_class_with_the_edges_between() -> None:
    config = run_config(method={"name": "gem", "budget": 3}, backbone={"hidden": 8})
    graph = tiny_graph((12, 9, 3, 14), share=0.4)
    stream = stream_of(graph, config)
    learner = learned(config, stream)
    assert isinstance(learner, GEM)
    held = learner.buffer.graph
    assert held is not None
    assert np.bincount(held.labels).tolist() == [3, 3, min(3, len(stream.splits[2][0])), 3]
    assert held.n_edges > 0
    assert learner.memory().nodes == held.n_nodes
    tasks = [set(batch.labels.tolist()) for batch in learner.memories()]
    assert tasks == [{0, 1}, {2, 3}]


def test_a_tiny_gradient_counts_as_much_as_a_large_one() -> None:
    """Without the scaling to a unit diagonal, the smaller task would be lost in rounding."""
    gram, linear = np.diag([1.0, 1e-12]), np.array([-1.0, -1e-6])
    np.testing.assert_allclose(nonnegative_minimiser(gram, linear), [1.0, 1e6], rtol=1e-6)


def test_a_task_without_a_gradient_is_left_out() -> None:
    gram, linear = np.diag([1.0, 0.0]), np.array([-1.0, 0.0])
    np.testing.assert_array_equal(nonnegative_minimiser(gram, linear), [1.0, 0.0])


@pytest.mark.parametrize("past_classes", ["all", "known"])
def test_where_classes_come_back_there_is_one_memory_a_task(past_classes: str) -> None:
    """Of the nodes of a task that are still kept, among all classes or those known by the end of that task."""
    method = {"name": "gem", "budget": 4, "past_classes": past_classes}
    config = run_config(method=method, backbone={"hidden": 8}, stream=COMING_BACK["time"])
    stream = stream_of(tiny_graph((20, 12, 20, 12), seed=3), config)
    learner = learned(config, stream)
    assert isinstance(learner, GEM)
    held, ranks = learner.buffer.graph, learner.buffer.ranks
    assert held is not None
    assert ranks is not None
    memories = learner.memories()
    assert sorted(set(ranks.tasks.tolist())) == list(range(len(memories))) == [0, 1, 2]
    assert np.bincount(held.labels).tolist() == [4] * 4
    assert any(len(set(ranks.tasks[held.labels == label])) > 1 for label in range(4))
    for task, memory in enumerate(memories):
        assert memory.labels.tolist() == held.labels[ranks.tasks == task].tolist()
        if past_classes == "all":
            assert memory.allowed is None
        else:
            assert memory.allowed is not None
            assert memory.allowed.all(dim=0).tolist() == [k < stream.known(task) for k in range(4)]
