"""Evaluation against counting node by node."""

import numpy as np
import pytest
import torch

from evergraph.backbones import model_input
from evergraph.methods import METHODS
from evergraph.runs.evaluate import Evaluator, totals
from helpers import CPU, copied, learned, quick_config, stream_of, tiny_graph


@pytest.mark.parametrize("setting", ["class-il", "task-il"])
@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("method", list(METHODS))
def test_correct_nodes_are_counted_class_by_class(method: str, setting: str, between: bool) -> None:
    config = quick_config(method, stream={"setting": setting, "inter_task_edges": between})
    stream = stream_of(tiny_graph((9, 7, 8, 9, 6), share=0.05), config)
    learner = learned(config, stream)
    now = len(stream) - 1
    evaluate = Evaluator(stream, CPU)
    found = evaluate(learner, now)
    val, test = np.zeros((2, 4), dtype=np.int64)
    for task in stream.seen(now):
        logits = learner.net.logits(model_input(task.graph, None, CPU))
        for counts, nodes in ((val, task.val), (test, task.test)):
            for node in nodes:
                own = list(task.classes) if setting == "task-il" else list(range(4))
                best = own[int(torch.argmax(logits[int(node)][own]))]
                counts[task.graph.labels[node]] += best == task.graph.labels[node]
    assert found.val.tolist() == val.tolist()
    assert found.test.tolist() == test.tolist()
    again = evaluate(learner, now)
    assert again.test.tolist() == test.tolist()


def test_after_the_first_task_only_its_classes_are_counted() -> None:
    config = quick_config("finetune")
    stream = stream_of(tiny_graph(), config)
    learner = learned(config, stream_of(tiny_graph(), quick_config("finetune", stream={"class_order": [0, 1]})))
    assert Evaluator(stream, CPU)(learner, 0).test.shape == (2,)


def test_evaluating_changes_nothing() -> None:
    config = quick_config("finetune", "gat")
    stream = stream_of(tiny_graph(), config)
    learner = learned(config, stream)
    before = copied(learner.state())
    Evaluator(stream, CPU)(learner, 1)
    assert all(torch.equal(value, before[name]) for name, value in learner.state().items())


def test_totals_are_the_sizes_of_the_splits() -> None:
    stream = stream_of(tiny_graph((9, 7, 8, 20)), quick_config("finetune"))
    val, test = totals(stream)
    assert val.tolist() == [len(split[1]) for split in stream.splits]
    assert test.tolist() == [len(split[2]) for split in stream.splits]
