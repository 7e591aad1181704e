"""Gradient norms against automatic differentiation, one node at a time."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor, nn

from evergraph.backbones import BACKBONES, CustomBackbone, ModelInput, Norm, model_input
from evergraph.backbones.gcn import GCN
from evergraph.data.graph import Graph, make_graph
from evergraph.scores.grand import CLOSED_FORMS, absolute_gradients, grand_norms
from evergraph.training.loop import Batch, TrainConfig, give_generator, node_losses, train
from helpers import CPU, tiny_graph

TOLERANCE = 1e-4
NAMES = list(BACKBONES)
SMALL: dict[str, dict[str, Any]] = {"gcn": {"hidden": 12}, "gin": {"hidden": 12}, "gat": {"hidden": 12, "heads": 3}}


def one_by_one(model: nn.Module, inputs: ModelInput, labels: Tensor, allowed: Tensor | None = None) -> Tensor:
    """The norms as they are defined: one backward pass for each node."""
    parameters = list(model.parameters())
    losses = node_losses(model(*inputs), labels, allowed)
    norms = []
    for loss in losses:
        gradients = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
        norms.append(sum(float(g.double().square().sum()) for g in gradients if g is not None) ** 0.5)
    return torch.tensor(norms)


def assert_norms(model: nn.Module, inputs: ModelInput, labels: Tensor, allowed: Tensor | None = None) -> None:
    found = grand_norms(model, inputs, labels, allowed)
    wanted = one_by_one(model, inputs, labels, allowed)
    assert found.shape == wanted.shape
    assert found.dtype is torch.float32
    assert not found.requires_grad
    assert ((found - wanted).abs() <= TOLERANCE * wanted).all()


def built(
    name: str, n_features: int, n_classes: int, seed: int = 0, *, spread: bool = True, **settings: Any
) -> Any:
    """A backbone in evaluation mode, with random values in every parameter or (spread = False) as it is born."""
    generator = torch.Generator().manual_seed(seed)
    model: Any = BACKBONES[name].build(n_features, BACKBONES[name].config(**{**SMALL[name], **settings}), generator)
    model.head.grow(n_classes, generator)
    if spread:
        for value in model.parameters():
            value.data.uniform_(-0.5, 0.5, generator=generator)
    return model.eval()


def random_labels(count: int, n_classes: int, seed: int = 0) -> Tensor:
    return torch.as_tensor(np.random.default_rng(seed).integers(n_classes, size=count))


def case(name: str, graph: Graph, rows: NDArray[np.int64] | None = None, **settings: Any) -> tuple[Any, ...]:
    """A model with three classes, its input and labels at random."""
    inputs = model_input(graph, rows, CPU)
    return built(name, graph.n_features, 3, **settings), inputs, random_labels(len(inputs.graph.rows), 3)


def graph_of(pairs: list[tuple[int, int]], n_nodes: int, *, width: int = 6, density: float = 1.0) -> Graph:
    """An undirected graph with random features, sparse ones where the density is below 1."""
    rng = np.random.default_rng(3)
    features = rng.standard_normal((n_nodes, width)).astype(np.float32)
    kept = features * (rng.random((n_nodes, width)) < density)
    one, other = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    ends = (np.concatenate([one, other]), np.concatenate([other, one]))
    adjacency = sparse.csr_array((np.ones(2 * len(pairs), dtype=np.float32), ends), shape=(n_nodes, n_nodes))
    values = features if density == 1 else sparse.csr_array(kept)
    return make_graph(adjacency, values, np.arange(n_nodes) % 3, directed=False, name="drawn")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sparse_features", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_norms_are_those_of_autograd(name: str, sparse_features: bool, directed: bool, seed: int) -> None:
    graph = tiny_graph((12, 12, 12), seed=seed, sparse_features=sparse_features, directed=directed)
    model, inputs, labels = case(name, graph, seed=seed)
    assert_norms(model, inputs, labels)


@pytest.mark.parametrize("name", NAMES)
def test_every_backbone_has_a_closed_form(name: str) -> None:
    assert type(built(name, 4, 2)) in CLOSED_FORMS


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("density", [1.0, 0.02])
def test_rows_in_no_order(name: str, density: float) -> None:
    rng = np.random.default_rng(0)
    pairs = [(int(a), int(b)) for a, b in rng.integers(60, size=(90, 2)) if a != b]
    graph = graph_of(pairs, 60, width=200, density=density)
    model, inputs, labels = case(name, graph, np.array([50, 3, 17, 4, 59, 0]))
    assert (model.input_product(inputs.x).dense is None) == (density < 1)
    assert_norms(model, inputs, labels)


@pytest.mark.parametrize("bias", [True, False])
def test_sum_norm_of_a_gcn(bias: bool) -> None:
    assert_norms(*case("gcn", tiny_graph((15, 15, 15)), norm=Norm.SUM, bias=bias))


@pytest.mark.parametrize("name", NAMES)
def test_some_classes_allowed(name: str) -> None:
    graph = tiny_graph((12, 12, 12))
    inputs = model_input(graph, None, CPU)
    labels = random_labels(graph.n_nodes, 5)
    task = torch.tensor([0, 0, 1, 1, 1])
    assert_norms(built(name, graph.n_features, 5), inputs, labels, task[labels][:, None] == task)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wide", [False, True])
def test_a_hub_with_thousands_of_neighbours(name: str, wide: bool) -> None:
    leaves = 3000
    graph = graph_of([(0, leaf) for leaf in range(1, leaves + 1)], leaves + 1, width=40 if wide else 5)
    model, inputs, labels = case(name, graph, np.array([0, 1, 2, leaves]), hidden=24 if wide else 6)
    assert_norms(model, inputs, labels)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("density", [1.0, 0.05])
def test_a_graph_without_edges(name: str, density: float) -> None:
    assert_norms(*case(name, graph_of([], 7, width=50, density=density)))


@pytest.mark.parametrize("name", NAMES)
def test_a_single_class_has_no_gradient(name: str) -> None:
    graph = tiny_graph()
    labels = torch.zeros(graph.n_nodes, dtype=torch.int64)
    norms = grand_norms(built(name, graph.n_features, 1), model_input(graph, None, CPU), labels)
    assert torch.equal(norms, torch.zeros(graph.n_nodes))


@pytest.mark.parametrize("name", NAMES)
def test_no_rows(name: str) -> None:
    graph = tiny_graph()
    inputs = model_input(graph, np.empty(0, dtype=np.int64), CPU)
    assert grand_norms(built(name, graph.n_features, 3), inputs, random_labels(0, 3)).shape == (0,)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("epochs", [0, 40])
def test_at_birth_and_after_training(name: str, epochs: int) -> None:
    graph = tiny_graph((20, 20, 20), share=0.1)
    inputs = model_input(graph, None, CPU)
    labels = torch.as_tensor(np.asarray(graph.labels))
    model = built(name, graph.n_features, 3, spread=False)
    if epochs:
        batch = Batch(inputs, labels, torch.full((60,), 1 / 60))
        train(model, [batch], TrainConfig(epochs=epochs, lr=0.02), torch.Generator().manual_seed(0))
    assert_norms(model, inputs, labels)


@pytest.mark.parametrize("name", ["gcn", "gin"])
def test_dead_units(name: str) -> None:
    model, inputs, labels = case(name, tiny_graph((12, 12, 12)))
    model.first.bias.data[:6] = -100
    assert_norms(model, inputs, labels)
    model.first.bias.data[:] = -100
    assert_norms(model, inputs, labels)


@pytest.mark.parametrize("name", NAMES)
def test_a_node_learned_well_keeps_its_tiny_norm(name: str) -> None:
    model, inputs, labels = case(name, tiny_graph((12, 12, 12)))
    labels = torch.zeros_like(labels)
    model.head.weight.data /= 100
    model.head.bias.data[0] = 60
    wanted = one_by_one(model, inputs, labels)
    assert wanted.min() > 1e-30
    assert wanted.max() < 1e-22
    assert_norms(model, inputs, labels)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("density", [1.0, 0.05])
def test_little_memory_changes_nothing(name: str, density: float) -> None:
    rng = np.random.default_rng(0)
    pairs = [(int(a), int(b)) for a, b in rng.integers(40, size=(150, 2)) if a != b]
    model, inputs, labels = case(name, graph_of(pairs, 40, width=100, density=density))
    whole = grand_norms(model, inputs, labels)
    for memory in (1, 4096, 65536):
        assert torch.allclose(grand_norms(model, inputs, labels, memory=memory), whole, rtol=1e-5, atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_mode_and_gradients_stay_as_they_were(name: str) -> None:
    model, inputs, labels = case(name, tiny_graph())
    wanted = grand_norms(model, inputs, labels)
    give_generator(model, torch.Generator())
    model.train()
    model.first.eval()
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    with torch.no_grad():
        assert torch.equal(grand_norms(model, inputs, labels), wanted)
    assert model.training
    assert model.head.training
    assert not model.first.training
    assert all(torch.equal(parameter.grad, torch.ones_like(parameter)) for parameter in model.parameters())


class Dense(nn.Module):
    """A module of one's own out of operations that torch can batch, with a parameter that nothing depends on."""

    def __init__(self, n_features: int):
        super().__init__()
        self.inner = nn.Linear(n_features, 7)
        self.idle = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor, graph: Any) -> Tensor:
        source, target = graph.edge_index
        hidden = torch.tanh(self.inner(x))
        return hidden + torch.zeros_like(hidden).index_add(0, target, hidden[source])


class Sparse(Dense):
    """The same with a product whose backward pass torch cannot batch."""

    def forward(self, x: Tensor, graph: Any) -> Tensor:
        return torch.as_tensor(graph.operator(Norm.SUM, 2) @ torch.relu(self.inner(x)))


@pytest.mark.parametrize("module", [Dense, Sparse])
@pytest.mark.parametrize("memory", [1, 5000, 256 << 20])
def test_any_other_module_takes_backward_passes(module: type[Dense], memory: int) -> None:
    graph = tiny_graph()
    torch.manual_seed(0)
    model = CustomBackbone(module(graph.n_features), 7)
    model.head.grow(3, torch.Generator().manual_seed(0))
    inputs, labels = model_input(graph, None, CPU), random_labels(graph.n_nodes, 3)
    with torch.no_grad():
        found = grand_norms(model, inputs, labels, memory=memory)
    assert torch.allclose(found, one_by_one(model, inputs, labels), rtol=TOLERANCE, atol=0)
    assert not found.requires_grad


def test_backward_passes_are_reported_once_for_each_class(caplog: pytest.LogCaptureFixture) -> None:
    class One(CustomBackbone):
        pass

    class Other(CustomBackbone):
        pass

    graph = tiny_graph()
    inputs, labels = model_input(graph, None, CPU), random_labels(graph.n_nodes, 3)
    for kind in (One, Other, One, One):
        model = kind(Dense(graph.n_features), 7)
        model.head.grow(3, torch.Generator().manual_seed(0))
        grand_norms(model, inputs, labels)
    grand_norms(*case("gcn", graph))
    assert [(record.name, record.levelname) for record in caplog.records] == [
        ("evergraph.scores.grand", "WARNING")
    ] * 2
    assert [record.getMessage() for record in caplog.records] == [
        f"{name} has no closed form for gradient norms; backward passes give the same, slower"
        for name in ("One", "Other")
    ]


def test_chunks_of_backward_passes_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node takes what is kept for its backward pass, and its gradients; where three fit, three go at a time."""
    graph = tiny_graph()
    model = CustomBackbone(Dense(graph.n_features), 7)
    model.head.grow(3, torch.Generator().manual_seed(0))
    inputs, labels = model_input(graph, None, CPU), random_labels(graph.n_nodes, 3)
    kept: list[Tensor] = []

    def keep(tensor: Tensor) -> int:
        kept.append(tensor)
        return len(kept) - 1

    with torch.autograd.graph.saved_tensors_hooks(keep, kept.__getitem__):
        node_losses(model(*inputs), labels, None)
    node = sum(tensor.nbytes for tensor in kept) + sum(parameter.nbytes for parameter in model.parameters())
    sizes: list[int] = []
    differentiate = torch.autograd.grad

    def watching(outputs: Tensor, parameters: Any, grad_outputs: Tensor | None = None, **options: Any) -> Any:
        sizes.append(1 if grad_outputs is None else len(grad_outputs))
        return differentiate(outputs, parameters, grad_outputs, **options)

    wanted = one_by_one(model, inputs, labels)
    monkeypatch.setattr(torch.autograd, "grad", watching)
    for memory, size in ((3 * node, 3), (3 * node - 1, 2), (1, 1), (100 * node, graph.n_nodes)):
        sizes.clear()
        assert torch.allclose(grand_norms(model, inputs, labels, memory=memory), wanted, rtol=TOLERANCE, atol=0)
        assert sizes == [size] * (graph.n_nodes // size)


class _Broken(torch.autograd.Function):
    calls = 0

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        _Broken.calls += 1
        assert _Broken.calls < 5, "asked again and again"
        raise RuntimeError("no way back")


def test_a_module_without_gradients_says_so() -> None:
    class Stuck(Dense):
        def forward(self, x: Tensor, graph: Any) -> Tensor:
            hidden: Tensor = _Broken.apply(self.inner(x))  # type: ignore[no-untyped-call]
            return hidden

    graph = tiny_graph()
    model = CustomBackbone(Stuck(graph.n_features), 7)
    model.head.grow(3, torch.Generator().manual_seed(0))
    with pytest.raises(RuntimeError, match="no way back"):
        grand_norms(model, model_input(graph, None, CPU), random_labels(graph.n_nodes, 3))


def test_a_derived_class_is_another_module() -> None:
    class Scaled(GCN):
        def forward(self, x: Any, graph: Any) -> Tensor:
            return 3 * super().forward(x, graph)

    model, inputs, labels = case("gcn", tiny_graph())
    model.__class__ = Scaled
    assert_norms(model, inputs, labels)


@pytest.mark.parametrize("memory", [1, 1 << 12, 256 << 20])
@pytest.mark.parametrize("sparse_features", [False, True])
@pytest.mark.parametrize(
    ("name", "settings"),
    [("gcn", {}), ("gcn", {"norm": "sum", "bias": False}), ("gcn", {"hidden": 40}), ("gat", {}), ("gin", {})],
)
def test_absolute_gradients_are_the_sums_of_one_backward_pass_a_node(
    name: str, settings: dict[str, Any], sparse_features: bool, memory: int
) -> None:
    graph = tiny_graph((9, 9, 9), share=0.3, sparse_features=sparse_features)
    model, inputs, labels = case(name, graph, np.arange(1, 27, 2), **settings)
    found = absolute_gradients(model, inputs, labels, memory=memory)
    losses = node_losses(model(*inputs), labels, None)
    parameters = list(model.parameters())
    wanted = [
        sum(float(g.double().abs().sum()) for g in torch.autograd.grad(loss, parameters, retain_graph=True))
        for loss in losses
    ]
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-4)
