"""The leak probe against smoothing, means and distances written out densely."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evergraph.data.leak import leak
from evergraph.data.stream import StreamConfig, Task, TaskStream, make_stream
from evergraph.errors import ConfigError
from helpers import one_sentence, tiny_graph


def smoothed(task: Task, hops: int) -> NDArray[np.float64]:
    """Dense (D^-1/2 (A + I) D'^-1/2)^hops X in a task's graph."""
    looped = task.graph.adjacency.toarray().astype(np.float64) + np.eye(task.graph.n_nodes)
    operator = looped / np.sqrt(looped.sum(axis=1))[:, None] / np.sqrt(looped.sum(axis=0))[None, :]
    features: Any = task.graph.features
    values = np.asarray(features if isinstance(features, np.ndarray) else features.toarray(), dtype=np.float64)
    for _ in range(hops):
        values = operator @ values
    return values


def by_hand(stream: TaskStream, name: str) -> tuple[float, float]:
    last = len(stream) - 1
    tasks = stream.together(last) if name == "global" else [stream.alone(index) for index in range(last + 1)]
    z = [smoothed(task, 0 if name == "raw" else 2) for task in tasks]
    profiles = [values[task.train].mean(axis=0) for task, values in zip(tasks, z, strict=True)]

    def nearest(point: NDArray[np.float64]) -> int:
        return int(np.argmin([np.linalg.norm(point - profile) for profile in profiles]))

    sets = [nearest(v[task.test].mean(axis=0)) == task.index for task, v in zip(tasks, z, strict=True)]
    nodes = [nearest(v[row]) == task.index for task, v in zip(tasks, z, strict=True) for row in task.test]
    return float(np.mean(sets)), float(np.mean(nodes))


@pytest.mark.parametrize("kind", [{}, {"arrival": "time", "steps": 3}], ids=["classes", "time"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse_features", [False, True])
def test_guesses_are_those_of_dense_distances(kind: dict[str, Any], directed: bool, sparse_features: bool) -> None:
    graph = tiny_graph((15,) * 6, share=0.1, directed=directed, sparse_features=sparse_features)
    stream = make_stream(graph, StreamConfig(**kind), split_seed=0, order_seed=0)
    found = leak(stream)
    assert list(found) == ["raw", "local", "global"]
    for name, guesses in found.items():
        assert (guesses.sets, guesses.nodes) == pytest.approx(by_hand(stream, name))
    assert len({guesses.nodes for guesses in found.values()}) > 1


def test_one_task_is_one_sentence() -> None:
    stream = make_stream(tiny_graph(), StreamConfig(classes_per_task=4), split_seed=0, order_seed=0)
    with pytest.raises(ConfigError, match="at least two tasks are wanted, got one") as caught:
        leak(stream)
    one_sentence(caught.value)
