"""The contract tests of backbones."""

import numpy as np
import pytest
import torch
from torch import Tensor

from evergraph.backbones import BACKBONES, Backbone, model_input
from evergraph.config import Settings
from evergraph.methods import METHODS
from evergraph.scores.grand import grand_norms
from evergraph.testing.samples import CPU, outputs_are_sound, quick_config, resumes_bit_by_bit, small, tiny_graph
from evergraph.training.loop import node_losses


def built(name: str, n_features: int, classes: int, seed: int = 0) -> Backbone:
    """A small untrained backbone for some classes, in evaluation mode."""
    entry = BACKBONES[name]
    generator = torch.Generator().manual_seed(seed)
    model = entry.build(n_features, entry.config(**small(entry)), generator)
    model.head.grow(classes, generator)
    return model.eval()


class BackboneContract:
    """Parametrize a subclass with the `name` of one backbone or of several."""

    def test_the_entry_is_complete(self, name: str) -> None:
        entry = BACKBONES[name]
        assert entry.summary
        assert entry.paper
        assert issubclass(entry.config, Settings)

    @pytest.mark.parametrize("steps", [(2, 2), (1, 3), (4,)])
    def test_classes_that_arrive_leave_the_old_outputs_as_they_were(
        self, name: str, steps: tuple[int, ...]
    ) -> None:
        graph = tiny_graph()
        inputs = model_input(graph, None, CPU)
        model = built(name, graph.n_features, 3)
        generator = torch.Generator().manual_seed(1)
        for count in steps:
            before, weight = model(*inputs).detach(), model.head.weight.detach().clone()
            old = before.shape[1]
            model.head.grow(count, generator)
            after = model(*inputs).detach()
            assert after.shape == (graph.n_nodes, old + count)
            assert model.head.n_classes == old + count
            assert torch.allclose(after[:, :old], before, atol=1e-6, rtol=1e-5)
            assert torch.equal(model.head.weight[:, :old], weight)
            assert model.head.weight[:, old:].abs().min() > 0

    def test_the_embedding_is_what_the_head_sees(self, name: str) -> None:
        graph = tiny_graph(share=0.3)
        model = built(name, graph.n_features, 3)
        for rows in (None, np.array([5, 2, 11])):
            inputs = model_input(graph, rows, CPU)
            embedding = model.embed(*inputs)
            assert embedding.shape == (graph.n_nodes if rows is None else len(rows), len(model.head.weight))
            logits = embedding @ model.head.weight + model.head.bias
            assert torch.allclose(logits, model(*inputs), atol=1e-5)

    def test_the_generator_decides_every_first_value(self, name: str) -> None:
        def first_values(seed: int) -> list[Tensor]:
            return [value.detach() for value in built(name, 5, 2, seed).parameters()]

        torch.manual_seed(1)
        one = first_values(0)
        torch.manual_seed(2)
        same, other = first_values(0), first_values(1)
        assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
        assert any(not torch.equal(a, b) for a, b in zip(one, other, strict=True))

    def test_outputs_do_not_depend_on_the_other_rows_asked_for(self, name: str) -> None:
        graph = tiny_graph(share=0.15)
        model = built(name, graph.n_features, 3)
        every = model(*model_input(graph, None, CPU))
        for node in range(0, graph.n_nodes, 5):
            alone = model(*model_input(graph, np.array([node]), CPU))
            assert torch.allclose(alone[0], every[node], atol=1e-5)

    def test_calling_a_model_changes_nothing(self, name: str) -> None:
        graph = tiny_graph()
        model = built(name, graph.n_features, 3)
        inputs = model_input(graph, None, CPU)
        before = {key: value.clone() for key, value in model.state_dict().items()}
        assert torch.equal(model(*inputs), model(*inputs))
        assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())

    @pytest.mark.parametrize("sparse_features", [False, True])
    def test_what_methods_look_at_has_the_right_size(self, name: str, sparse_features: bool) -> None:
        graph = tiny_graph(share=0.3, sparse_features=sparse_features)
        model = built(name, graph.n_features, 3)
        inputs = model_input(graph, np.array([5, 2, 11]), CPU)
        assert len(model.hidden_layer(inputs)) == 3
        weights = model.attention_weights(inputs)
        if weights is None:
            maps, senders = model.linear_maps(inputs), inputs.graph.frontier
            sizes = [len(nodes) for nodes in senders[len(senders) - 1 - len(maps) : -1]]
            assert [len(z) for z in maps] == sizes
        else:
            patterns = [inputs.graph.pattern(step + 1) for step in range(inputs.graph.depth)]
            assert [len(layer) for layer in weights] == [pattern.n_entries for pattern in patterns]

    def test_gradient_norms_are_those_of_a_loop_over_nodes(self, name: str) -> None:
        graph = tiny_graph(share=0.3)
        model = built(name, graph.n_features, 4)
        labels, inputs = torch.as_tensor(graph.labels), model_input(graph, None, CPU)
        losses = node_losses(model(*inputs), labels, None)
        brute = []
        for loss in losses:
            parts = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True, allow_unused=True)
            brute.append(torch.cat([part.flatten() for part in parts if part is not None]).norm())
        assert torch.allclose(grand_norms(model, inputs, labels), torch.stack(brute), rtol=1e-3, atol=1e-6)

    @pytest.mark.parametrize("method", list(METHODS))
    def test_every_method_learns_with_it(self, name: str, method: str) -> None:
        outputs_are_sound(quick_config(method, name), tiny_graph())
        resumes_bit_by_bit(quick_config(method, name))
