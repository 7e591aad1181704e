"""Net: class weights, competition between classes, growth, restart, and states."""

import numpy as np
import pytest
import torch

from evergraph.backbones import BACKBONES, model_input
from evergraph.data.stream import TaskStream, TaskView, learner_view
from evergraph.errors import StoreError
from evergraph.methods import METHODS
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.testing.samples import COMING_BACK
from evergraph.training.loop import Batch, batch_loss
from evergraph.training.net import Net, Part
from evergraph.watch import Watch
from helpers import (
    CPU,
    assert_same_bits,
    copied,
    learned,
    one_sentence,
    quick_config,
    run_config,
    stream_of,
    tiny_graph,
)


def net_of(config: RunConfig, n_features: int = 5) -> Net:
    return make_learner(config, n_features).net


@pytest.fixture(params=["class-il", "task-il"])
def config(request: pytest.FixtureRequest) -> RunConfig:
    return quick_config("finetune", stream={"setting": request.param})


@pytest.fixture
def stream(config: RunConfig) -> TaskStream:
    return stream_of(tiny_graph((5, 20, 9, 14)), config)


def test_every_class_counts_alike(config: RunConfig, stream: TaskStream) -> None:
    net = net_of(config)
    for task in stream:
        view = learner_view(task)
        net.grow(view)
        batch = net.task_batch(view)
        assert torch.equal(batch.labels, torch.as_tensor(task.graph.labels[task.train]))
        for label in task.classes:
            own = batch.weights[batch.labels == label]
            assert len(own) == len(stream.splits[label][0])
            assert torch.allclose(own, torch.tensor(1 / len(own)))


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("losses", ["sum", "mean"])
@pytest.mark.parametrize("setting", ["class-il", "task-il"])
def test_tasks_in_one_graph_are_one_batch_with_the_same_loss(setting: str, losses: str, between: bool) -> None:
    config = quick_config(
        "finetune",
        stream={"setting": setting, "inter_task_edges": between, "remainder": "keep"},
        train={"class_losses": losses},
    )
    stream, net = stream_of(tiny_graph((5, 20, 9, 14, 8)), config), net_of(config)
    views = stream.views(2, with_past=True)
    for view in views:
        net.grow(view)
    batches = net.batches([Part.of(view) for view in views])
    assert len(batches) == (1 if between else 3)
    one_by_one = sum(batch_loss(net.model, net.task_batch(view)) for view in views)
    assert torch.allclose(sum(batch_loss(net.model, batch) for batch in batches), one_by_one, rtol=1e-5)  # type: ignore[arg-type]


@pytest.mark.parametrize("between", [False, True])
def test_a_class_that_comes_back_counts_as_much_as_any_other(
    between: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = quick_config("joint", stream={**COMING_BACK["blurry"], "inter_task_edges": between})
    stream, learner = stream_of(tiny_graph((5, 20, 9, 14)), config), make_learner(config, 5)
    *past, task = stream.views(1, with_past=True)
    weights = np.zeros(4)

    def fit(task: TaskView, batches: list[Batch], watch: Watch) -> None:
        for batch in batches:
            weights[:] += np.bincount(batch.labels.numpy(), batch.weights.numpy(), minlength=4)

    monkeypatch.setattr(learner.net, "fit", fit)
    learner.learn(task, past, Watch())
    assert weights == pytest.approx(np.ones(4), abs=1e-6)


def test_a_scale_multiplies_every_weight(config: RunConfig, stream: TaskStream) -> None:
    net, view = net_of(config), learner_view(stream[0])
    net.grow(view)
    plain = net.batch(view.graph, view.train, view.train_labels)
    half = net.batch(view.graph, view.train, view.train_labels, scale=0.5)
    assert torch.allclose(half.weights, plain.weights / 2)


def test_losses_of_classes_are_summed_or_averaged(stream: TaskStream) -> None:
    """Averaged they are torch's weighted cross-entropy, whose weights are made to add up to one."""
    view = learner_view(stream[0])
    for way, total in (("sum", 2.0), ("mean", 1.0)):
        net = net_of(quick_config("finetune", train={"class_losses": way}))
        net.grow(view)
        batch = net.task_batch(view)
        assert batch.weights.sum().item() == pytest.approx(total)
        logits = net.model(*batch.input)
        of_class = 1 / torch.bincount(batch.labels)
        averaged = torch.nn.functional.cross_entropy(logits, batch.labels, weight=of_class)
        assert batch_loss(net.model, batch).item() == pytest.approx(total * averaged.item(), rel=1e-5)


def test_a_node_competes_with_its_own_task_only_where_the_task_is_known(
    config: RunConfig, stream: TaskStream
) -> None:
    net = net_of(config)
    for task in stream:
        net.grow(learner_view(task))
    allowed = net.allowed(torch.tensor([0, 3, 1]))
    if config.stream.setting.value == "class-il":
        assert allowed is None
    else:
        assert allowed is not None
        assert allowed.tolist() == [
            [True, True, False, False],
            [False, False, True, True],
            [True, True, False, False],
        ]


def test_in_task_il_a_task_does_not_touch_the_outputs_of_others() -> None:
    """No gradient reaches the columns of another task's classes; without weight decay they stay as they were."""
    config = quick_config("finetune", stream={"setting": "task-il"}, train={"weight_decay": 0.0, "epochs": 3})
    stream = stream_of(tiny_graph(), config)
    learner = make_learner(config, 5)
    learner.learn(learner_view(stream[0]), [], Watch())
    before = learner.state()["model.head.weight"][:, :2].clone()
    learner.learn(learner_view(stream[1]), [], Watch())
    assert torch.equal(learner.state()["model.head.weight"][:, :2], before)


def test_the_head_grows_with_the_tasks(config: RunConfig, stream: TaskStream) -> None:
    net = net_of(config)
    assert net.n_classes == 0
    for index, task in enumerate(stream):
        net.grow(learner_view(task))
        assert net.n_classes == 2 * (index + 1)
        logits = net.logits(model_input(task.graph, task.test, CPU))
        assert logits.shape == (len(task.test), net.n_classes)
        assert not logits.requires_grad
    assert net.task_of_class.tolist() == [0, 0, 1, 1]


def test_a_restart_forgets_everything(config: RunConfig, stream: TaskStream) -> None:
    net = net_of(config)
    net.grow(learner_view(stream[0]))
    first = copied(net.state())
    net.restart(1)
    assert net.n_classes == 0
    net.grow(learner_view(stream[0]))
    assert not torch.equal(net.state()["model.first.weight"], first["model.first.weight"])
    net.restart(0)
    net.grow(learner_view(stream[0]))
    assert_same_bits(dict(net.state()), first)


def test_the_seed_decides_the_first_values() -> None:
    nets = [net_of(run_config(seeds={"init": seed})) for seed in (0, 0, 1)]
    one, same, other = (net.state()["model.first.weight"] for net in nets)
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@pytest.mark.parametrize("backbone", list(BACKBONES))
@pytest.mark.parametrize("setting", ["class-il", "task-il"])
def test_two_learners_trained_alike_are_alike_bit_by_bit(backbone: str, setting: str) -> None:
    config = quick_config("finetune", backbone, stream={"setting": setting})
    stream = stream_of(tiny_graph(), config)
    torch.manual_seed(1)
    one = learned(config, stream)
    torch.manual_seed(2)
    other = learned(config, stream)
    assert_same_bits(one.state(), other.state())
    inputs = model_input(stream[0].graph, None, CPU)
    assert torch.equal(one.net.logits(inputs), other.net.logits(inputs))


@pytest.mark.parametrize("backbone", list(BACKBONES))
def test_a_loaded_state_gives_the_same_outputs_and_shares_nothing(backbone: str) -> None:
    config = quick_config("finetune", backbone)
    stream = stream_of(tiny_graph(), config)
    first = learned(config, stream)
    second = make_learner(config, 5)
    second.load_state(first.state())
    assert_same_bits(first.state(), second.state())
    assert second.net.n_classes == 4
    inputs = model_input(stream[0].graph, np.array([3, 1]), CPU)
    assert torch.equal(first.net.logits(inputs), second.net.logits(inputs))
    assert all(value.requires_grad for value in second.net.model.parameters())
    kept = copied(first.state())
    with torch.no_grad():
        for value in second.net.model.parameters():
            value.add_(1)
    assert_same_bits(first.state(), kept)


def test_the_state_of_another_backbone_is_one_sentence() -> None:
    learner = make_learner(quick_config("finetune", "gin"), 5)
    with pytest.raises(StoreError, match="a state of this backbone is wanted") as caught:
        learner.load_state(make_learner(quick_config("finetune", "gcn"), 5).state())
    one_sentence(caught.value)


def test_a_state_without_its_classes_is_one_sentence() -> None:
    learner = make_learner(quick_config("finetune"), 5)
    state = {name: value for name, value in learner.state().items() if name != "task_of_class"}
    with pytest.raises(StoreError, match="task_of_class") as caught:
        learner.load_state(state)
    one_sentence(caught.value)


def test_training_time_is_counted(stream: TaskStream, config: RunConfig) -> None:
    watch = Watch()
    learner = METHODS["finetune"].build(net_of(config), METHODS["finetune"].config())
    learner.learn(learner_view(stream[0]), [], watch)
    assert watch.take().seconds["train"] > 0
