"""The contract tests of methods."""

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse

from evergraph.config import Settings, validated
from evergraph.data.datasets.sbm import SbmOptions, generate
from evergraph.data.graph import make_graph
from evergraph.data.stream import TaskView
from evergraph.methods import METHODS, Learner
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.testing.samples import (
    COMING_BACK,
    assert_same_bits,
    learn_tasks,
    learned,
    outputs_are_sound,
    quick_config,
    resumes_bit_by_bit,
    run_config,
    small_method,
    stream_of,
    tiny_graph,
    with_wild_hidden_nodes,
)
from evergraph.watch import Watch

BUILT_IN = ["gcn", "gat", "gin"]
SETTINGS = ["class-il", "task-il"]
SAMPLED: dict[str, Any] = {"batch": 4, "fanout": [2, 1]}


class MethodContract:
    """Parametrize a subclass with the `name` of one method or of several."""

    def test_the_entry_is_complete(self, name: str) -> None:
        entry = METHODS[name]
        assert entry.summary
        assert entry.paper
        assert issubclass(entry.config, Settings)
        assert entry.config.model_config.get("extra") == "forbid"
        assert entry.config.model_config.get("frozen")

    def test_the_configuration_survives_the_round_trip(self, name: str) -> None:
        config = METHODS[name].config()
        values = json.loads(json.dumps(config.model_dump(mode="json")))
        assert validated(METHODS[name].config, values, "method") == config
        run = RunConfig.from_values({"method": {"name": name}})
        assert RunConfig.from_values(json.loads(json.dumps(run.to_values()))) == run

    @pytest.mark.parametrize("backbone", BUILT_IN)
    def test_the_same_seed_gives_the_same_bits(self, name: str, backbone: str) -> None:
        config = quick_config(name, backbone)
        stream = stream_of(tiny_graph(), config)
        torch.manual_seed(1)
        one = learned(config, stream).state()
        torch.manual_seed(2)
        assert_same_bits(one, learned(config, stream).state())

    def test_another_seed_gives_other_bits(self, name: str) -> None:
        configs = [quick_config(name, seeds={"init": seed}) for seed in (0, 1)]
        one, other = (learned(config, stream_of(tiny_graph(), config)) for config in configs)
        assert one.trains_net == any(key.startswith("model.") for key in one.state())
        changed = {key for key, value in one.state().items() if not torch.equal(value, other.state()[key])}
        assert any(key.startswith("model.") for key in changed) if one.trains_net else changed

    @pytest.mark.parametrize("sparse_features", [False, True])
    def test_learning_leaves_the_task_as_it_was(self, name: str, sparse_features: bool) -> None:
        config = quick_config(name)
        stream = stream_of(tiny_graph(sparse_features=sparse_features), config)
        learner = make_learner(config, 5)
        for index in range(2):
            views = stream.views(index, with_past=True)
            before = [contents(view) for view in views]
            learner.learn(views[-1], views[:-1] if METHODS[name].sees_past else [], Watch())
            assert [contents(view) for view in views] == before

    @pytest.mark.parametrize("setting", SETTINGS)
    @pytest.mark.parametrize("backbone", BUILT_IN)
    def test_both_settings(self, name: str, backbone: str, setting: str) -> None:
        outputs_are_sound(quick_config(name, backbone, stream={"setting": setting}), tiny_graph())

    def test_edges_between_tasks(self, name: str) -> None:
        outputs_are_sound(quick_config(name, stream={"inter_task_edges": True}), tiny_graph())

    @pytest.mark.parametrize("setting", SETTINGS)
    def test_one_class_per_task(self, name: str, setting: str) -> None:
        config = quick_config(name, stream={"classes_per_task": 1, "setting": setting})
        outputs_are_sound(config, tiny_graph((6, 6, 6)))

    def test_a_last_task_of_fewer_classes(self, name: str) -> None:
        outputs_are_sound(quick_config(name, stream={"remainder": "keep"}), tiny_graph((6, 6, 6)))

    @pytest.mark.parametrize("backbone", BUILT_IN)
    def test_classes_of_three_nodes(self, name: str, backbone: str) -> None:
        outputs_are_sound(quick_config(name, backbone), tiny_graph((3, 12, 3, 3)))

    @pytest.mark.parametrize("backbone", BUILT_IN)
    def test_a_graph_without_edges(self, name: str, backbone: str) -> None:
        outputs_are_sound(quick_config(name, backbone), tiny_graph(share=0))

    def test_a_directed_graph_with_sparse_features(self, name: str) -> None:
        outputs_are_sound(quick_config(name), tiny_graph(directed=True, sparse_features=True))

    def test_nodes_without_any_feature(self, name: str) -> None:
        graph = tiny_graph()
        assert isinstance(graph.features, np.ndarray)
        features = graph.features.copy()
        features[::3] = 0
        outputs_are_sound(quick_config(name), make_graph(graph.adjacency, features, graph.labels))

    def test_every_task_is_learned_when_it_comes(self, name: str) -> None:
        """The features indicate the class: who trains classifies nearly all training nodes right, others most."""
        config = quick_config(name, train={"epochs": 100, "lr": 0.02})
        stream = stream_of(tiny_graph((12,) * 4, share=0, width=4), config)
        learner = make_learner(config, 4)
        for index in range(2):
            learn_tasks(learner, config, stream, range(index, index + 1))
            (task,) = stream.views(index, with_past=False)
            logits = learner.logits(task.graph, task.train)[:, list(task.classes)]
            correct = logits.argmax(dim=1).numpy() + task.classes[0] == task.train_labels
            assert correct.mean() >= (0.9 if learner.trains_net else 0.8)

    def test_memory_is_counted_in_whole_numbers(self, name: str) -> None:
        config = quick_config(name)
        stream = stream_of(tiny_graph(), config)
        learner = make_learner(config, 5)
        for index in range(2):
            learn_tasks(learner, config, stream, range(index, index + 1))
            kept = asdict(learner.memory())
            assert all(type(value) is int and value >= 0 for value in kept.values()), kept
            assert kept["bytes"] > 0 or not any(kept.values())

    def test_the_budget_is_kept_for_every_class(self, name: str) -> None:
        """The buffer has labels of `budget` nodes of each class; a method without a budget keeps no labels."""
        fields = METHODS[name].config.model_fields
        config = run_config(method=small_method(name), backbone={"hidden": 8})
        counts = labels_kept(learned(config, stream_of(tiny_graph((9,) * 4), config)), 4).tolist()
        assert counts == ([2] * 4 if "budget" in fields else [0] * 4)

    @pytest.mark.parametrize("between", [False, True])
    @pytest.mark.parametrize("kind", list(COMING_BACK))
    def test_classes_that_come_back(self, name: str, kind: str, between: bool) -> None:
        stream = {**COMING_BACK[kind], "inter_task_edges": between}
        outputs_are_sound(quick_config(name, stream=stream), tiny_graph((9, 6, 12, 9)))

    @pytest.mark.parametrize("kind", list(COMING_BACK))
    def test_a_learner_of_classes_that_come_back_resumes_bit_by_bit(self, name: str, kind: str) -> None:
        stream = {**COMING_BACK[kind], "inductive": True}
        resumes_bit_by_bit(run_config(method=small_method(name), backbone={"hidden": 8}, stream=stream))

    @pytest.mark.parametrize("kind", list(COMING_BACK))
    def test_a_class_that_comes_back_keeps_its_budget(self, name: str, kind: str) -> None:
        """After each task the memory has a label of each training node of a class so far, but of at most 2."""
        fields = METHODS[name].config.model_fields
        config = run_config(method=small_method(name), backbone={"hidden": 8}, stream=COMING_BACK[kind])
        stream = stream_of(tiny_graph((9, 6, 12, 9)), config)
        learner = make_learner(config, 5)
        so_far = np.zeros(4, dtype=np.int64)
        for index in range(len(stream)):
            learn_tasks(learner, config, stream, range(index, index + 1))
            task = stream.alone(index)
            so_far += np.bincount(task.graph.labels[task.train], minlength=4)
            wanted = np.minimum(so_far, 2) if "budget" in fields else np.zeros(4)
            assert labels_kept(learner, 4).tolist() == wanted.tolist()

    @pytest.mark.parametrize("kind", ["classes", *COMING_BACK])
    @pytest.mark.parametrize("between", [False, True])
    def test_inductive_learning_sees_training_nodes_only(self, name: str, between: bool, kind: str) -> None:
        """Other features and edges of validation and test nodes leave every bit of the state as it was."""
        settings = {**COMING_BACK.get(kind, {}), "inter_task_edges": between, "inductive": True}
        scope = {"scope": "full"} if "scope" in METHODS[name].config.model_fields else {}
        config = run_config(method={**small_method(name), **scope}, backbone={"hidden": 8}, stream=settings)
        graph = tiny_graph((9,) * 4)
        stream = stream_of(graph, config)
        other = stream_of(with_wild_hidden_nodes(stream, graph, seed=1), config)
        assert_same_bits(learned(config, stream).state(), learned(config, other).state())

    @pytest.mark.parametrize("backbone", BUILT_IN)
    @pytest.mark.parametrize("setting", SETTINGS)
    def test_a_learner_resumes_from_its_state_bit_by_bit(self, name: str, setting: str, backbone: str) -> None:
        resumes_bit_by_bit(quick_config(name, backbone, stream={"setting": setting}))

    @pytest.mark.parametrize("backbone", BUILT_IN)
    @pytest.mark.parametrize("setting", SETTINGS)
    def test_sampled_batches_resume_bit_by_bit(self, name: str, setting: str, backbone: str) -> None:
        resumes_bit_by_bit(quick_config(name, backbone, stream={"setting": setting}, train=SAMPLED))

    def test_sampled_batches_learn(self, name: str) -> None:
        """Of the two classes of a new task, most test nodes are told apart; by chance half of them were."""
        train = {"batch": 32, "fanout": [4, 4], "epochs": 15, "lr": 0.02, "threads": 1}
        config = quick_config(name, train=train)
        options = SbmOptions(nodes=240, classes=4, features=8, mean_degree=12, noise=0.3)
        stream = stream_of(generate(options), config)
        learner = make_learner(config, 8)
        for index in range(2):
            learn_tasks(learner, config, stream, range(index, index + 1))
            task = stream.alone(index)
            logits = learner.logits(task.graph, task.test)[:, list(task.classes)]
            correct = logits.argmax(dim=1).numpy() + task.classes[0] == task.graph.labels[task.test]
            assert correct.mean() >= 0.75

    @pytest.mark.parametrize("between", [False, True])
    def test_sampled_batches_of_a_directed_graph_with_sparse_features(self, name: str, between: bool) -> None:
        config = quick_config(name, train=SAMPLED, stream={"inter_task_edges": between})
        outputs_are_sound(config, tiny_graph(directed=True, sparse_features=True))

    def test_a_backbone_without_biases_learns_and_resumes(self, name: str) -> None:
        plain = {"name": "gcn", "hidden": 8, "norm": "sum", "bias": False}
        resumes_bit_by_bit(run_config(method=quick_config(name).to_values()["method"], backbone=plain))

    def test_a_state_is_tensors_by_name_that_one_file_can_hold(self, name: str) -> None:
        config = quick_config(name)
        state = learned(config, stream_of(tiny_graph(), config)).state()
        assert state
        for key, value in state.items():
            assert isinstance(value, torch.Tensor), key
            assert value.is_contiguous(), key
        places = [value.data_ptr() for value in state.values() if value.numel()]
        assert len(set(places)) == len(places)

    def test_hidden_labels_are_never_asked_for(self, name: str) -> None:
        """Other placeholders for hidden labels give the same bits."""
        config = quick_config(name)
        stream = stream_of(tiny_graph(), config)
        learners = [make_learner(config, 5) for _ in range(2)]
        for index in range(2):
            for learner, hidden in zip(learners, (-1, -999), strict=True):
                *past, task = (with_hidden(view, hidden) for view in stream.views(index, with_past=True))
                learner.learn(task, past if METHODS[name].sees_past else [], Watch())
        assert_same_bits(learners[0].state(), learners[1].state())

    def test_dropped_nodes_are_gone_and_learning_goes_on(self, name: str) -> None:
        """Where nodes may have to be forgotten, what is kept of them node by node goes, in any state."""
        config = run_config(method=small_method(name), backbone={"hidden": 8}, stream=COMING_BACK["time"])
        stream = stream_of(tiny_graph((9, 6, 12, 9)), config)
        learner = make_learner(config, 5)
        sees_past = METHODS[name].sees_past
        for index in range(len(stream)):
            *past, task = (replace(view, forgettable=True) for view in stream.views(index, with_past=sees_past))
            learner.learn(task, past, Watch())
            before, ids = labels_kept(learner, 4).sum(), task.node_ids[task.train]
            gone = learner.drop(ids)
            again = make_learner(config, 5)
            again.load_state(learner.state())
            assert again.drop(ids) == learner.drop(ids) == 0
            assert_same_bits(again.state(), learner.state())
            assert before - labels_kept(learner, 4).sum() <= gone
            if "budget" in METHODS[name].config.model_fields and index == 0:
                assert gone > 0
                assert labels_kept(learner, 4).sum() == 0
            learner = again

    def test_lasting_inputs_predict_as_the_graph_does(self, name: str) -> None:
        """What is said not to change with learning predicts later what the graph itself predicts."""
        config = quick_config(name)
        stream = stream_of(tiny_graph(), config)
        learner = make_learner(config, 5)
        learn_tasks(learner, config, stream, range(1))
        task = stream.alone(0)
        rows = np.concatenate([task.test, task.train])
        inputs = learner.lasting_inputs(task.graph, rows)
        learn_tasks(learner, config, stream, range(1, 2))
        if inputs is not None:
            assert len(inputs) == len(rows)
            found, wanted = learner.lasting_outputs(inputs), learner.logits(task.graph, rows)
            torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


def labels_kept(learner: Learner, n_classes: int) -> NDArray[np.int64]:
    """How many nodes of each class have a label in what a learner keeps."""
    held = [value.numpy() for key, value in learner.state().items() if key.endswith("buffer.labels")]
    labels = np.concatenate([np.zeros(0, dtype=np.int64), *held])
    return np.bincount(labels[labels >= 0], minlength=n_classes)


def contents(view: TaskView) -> list[bytes]:
    """All arrays of a view, as bytes."""
    graph = view.graph
    arrays: list[Any] = [view.node_ids, view.train, graph.labels, graph.original_ids]
    for matrix in (graph.adjacency, graph.features):
        arrays += [matrix.indptr, matrix.indices, matrix.data] if isinstance(matrix, sparse.csr_array) else [matrix]
    return [array.tobytes() for array in arrays]


def with_hidden(view: TaskView, value: int) -> TaskView:
    labels = np.full_like(view.graph.labels, value)
    labels[view.train] = view.train_labels
    return replace(view, graph=replace(view.graph, labels=labels))
