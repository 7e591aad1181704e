"""CaT: it condenses each task and trains on what it made, not on the task."""

from typing import Any

import numpy as np
import pytest

from evergraph.data.stream import Protocol, TaskStream, TaskView, learner_view
from evergraph.methods.cat import CaT
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.runs.evaluate import Evaluator
from evergraph.testing.samples import outputs_are_sound, resumes_bit_by_bit
from evergraph.training.net import Net
from evergraph.watch import Watch
from helpers import learn_tasks, run_config, stream_of, tiny_graph

SIZES = (20, 18, 22, 16)


def config_of(epochs: int = 30, **method: Any) -> RunConfig:
    return run_config(method={"name": "cat", "hidden": 16, "width": 32, **method}, train={"epochs": epochs})


def learner_of(config: RunConfig) -> tuple[CaT, TaskStream]:
    stream = stream_of(tiny_graph(SIZES, share=0.1), config)
    learner = make_learner(config, 5)
    assert isinstance(learner, CaT)
    return learner, stream


def test_it_trains_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    learner, stream = learner_of(config_of(budget=3, precision="float32"))
    seen: list[list[Any]] = []

    def watching(self: Net, task: TaskView, batches: Any, watch: Watch, **options: Any) -> list[Any]:
        seen.append(list(batches))
        return []

    monkeypatch.setattr(Net, "fit", watching)
    for done, task in enumerate(stream, 1):
        learner.learn(learner_view(task), (), Watch())
        (batch,) = seen[-1]
        assert np.bincount(batch.labels).tolist() == [3] * 2 * done
        assert batch.input.graph.graph.n_edges == 0
        np.testing.assert_array_equal(batch.input.x.values, learner.buffer.rows())


def test_the_rows_match_the_means_of_the_propagated_features() -> None:
    """A class's made-up rows lie closer to its propagated mean than the nodes that they began as."""
    gaps = []
    for steps, encoders in ((1, 1), (10, 100)):
        config = config_of(1, budget=2, precision="float32", steps=steps, encoders=encoders, feature_lr=0.005)
        learner, stream = learner_of(config)
        view = learner_view(stream[0])
        learner.begin(view)
        losses = learner.condense(view)
        rows, labels = learner.buffer.rows(), learner.buffer.held["labels"]
        every = learner.embedded(view.graph, view.train)
        assert isinstance(every, np.ndarray)
        gap = 0.0
        for label in view.classes:
            mine, theirs = rows[labels == label].mean(axis=0), every[view.train_labels == label].mean(axis=0)
            gap += 1 - mine @ theirs / np.linalg.norm(mine) / np.linalg.norm(theirs)
        gaps.append(gap)
    assert gaps[1] < 0.3 * gaps[0]
    assert np.mean(losses[-50:]) < 0.5 * np.mean(losses[:10])


def test_no_two_rows_of_a_class_begin_alike_and_a_small_class_is_no_larger_than_it_is() -> None:
    config = config_of(1, budget=50, precision="float32", encoders=1, steps=1, feature_lr=1e-9)
    learner, stream = learner_of(config)
    view = learner_view(stream[0])
    learner.learn(view, (), Watch())
    assert learner.buffer.held["labels"].tolist() == view.train_labels.tolist()
    np.testing.assert_allclose(learner.buffer.rows(), learner.embedded(view.graph, view.train), atol=1e-6)


@pytest.mark.parametrize("method", [{"projection": 3}, {"precision": "float32", "aggregation": "appnp"}])
def test_its_settings_learn_and_resume(method: dict[str, Any]) -> None:
    config = config_of(2, encoders=3, steps=2, **method)
    resumes_bit_by_bit(config)
    outputs_are_sound(config, tiny_graph(directed=True, sparse_features=True))


def test_it_remembers_the_digits(digits_stream: TaskStream) -> None:
    config = config_of(60, encoders=20)
    width = digits_stream.graph.n_features
    learner = learn_tasks(make_learner(config, width), config, digits_stream, range(len(digits_stream)))
    correct = Evaluator(digits_stream, learner)(4)
    assert correct[Protocol.WHOLE_GRAPH].test.sum() > 0.85 * sum(len(split[2]) for split in digits_stream.splits)
