"""Evaluation against counting node by node."""

import numpy as np
import pytest
import torch

from evergraph.budget import LEAST, memory_budget
from evergraph.data.stream import Protocol, TaskStream
from evergraph.methods import statistics_learner
from evergraph.methods.statistics_learner import StatisticsLearner
from evergraph.runs.build import make_learner
from evergraph.runs.evaluate import Evaluator, totals
from evergraph.testing.samples import COMING_BACK
from evergraph.watch import Watch
from helpers import copied, learn_tasks, learned, quick_config, run_config, stream_of, tiny_graph


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


@pytest.mark.parametrize("protocol", list(Protocol))
@pytest.mark.parametrize("kind", list(COMING_BACK))
def test_where_classes_come_back_nodes_are_counted_by_task_and_class(kind: str, protocol: Protocol) -> None:
    config = quick_config("finetune", stream=COMING_BACK[kind], train={"epochs": 20})
    stream = stream_of(tiny_graph((20, 7, 8, 9), share=0.05), config)
    learner = make_learner(config, 5)
    evaluate = Evaluator(stream, learner)
    cells = list(zip(stream.cells.task.tolist(), stream.cells.label.tolist(), strict=True))
    for now in range(len(stream)):
        learn_tasks(learner, config, stream, range(now, now + 1))
        found = evaluate(now)[protocol]
        val, test = ({cell: 0 for cell in cells if cell[0] <= now} for _ in range(2))
        alone = [stream.alone(index) for index in range(now + 1)]
        for task in stream.together(now) if protocol is Protocol.WHOLE_GRAPH else alone:
            best = learner.logits(task.graph).argmax(dim=1).numpy()
            for counts, nodes in ((val, task.val), (test, task.test)):
                for node in nodes:
                    label = int(task.graph.labels[node])
                    counts[task.index, label] += int(best[node] == label)
        assert found.val.tolist() == list(val.values())
        assert found.test.tolist() == list(test.values())
    assert totals(stream)[1].sum() == sum(len(split[2]) for split in stream.splits)


def test_what_is_kept_of_local_tests_stays_within_the_budget(
    digits_stream: TaskStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = make_learner(run_config(method={"name": "analytic", "width": 256}), digits_stream.graph.n_features)
    assert isinstance(learner, StatisticsLearner)
    learner.learn(digits_stream.views(0, with_past=False)[-1], (), Watch())
    rows = np.concatenate([digits_stream[0].val, digits_stream[0].test])
    size = len(learner.features.hops) * 256 * len(rows)
    share = -(-LEAST // size)
    monkeypatch.setattr(statistics_learner, "KEPT", share - 1)  # once, not twice
    with memory_budget(LEAST):
        ask = [learner.outputs(digits_stream[0].graph, rows) for _ in range(3)]
        held = learner._held.bytes
        wanted, found, again = (one() for one in ask)
        ask.clear()
    assert held == size
    assert learner._held.bytes == 0
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-4)
    assert torch.equal(found, again)
    assert torch.equal(found.argmax(dim=1), wanted.argmax(dim=1))
