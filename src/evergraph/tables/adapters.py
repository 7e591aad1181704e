"""A batch from whatever holds a graph: frames, NetworkX graphs, PyG data, scipy matrices and arrays."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scipy import sparse

from evergraph.errors import ConfigError, DataError
from evergraph.tables.arrays import batch_from_arrays
from evergraph.tables.batch import Batch
from evergraph.tables.frames import batch_from_frames, is_frame
from evergraph.tables.labels import Labels, plain
from evergraph.tables.networkx_graphs import batch_from_networkx, is_networkx
from evergraph.tables.pyg_data import TRAIN_MASK, batch_from_pyg, masked
from evergraph.tables.roles import (
    ID,
)


def to_batch(graph: Any, labels: Labels | None = None, **options: Any) -> Batch:
    """Whatever holds a graph as a Batch.

    A Batch as it is; a PyG Data; a NetworkX graph; a frame of nodes or a pair (nodes, edges); a pair (adjacency,
    features) of scipy and an array. `labels` take the place of those in the graph; options are the adapter's.
    """
    if isinstance(graph, Batch):
        if options:
            raise ConfigError(f"a Batch as it is is wanted, got the option {next(iter(options))} too; leave it out")
        batch = graph
    elif hasattr(graph, "edge_index"):
        batch = _adapted(batch_from_pyg, "a PyG Data", (graph,), options)
    elif is_networkx(graph):
        batch = _adapted(batch_from_networkx, "a NetworkX graph", (graph,), options)
    elif is_frame(graph):
        batch = _adapted(batch_from_frames, "a frame of nodes", (graph,), options)
    elif isinstance(graph, tuple | list) and len(graph) == 2 and is_frame(graph[0]):
        batch = _adapted(batch_from_frames, "frames", graph, options)
    elif isinstance(graph, tuple | list) and len(graph) == 2 and sparse.issparse(graph[0]):
        batch = _adapted(batch_from_arrays, "a pair (adjacency, features)", graph, options)
    else:
        raise DataError(
            "a graph is wanted: a Batch, a PyG Data, a NetworkX graph, a pair of pandas frames (nodes, edges) or a "
            f"pair (adjacency, features), got {type(graph).__name__} instead"
        )
    if labels is None:
        return batch
    _check_order(graph, labels)
    given = batch.with_labels(labels)
    if hasattr(graph, "edge_index"):
        given = replace(given, labels=masked(graph, given.labels, options.get("mask", TRAIN_MASK)))
    both = zip(map(plain, batch.labels), map(plain, given.labels), batch.labelled & given.labelled, strict=True)
    others = sum(known and ours != theirs for ours, theirs, known in both)
    if not others:
        return given
    remark = f"{others:,} nodes have another label in y than in the graph; y is taken"
    return replace(given, remarks=(*given.remarks, remark))


def _adapted(adapter: Callable[..., Batch], what: str, given: Sequence[Any], options: Mapping[str, Any]) -> Batch:
    """What an adapter makes of a graph; ConfigError for an option that it does not have."""
    have = [name for name in list(inspect.signature(adapter).parameters)[len(given) :] if name != "labels"]
    for name in options:
        if name not in have:
            raise ConfigError(
                f"for {what} the options {', '.join(have)} are wanted, got {name} instead; use one of them"
            )
    return adapter(*given, **options)


def _check_order(graph: Any, labels: Any) -> None:
    """DataError for a column of pandas in another order than the nodes: labels are taken by position."""
    nodes = graph[0] if isinstance(graph, tuple | list) else graph
    if not (is_frame(nodes) and hasattr(labels, "index") and hasattr(labels, "iloc")) or len(labels) != len(nodes):
        return
    wanted = [nodes.index, *([nodes[ID]] if ID in nodes.columns else [])]
    came = labels.index.tolist()
    if came == list(range(len(came))) or any(came == list(index) for index in wanted):
        return
    if any(set(came) == set(index) for index in wanted):
        raise DataError("labels must be in the order of the nodes, got a column in another order; use y.loc[ids]")
