"""Which class arrives when, in which task each node arrives, and how its class is split there."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from evergraph.data.graph import Graph
from evergraph.data.stream_config import Arrival, ClassOrder, Remainder, StreamConfig
from evergraph.errors import ConfigError, DataError

Split: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Training, validation and test nodes."""


def arrivals(
    graph: Graph, config: StreamConfig, order: tuple[int, ...], seed: int
) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """For each node the task in which it arrives, -1 for dropped classes; and the labels by first arrival."""
    if config.arrival is Arrival.TIME:
        rank = _time_ranks(graph, config.steps, order)
        arrival = np.where(rank < 0, -1, rank * config.steps // (rank.max() + 1))
    else:
        arrival = _blurred(graph, config, order, seed)
        rank = arrival
    first = [rank[graph.labels == label].min() for label in order]
    return arrival, tuple(order[k] for k in np.argsort(first, kind="stable"))


def _time_ranks(graph: Graph, steps: int, order: tuple[int, ...]) -> NDArray[np.int64]:
    """The place of each node in time, -1 for dropped classes; nodes of the same time in the order of their rows."""
    if graph.times is None:
        raise DataError(
            f"{graph.name} has no times, and stream.arrival=time needs some; "
            "take a graph with times (a column time in the node table of a file) or stream.arrival=blurry"
        )
    nodes = np.flatnonzero(np.isin(graph.labels, order))
    if steps > len(nodes):
        raise ConfigError(f"stream.steps must be at most the number of nodes, {len(nodes)}, got {steps} instead")
    rank = np.full(graph.n_nodes, -1)
    rank[nodes[np.argsort(graph.times[nodes], kind="stable")]] = np.arange(len(nodes))
    return rank


def _blurred(graph: Graph, config: StreamConfig, order: tuple[int, ...], seed: int) -> NDArray[np.int64]:
    """The task of each node's class, or for a share of every class another task, drawn uniformly."""
    tasks = math.ceil(len(order) / config.classes_per_task)
    if tasks < 2:
        raise ConfigError(
            f"stream.arrival=blurry needs at least two tasks, got {len(order)} classes in one; "
            "lower stream.classes_per_task"
        )
    arrival = np.full(graph.n_nodes, -1)
    for index, label in enumerate(order):
        home = index // config.classes_per_task
        nodes = np.flatnonzero(graph.labels == label)
        rng = np.random.default_rng([seed, 2, label])
        moved = rng.permutation(nodes)[: round(config.blur * len(nodes))]
        arrival[nodes] = home
        arrival[moved] = (home + rng.integers(1, tasks, size=len(moved))) % tasks
    return arrival


def split_by_task(
    graph: Graph, config: StreamConfig, order: tuple[int, ...], arrival: NDArray[np.int64], seed: int
) -> tuple[tuple[Split, ...], tuple[str, ...]]:
    """For each class its parts, split in every task by itself; fewer than three nodes are training nodes."""
    splits, small = [], 0
    tasks = int(arrival.max()) + 1
    tested = np.zeros(tasks, dtype=bool)
    by_time = config.arrival is Arrival.TIME
    for label in order:
        own = np.flatnonzero(graph.labels == label)
        parts = []
        for task in np.unique(arrival[own]):
            nodes = own[arrival[own] == task]
            if len(nodes) < 3:
                parts.append((nodes, nodes[:0], nodes[:0]))
                small += len(nodes)
            else:
                parts.append(split_nodes(nodes, config.split, [seed, 0, label, 1 + int(task)]))
                tested[task] = True
        train, val, test = (np.sort(np.concatenate(part)) for part in zip(*parts, strict=True))
        splits.append((train, val, test))
    if not tested.all():
        raise ConfigError(
            f"every task must have test nodes, got none in task {int(tested.argmin()) + 1} of {tasks}: "
            f"no class has three nodes there; lower stream.{'steps' if by_time else 'blur'}"
        )
    messages = (
        [f"{small} nodes of classes with fewer than 3 nodes in a task are all training nodes"] if small else []
    )
    different = len(np.unique(graph.times)) if by_time and graph.times is not None else tasks
    if different < tasks:
        messages.append(f"{different} different times for {tasks} steps: nodes of the same time are divided by row")
    return tuple(splits), tuple(messages)


def class_plan(graph: Graph, config: StreamConfig, seed: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The labels in order of arrival, and a message on each group of classes that was dropped."""
    labels, sizes = np.unique(graph.labels, return_counts=True)
    messages = []
    order = _requested_order(labels, sizes, _by_label(config.class_order, graph), seed)
    size_of = dict(zip(labels.tolist(), sizes.tolist(), strict=True))
    small = [label for label in order if size_of[label] < config.min_class_size]
    if small:
        messages.append(f"dropped classes with fewer than {config.min_class_size} nodes: {_listed(small, graph)}")
        order = [label for label in order if label not in small]
    left = len(order) % config.classes_per_task
    if left and config.remainder is Remainder.DROP and config.arrival is not Arrival.TIME:
        messages.append(
            f"dropped the last of {len(order)} classes ({_listed(order[-left:], graph)}): "
            f"too few for a last task of {config.classes_per_task} (stream.remainder=keep keeps them)"
        )
        order = order[:-left]
    if not order:
        raise ConfigError(
            f"at least one task is wanted, got none: {graph.name} has {len(labels)} classes, none of which fit "
            f"min_class_size={config.min_class_size} and classes_per_task={config.classes_per_task}"
        )
    return tuple(order), tuple(messages)


def _by_label(order: ClassOrder | tuple[int | str, ...], graph: Graph) -> ClassOrder | tuple[int, ...]:
    """An order of classes in which names are replaced by labels."""
    if isinstance(order, ClassOrder):
        return order
    names = {} if graph.class_names is None else {name: label for label, name in enumerate(graph.class_names)}
    unknown = [one for one in order if isinstance(one, str) and one not in names]
    if unknown:
        known = (
            f"; its classes are: {', '.join(list(names)[:20])}" if names else ", whose classes are whole numbers"
        )
        raise ConfigError(
            f"stream.class_order must list classes of {graph.name}, got {unknown[0]!r} instead{known}"
        )
    return tuple(names[one] if isinstance(one, str) else one for one in order)


def _requested_order(
    labels: NDArray[np.int64], sizes: NDArray[np.int64], order: ClassOrder | tuple[int, ...], seed: int
) -> list[int]:
    if isinstance(order, tuple):
        unknown = sorted(set(order) - set(labels.tolist()))
        if unknown or len(set(order)) < len(order) or not order:
            problem = f"unknown labels {unknown}" if unknown else "a repeated label or an empty list"
            raise ConfigError(f"stream.class_order must list labels of the graph, each once, got {problem} instead")
        return list(order)
    if order is ClassOrder.SIZE:
        labels = labels[np.argsort(-sizes, kind="stable")]
    elif order is ClassOrder.RANDOM:
        labels = np.random.default_rng([seed, 1]).permutation(labels)
    return [int(label) for label in labels]


def split_nodes(nodes: NDArray[np.int64], shares: tuple[float, float, float], seed: list[int]) -> Split:
    """Training, validation and test nodes: at least one each, and training gets what rounding leaves."""
    shuffled = np.random.default_rng(seed).permutation(nodes)
    n_val, n_test = (max(1, round(share * len(nodes))) for share in shares[1:])
    n_train = max(1, len(nodes) - n_val - n_test)
    n_val = min(n_val, len(nodes) - n_train - 1)
    train, val, test = np.split(shuffled, [n_train, n_train + n_val])
    return np.sort(train), np.sort(val), np.sort(test)


def _listed(labels: list[int], graph: Graph) -> str:
    """Classes by their names where they have some."""
    return ", ".join(str(label) if graph.class_names is None else graph.class_names[label] for label in labels)
