"""A module of one's own as a backbone: through whole streams, stored and taken up again."""

import pytest
import torch
from torch import Tensor, nn

from evergraph.backbones import CustomBackbone, MessageGraph, Norm, model_input
from evergraph.errors import StoreError
from evergraph.methods import METHODS, Learner
from evergraph.runs.config import RunConfig
from evergraph.training.net import Net
from helpers import CPU, assert_same_bits, copied, learn_tasks, quick_config, stream_of, tiny_graph


class Mean(nn.Module):
    """Mean of the neighbours, a linear map, a normalisation with buffers."""

    def __init__(self, inputs: int, generator: torch.Generator):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, 6).uniform_(-1, 1, generator=generator))
        self.norm = nn.BatchNorm1d(6)

    def forward(self, x: Tensor, graph: MessageGraph) -> Tensor:
        source, target = graph.edge_index
        z = x @ self.weight
        total = torch.zeros_like(z).index_add(0, target, z[source])
        hidden: Tensor = self.norm(total / torch.bincount(target).unsqueeze(1))
        return torch.relu(hidden)


def learner_for(config: RunConfig, n_features: int) -> Learner:
    net = Net(
        lambda generator: CustomBackbone(Mean(n_features, generator), 6),
        config.stream.setting,
        config.train,
        config.seeds.init,
    )
    return METHODS[config.method_name].build(net, config.method)


@pytest.mark.parametrize("sparse_features", [False, True])
@pytest.mark.parametrize("method", list(METHODS))
def test_it_learns_whole_streams(method: str, sparse_features: bool) -> None:
    config = quick_config(method, train={"epochs": 30, "lr": 0.02, "threads": 1})
    stream = stream_of(tiny_graph((9, 9, 9, 9), share=0.03, sparse_features=sparse_features), config)
    learner = learn_tasks(learner_for(config, 5), config, stream, range(2))
    assert learner.net.n_classes == (4 if learner.trains_net else 0)
    task = stream[1]
    logits = learner.logits(task.graph, task.train)
    assert logits.shape == (len(task.train), 4)
    assert logits.isfinite().all()
    if method == "finetune":
        assert (logits.argmax(dim=1).numpy() == task.graph.labels[task.train]).mean() > 0.7


@pytest.mark.parametrize("method", list(METHODS))
def test_it_goes_on_from_a_state_with_its_buffers(method: str) -> None:
    config = quick_config(method)
    stream = stream_of(tiny_graph(), config)
    first = learn_tasks(learner_for(config, 5), config, stream, range(1))
    second = learner_for(config, 5)
    second.load_state(copied(first.state()))
    assert_same_bits(first.state(), second.state())
    for learner in (first, second):
        learn_tasks(learner, config, stream, range(1, 2))
    assert_same_bits(first.state(), second.state())


def test_a_state_of_another_backbone_is_one_sentence() -> None:
    config = quick_config("finetune")
    learner = learner_for(config, 5)
    state = copied(learner.state())
    with pytest.raises(StoreError, match="a state of this backbone is wanted, got"):
        learner.load_state({**state, "model.other": torch.zeros(1)})
    del state["model.module.weight"]
    with pytest.raises(StoreError, match="a state of this backbone is wanted, got"):
        learner.load_state(state)


def test_rows_are_cut_from_the_representation_of_all_nodes() -> None:
    graph = tiny_graph()
    model = CustomBackbone(Mean(5, torch.Generator()), 6).eval()
    model.head.grow(2, torch.Generator())
    every = model(*model_input(graph, None, CPU))
    some = model(*model_input(graph, torch.tensor([4, 1]).numpy(), CPU))
    assert torch.allclose(some, every[[4, 1]], atol=1e-6)
    assert model.embed(*model_input(graph, None, CPU)).shape == (graph.n_nodes, 6)
    assert model_input(graph, None, CPU).graph.operator(Norm.SUM, 1).shape == (graph.n_nodes, graph.n_nodes)
