"""The accuracy matrix of a method on a stream."""

from typing import Any

import numpy as np

from evergraph.data.stream import TaskStream
from evergraph.runs.build import make_learner
from evergraph.runs.evaluate import Evaluator, totals
from evergraph.runs.metrics import AccuracyMatrix, Counts
from helpers import learn_tasks, run_config


def measured(method: str, stream: TaskStream, epochs: int, **settings: Any) -> AccuracyMatrix:
    """Learn all tasks with a GCN of 64 units and measure after each, class-balanced, on test nodes."""
    config = run_config(
        method={"name": method, **settings}, backbone={"hidden": 64}, train={"epochs": epochs, "lr": 0.02}
    )
    learner = make_learner(config, stream.graph.n_features)
    evaluate = Evaluator(stream, learner)
    correct = np.full((len(stream), stream.n_classes), -1)
    for index in range(len(stream)):
        learn_tasks(learner, config, stream, range(index, index + 1))
        counted = evaluate(index)[stream.config.protocol].test
        correct[index, : len(counted)] = counted
    first = np.array([stream.known(index - 1) for index in range(len(stream) + 1)])
    return Counts(correct, totals(stream)[1], first).balanced()
