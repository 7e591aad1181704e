"""A graph folder as a batch: what learn, predict and forget take instead of two tables."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evergraph.data.graph import Graph
from evergraph.data.graph_folder.reading import read_folder
from evergraph.data.on_disk import count_loops, described, has_weights, is_on_disk
from evergraph.data.remote.place import Place
from evergraph.data.standardise import Standardisation, standardise
from evergraph.tables import Batch

AT_ONCE = 1 << 18
"""Names that are read together."""
STEPS = Standardisation(undirected=False, unweighted=False, largest_component=False)
"""As with tables, only self-loops are left out."""
DIRECTED = (
    "edges of the folder count in their direction, so nodes learn from those that point at them alone; "
    "evergraph data convert --set dataset.options.directed=false makes one without directions"
)


def folder_batch(folder: Path | Place) -> Batch:
    """The nodes and edges in a folder; it stays on disk where it does not fit into the budget of memory."""
    graph = read_folder(folder)
    tidy = standardise(graph, STEPS)
    return Batch(
        ids=np.arange(graph.n_nodes) if graph.node_names is None else _ids(graph.node_names),
        labels=_labels(graph),
        adjacency=tidy.adjacency,
        attributes=tidy.features,
        times=graph.times,
        directed=graph.directed,
        remarks=(*graph.remarks, *_remarks(graph)),
        column_names=graph.feature_names,
        named=graph.node_names is not None,
    )


def _remarks(graph: Graph) -> list[str]:
    """What a person must know of edges, and the plan where they stay on disk."""
    loops = count_loops(graph)
    found = [f"{loops:,} self-loops left out"] if loops else []
    found += ["edge weights of the folder are used"] if has_weights(graph.adjacency) else []
    found += [DIRECTED] if graph.directed else []
    return [*found, described(graph.n_nodes, graph.n_features)] if is_on_disk(graph) else found


def _labels(graph: Graph) -> NDArray[np.object_]:
    """Names of classes, or whole numbers of any size: nothing here is as large as a label."""
    if graph.class_names is None:
        return np.asarray(graph.labels).astype(object)
    named: NDArray[np.object_] = np.array([*graph.class_names, None], dtype=object)[graph.labels]
    return named  # None kept text from becoming an array of text


def _ids(names: NDArray[np.str_]) -> NDArray[np.str_] | NDArray[np.int64]:
    """Names of nodes as whole numbers where all of them are, as in a table."""
    numbers = np.empty(len(names), dtype=np.int64)
    for start in range(0, len(names), AT_ONCE):
        here = slice(start, start + AT_ONCE)
        try:
            numbers[here] = names[here].astype(np.int64)
        except (ValueError, OverflowError):
            return np.asarray(names)
        if not np.array_equal(numbers[here].astype(names.dtype), names[here]):
            return np.asarray(names)
    return numbers
