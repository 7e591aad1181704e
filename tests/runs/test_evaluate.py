"""Evaluation against counting node by node."""

import numpy as np
import pytest
import torch

from evergraph.data.stream import Protocol
from evergraph.runs.evaluate import Evaluator, totals
from helpers import copied, learned, quick_config, stream_of, tiny_graph


@pytest.mark.parametrize("setting", ["class-il", "task-il"])
@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("method", ["finetune", "joint", "ftf-er-prob"])
@pytest.mark.parametrize("protocol", list(Protocol))
def test_correct_nodes_are_counted_class_by_class(
    method: str, setting: str, between: bool, protocol: Protocol
) -> None:
    config = quick_config(method, stream={"setting": setting, "inter_task_edges": between})
    stream = stream_of(tiny_graph((9, 7, 8, 9, 6), share=0.05), config)
    learner = learned(config, stream)
    now = len(stream) - 1
    evaluate = Evaluator(stream, learner)
    found = evaluate(now)[protocol]
    val, test = np.zeros((2, 4), dtype=np.int64)
    tasks = [stream.alone(index) for index in range(now + 1)]
    for task in stream.together(now) if protocol is Protocol.WHOLE_GRAPH else tasks:
        logits = learner.logits(task.graph)
        for counts, nodes in ((val, task.val), (test, task.test)):
            for node in nodes:
                own = list(task.classes) if setting == "task-il" else list(range(4))
                best = own[int(torch.argmax(logits[int(node)][own]))]
                counts[task.graph.labels[node]] += best == task.graph.labels[node]
    assert found.val.tolist() == val.tolist()
    assert found.test.tolist() == test.tolist()
    again = evaluate(now)[protocol]
    assert again.test.tolist() == test.tolist()


def test_after_the_first_task_only_its_classes_are_counted() -> None:
    config = quick_config("finetune")
    stream = stream_of(tiny_graph(), config)
    learner = learned(config, stream_of(tiny_graph(), quick_config("finetune", stream={"class_order": [0, 1]})))
    assert Evaluator(stream, learner)(0)[Protocol.TASK_GRAPHS].test.shape == (2,)


def test_evaluating_changes_nothing() -> None:
    config = quick_config("finetune", "gat")
    stream = stream_of(tiny_graph(), config)
    learner = learned(config, stream)
    before = copied(learner.state())
    Evaluator(stream, learner)(1)
    assert all(torch.equal(value, before[name]) for name, value in learner.state().items())


def test_totals_are_the_sizes_of_the_splits() -> None:
    stream = stream_of(tiny_graph((9, 7, 8, 20)), quick_config("finetune"))
    val, test = totals(stream)
    assert val.tolist() == [len(split[1]) for split in stream.splits]
    assert test.tolist() == [len(split[2]) for split in stream.splits]
