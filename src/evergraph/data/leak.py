"""A probe for leaks: can the task of a test set, or of a single test node, be guessed from mean features alone?

Some methods get all test nodes of one task as one batch and guess from their mean which task it is. Where that
works, a class-incremental test tells them the task; node by node, as a user asks, it works far less well.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.data.graph import Features
from evergraph.data.on_disk import is_on_disk
from evergraph.data.stream import Task, TaskStream
from evergraph.errors import ConfigError, DataError

HOPS = 2


@dataclass(frozen=True)
class Guesses:
    """Shares of right guesses: of the test sets of all tasks, each as a whole, and of single test nodes."""

    sets: float
    nodes: float


def leak(stream: TaskStream) -> dict[str, Guesses]:
    """How often the task is guessed from features as they are (raw), or smoothed in two hops.

    local: smoothed in the graph of each task's own nodes, as in testing by task graphs; global: in the whole graph.
    """
    if is_on_disk(stream.graph):
        raise DataError(
            f"a probe for leaks needs the whole graph in memory, got {stream.graph.name}, which does not fit; "
            "raise --memory"
        )
    if len(stream) < 2:
        raise ConfigError("at least two tasks are wanted, got one; lower stream.classes_per_task")
    tasks = stream.together(len(stream) - 1)
    adjacency = tasks[0].graph.adjacency
    nothing = sparse.csr_array(sparse.eye_array(adjacency.shape[0]))
    return {
        "raw": guesses(tasks, nothing),
        "local": guesses(tasks, smoothing(without_edges_between(tasks))),
        "global": guesses(tasks, smoothing(adjacency)),
    }


def guesses(tasks: list[Task], operator: sparse.csr_array) -> Guesses:
    """Each test set, and each test node, goes to the task whose profile is nearest in z = S² x.

    The profile of a task is the mean of z over its training nodes. S² X is never formed: a mean over nodes is
    ((S²)ᵀ 1)ᵀ X, and the products with all profiles P are S² (X Pᵀ).
    """
    features = tasks[0].graph.features
    assert features is not None
    profiles = means(operator, features, [task.train for task in tasks])
    wanted = means(operator, features, [task.test for task in tasks])
    half_norms = np.einsum("ij,ij->i", profiles, profiles) / 2
    of_sets = (wanted @ profiles.T - half_norms).argmax(axis=1)
    products = np.asarray(features @ profiles.T)
    of_nodes = (twice(operator, products) - half_norms).argmax(axis=1)
    right = [of_nodes[task.test] == task.index for task in tasks]
    return Guesses(float((of_sets == np.arange(len(tasks))).mean()), float(np.concatenate(right).mean()))


def means(operator: sparse.csr_array, features: Features, groups: list[NDArray[np.int64]]) -> NDArray[np.float64]:
    """The mean of z over each group of nodes: (groups, features)."""
    weight = np.zeros((operator.shape[0], len(groups)))
    for column, nodes in enumerate(groups):
        weight[nodes, column] = 1 / len(nodes)
    return np.asarray((features.T @ twice(sparse.csr_array(operator.T), weight)).T, dtype=np.float64)


def twice(operator: sparse.csr_array, values: NDArray[np.float64]) -> NDArray[np.float64]:
    for _ in range(HOPS):
        values = operator @ values
    return values


def smoothing(adjacency: sparse.csr_array) -> sparse.csr_array:
    """D^-1/2 (A + I) D'^-1/2, with the sums of rows and of columns of A + I."""
    looped = sparse.csr_array(adjacency.astype(np.float64) + sparse.eye_array(adjacency.shape[0]))
    rows, columns = (sparse.diags_array(1 / np.sqrt(looped.sum(axis=axis))) for axis in (1, 0))
    return sparse.csr_array(rows @ looped @ columns)


def without_edges_between(tasks: list[Task]) -> sparse.csr_array:
    """The adjacency that the tasks share, without edges between nodes of different tasks."""
    edges = tasks[0].graph.adjacency.tocoo()
    task_of = np.empty(edges.shape[0], dtype=np.int64)
    for task in tasks:
        task_of[np.concatenate([task.train, task.val, task.test])] = task.index
    inside = task_of[edges.row] == task_of[edges.col]
    return sparse.csr_array((edges.data[inside], (edges.row[inside], edges.col[inside])), shape=edges.shape)
