"""Sampled batches where full ones fit, too: after as many steps about as accurate, on the digits."""

from typing import Any

import numpy as np
import pytest

from evergraph.data.graph import Graph
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.testing.samples import stream_of
from evergraph.training.minibatches import SampledBatch
from evergraph.training.net import Part
from evergraph.watch import Watch

STEPS, EPOCHS, BATCH = 60, 15, 270
"""15 epochs of 1,078 training nodes, four steps each."""
TOLERANCE = 0.02


def accuracy(graph: Graph, backbone: str, seed: int, train: dict[str, Any]) -> float:
    """On the test nodes of all classes in the whole graph, after learning all of them at once."""
    sections: dict[str, Any] = {
        "stream": {"inter_task_edges": True},
        "seeds": dict.fromkeys(("split", "init"), seed),
    }
    config = RunConfig.from_values(
        {
            "method": {"name": "joint"},
            "backbone": {"name": backbone, "hidden": 64},
            "train": {"threads": 1, "lr": 0.01, **train},
            **sections,
        }
    )
    stream = stream_of(graph, config)
    views, net = stream.views(4, with_past=True), make_learner(config, graph.n_features).net
    for view in views:
        net.grow(view)
    batches = net.planned([Part.of(view) for view in views])
    assert all(isinstance(batch, SampledBatch) == (train["batch"] != "full") for batch in batches)
    net.fit(views[-1], batches, Watch())
    tasks = stream.together(4)
    test = np.concatenate([task.test for task in tasks])
    logits = net.outputs(tasks[0].graph, test)().numpy()
    return float((logits.argmax(axis=1) == tasks[0].graph.labels[test]).mean())


@pytest.mark.parametrize("backbone", ["gcn", "gat", "gin"])
def test_sampled_batches_are_about_as_accurate_as_full_ones(digits: Graph, backbone: str) -> None:
    """The means over three seeds; each node keeps 3 of its neighbours, and each of those 2."""
    ways = {"full": STEPS, BATCH: EPOCHS}
    full, sampled = (
        [
            accuracy(digits, backbone, seed, {"batch": batch, "epochs": epochs, "fanout": [3, 2]})
            for seed in range(3)
        ]
        for batch, epochs in ways.items()
    )
    assert min(full) > 0.9
    assert np.mean(sampled) > np.mean(full) - TOLERANCE, (full, sampled)
