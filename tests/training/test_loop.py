"""The optimiser loop against plain torch, its losses against loops, and where its randomness comes from."""

import math
from typing import Any, cast

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from torch import Tensor, nn

from backbones.references import REFERENCES, built, dense_features, hears, parameters_of
from evergraph.backbones import BACKBONES, ModelInput, model_input
from evergraph.data.graph import Graph, make_graph
from evergraph.errors import ConvergenceError
from evergraph.training.loop import Batch, TrainConfig, batch_loss, node_losses, train, zero_tiny_gradients
from helpers import CPU, assert_same_bits, tiny_graph

CONFIG = TrainConfig(epochs=8, lr=0.02, threads=1)


def batch_of(graph: Graph, rows: Any, weights: Tensor | None = None) -> Batch:
    rows = np.asarray(rows)
    labels = torch.as_tensor(graph.labels[rows])
    return Batch(model_input(graph, rows, CPU), labels, torch.ones(len(rows)) if weights is None else weights)


def wide_graph() -> Graph:
    """Sparse features of which most occur nowhere, and some only on other nodes than those trained on."""
    graph = tiny_graph((6, 6, 6), share=0.1, width=6)
    wide = np.zeros((graph.n_nodes, 120), dtype=np.float32)
    assert isinstance(graph.features, np.ndarray)
    wide[:, ::20] = graph.features
    return make_graph(graph.adjacency, sparse.csr_array(wide), graph.labels)


@pytest.mark.parametrize("weight_decay", [0.0, 0.05])
@pytest.mark.parametrize("name", list(BACKBONES))
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_training_is_adam_on_the_dense_reference(name: str, kind: str, weight_decay: float) -> None:
    graph = wide_graph() if kind == "sparse" else tiny_graph((6, 6, 6), share=0.1)
    config = CONFIG.model_copy(update={"weight_decay": weight_decay})
    model, settings_ = built(name, graph.n_features, 3)
    rows = np.array([1, 5, 2, 9, 12, 16])
    weights = torch.linspace(0.1, 1, len(rows))
    values = parameters_of(model)
    seen: list[float] = []
    train(
        model,
        [batch_of(graph, rows, weights)],
        config,
        torch.Generator(),
        on_epoch=lambda _, loss: seen.append(loss),
    )
    optimiser = torch.optim.Adam(list(values.values()), lr=config.lr, weight_decay=weight_decay)
    expected, gradients = [], []
    for _ in range(config.epochs):
        optimiser.zero_grad(set_to_none=True)
        logits = REFERENCES[name](values, hears(graph), dense_features(graph), settings_)[torch.as_tensor(rows)]
        losses = nn.functional.cross_entropy(logits, torch.as_tensor(graph.labels[rows]), reduction="none")
        loss = (weights.double() * losses).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        gradients.append({key: value.grad.abs() for key, value in values.items() if value.grad is not None})
        optimiser.step()
        expected.append(loss.item())
    assert seen == pytest.approx(expected, rel=1e-3, abs=1e-4)
    for key, value in model.named_parameters():
        # where a gradient is 0 but for rounding, the sign of Adam's step means nothing
        sizes = torch.stack([gradient[key] for gradient in gradients])
        sure = (sizes == 0).all(dim=0) | (sizes > 1e-5).all(dim=0)
        assert torch.allclose(value.detach().double()[sure], values[key].detach()[sure], rtol=1e-2, atol=2e-3), key
        assert sure.float().mean() > 0.5 or key == "head.attend_to", key


@settings(max_examples=30)
@given(data=st.data(), rows=st.integers(1, 5), classes=st.integers(2, 5), masked=st.booleans())
def test_a_nodes_loss_is_the_cross_entropy_over_the_classes_it_competes_with(
    data: st.DataObject, rows: int, classes: int, masked: bool
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    logits, labels = rng.standard_normal((rows, classes)), rng.integers(0, classes, rows)
    allowed = rng.random((rows, classes)) < 0.5 if masked else np.ones((rows, classes), dtype=bool)
    allowed[np.arange(rows), labels] = True
    found = node_losses(
        torch.as_tensor(logits), torch.as_tensor(labels), torch.as_tensor(allowed) if masked else None
    )
    for row in range(rows):
        others = sum(math.exp(logits[row, k]) for k in range(classes) if allowed[row, k])
        assert float(found[row]) == pytest.approx(math.log(others) - logits[row, labels[row]])


def test_a_batch_adds_up_its_nodes_by_weight() -> None:
    graph = tiny_graph()
    model, _ = built("gcn", graph.n_features, 4)
    weights = torch.tensor([2.0, 0.0, 0.5])
    batch = batch_of(graph, [4, 7, 9], weights)
    single = node_losses(model(*batch.input), batch.labels, None)
    assert batch_loss(model, batch).item() == pytest.approx((single * weights).sum().item(), rel=1e-5)


def trained(name: str, global_seed: int, generator_seed: int = 0, **options: Any) -> dict[str, Tensor]:
    graph = tiny_graph(share=0.2)
    dropout: dict[str, Any] = {"dropout": 0.5} if name == "gat" else {}
    model, _ = built(name, graph.n_features, 4, **dropout)
    torch.manual_seed(global_seed)
    np.random.seed(global_seed)  # noqa: NPY002
    generator = torch.Generator().manual_seed(generator_seed)
    train(model, [batch_of(graph, np.arange(12))], CONFIG, generator, **options)
    return dict(model.state_dict())


@pytest.mark.parametrize("name", list(BACKBONES))
def test_the_same_generator_gives_the_same_bits_whatever_the_global_state(name: str) -> None:
    assert_same_bits(trained(name, 1), trained(name, 2))


def test_training_leaves_the_global_random_state_alone() -> None:
    graph = tiny_graph()
    model, _ = built("gat", graph.n_features, 4, dropout=0.5)
    before = torch.random.get_rng_state()
    train(model, [batch_of(graph, np.arange(12))], CONFIG, torch.Generator())
    assert torch.equal(torch.random.get_rng_state(), before)


def test_dropout_uses_the_generator_of_the_loop() -> None:
    one, other = trained("gat", 0, 0), trained("gat", 0, 1)
    assert not torch.equal(one["first.weight"], other["first.weight"])


def test_the_loss_goes_down_and_every_epoch_is_told() -> None:
    told: list[tuple[int, float]] = []
    trained("gcn", 0, on_epoch=lambda epoch, loss: told.append((epoch, loss)))
    assert [epoch for epoch, _ in told] == list(range(1, 9))
    assert told[-1][1] < told[0][1]


def test_the_model_is_left_in_evaluation_mode() -> None:
    graph = tiny_graph()
    model, _ = built("gat", graph.n_features, 4, dropout=0.5)
    train(model, [batch_of(graph, np.arange(4))], CONFIG, torch.Generator())
    assert not model.training


@pytest.mark.parametrize("name", list(BACKBONES))
def test_a_loss_that_is_not_finite_stops_with_one_sentence(name: str) -> None:
    graph = tiny_graph()
    model, _ = built(name, graph.n_features, 4)
    with torch.no_grad():
        model.head.bias.fill_(math.nan)
    with pytest.raises(ConvergenceError, match="the loss must stay finite, got nan in epoch 1") as caught:
        train(model, [batch_of(graph, np.arange(4))], CONFIG, torch.Generator())
    assert "\n" not in str(caught.value)
    assert "train.lr" in str(caught.value)


def test_a_penalty_is_added_to_the_loss() -> None:
    graph = tiny_graph()
    model, _ = built("gcn", graph.n_features, 4)
    told: list[float] = []
    options: dict[str, Any] = {"on_epoch": lambda _, loss: told.append(loss)}
    one_epoch = TrainConfig(epochs=1)
    batch = batch_of(graph, np.arange(4))
    alone = batch_loss(model, batch).item()
    train(model, [batch], one_epoch, torch.Generator(), penalty=lambda: 3 + 0 * model.head.bias.sum(), **options)
    assert told == [pytest.approx(alone + 3, rel=1e-5)]


def test_gradients_may_be_adjusted_before_each_step() -> None:
    graph = tiny_graph()
    model, _ = built("gcn", graph.n_features, 4)
    before = {name: value.detach().clone() for name, value in model.named_parameters()}

    def erase() -> None:
        for value in model.parameters():
            assert value.grad is not None
            value.grad.zero_()

    config = TrainConfig(epochs=3, weight_decay=0)
    train(model, [batch_of(graph, np.arange(4))], config, torch.Generator(), adjust=erase)
    for name, value in model.named_parameters():
        assert torch.equal(value, before[name]), name


def test_several_batches_are_one_sum() -> None:
    """Two batches at once take the same steps as one batch with the nodes of both."""
    graph = tiny_graph()
    states = []
    for parts in ([range(12)], [range(5), range(5, 12)]):
        model, _ = built("gcn", graph.n_features, 4)
        train(model, [batch_of(graph, np.array(part)) for part in parts], CONFIG, torch.Generator())
        states.append(model.state_dict())
    for name, value in states[0].items():
        assert torch.allclose(value, states[1][name], atol=1e-3), name


@pytest.mark.parametrize(
    "values", [{"epochs": 0}, {"epochs": -3}, {"lr": 0}, {"lr": -1}, {"weight_decay": -1}, {"threads": -1}]
)
def test_settings_that_cannot_work_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(values))):
        TrainConfig(**values)


def test_the_defaults_are_the_papers() -> None:
    config = TrainConfig()
    assert (config.epochs, config.lr, config.weight_decay, config.device) == (200, 0.005, 5e-4, "cpu")


def test_derivatives_too_small_to_move_a_weight_are_zero() -> None:
    gradient = torch.tensor([1e-19, -1e-19, 1e-21, -1e-40, 0.0, 1.0])
    assert torch.equal(zero_tiny_gradients(gradient), torch.tensor([1e-19, -1e-19, 0.0, 0.0, 0.0, 1.0]))


def test_a_node_without_doubt_leaves_no_gradient_below_the_normal_numbers() -> None:
    logits = torch.tensor([[88.0, 0.0], [0.3, 0.0]], requires_grad=True)
    batch = Batch(cast(ModelInput, (logits,)), torch.tensor([0, 0]), torch.tensor([1e-3, 1e-3]))
    batch_loss(nn.Identity(), batch).backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    plain = (torch.softmax(logits.detach().double(), dim=1) - torch.tensor([1.0, 0.0])) * 1e-3
    assert 0 < plain[0].abs().max() < torch.finfo(torch.float32).tiny
    assert logits.grad[0].abs().max() == 0
    assert torch.allclose(logits.grad[1].double(), plain[1])
