"""A custom graph: an .npz archive, or an edge list beside a node table in CSV or Parquet."""

from enum import Enum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.config import Settings
from evergraph.data.datasets.arrays import Arrays, about, read_arrays, require
from evergraph.data.datasets.npz import KEYS, graph_from, no_features
from evergraph.data.datasets.tables import Table, read_table
from evergraph.data.graph import Graph, adjacency_from_edges, make_graph
from evergraph.errors import ConfigError, DataError

TABLES = (".csv", ".parquet")


class Duplicates(Enum):
    """What happens to an edge that is listed more than once."""

    ERROR = "error"
    MERGE = "merge"


class FileOptions(Settings):
    """How a file is read: the node table of an edge list, whether edges have a direction, repeated edges."""

    nodes: Path | None = None
    directed: bool = True
    duplicates: Duplicates = Duplicates.ERROR


def read_graph(path: Path, options: FileOptions) -> Graph:
    """The graph in a file, by its suffix; DataError with one sentence for whatever is wrong with it."""
    suffix = path.suffix.lower()
    if suffix not in (".npz", *TABLES):
        raise DataError(f"a graph file must end in .npz, .csv or .parquet, got {path} instead")
    if not path.is_file():
        raise DataError(f"{path} must be a graph file, got no such file instead; check the path")
    if suffix != ".npz":
        return graph_from_tables(path, options)
    if options.nodes is not None:
        raise ConfigError(f"a node table goes with an edge list, got one for {path.name} instead; leave it out")
    with about(path):
        arrays = read_arrays(path, (*KEYS, "edge_index", "x", "y"))
        return (
            _from_edge_index(arrays, path, options) if "edge_index" in arrays else _from_csr(arrays, path, options)
        )


def files_of(path: Path, options: FileOptions) -> tuple[Path, ...]:
    """The files that `read_graph` reads."""
    if path.suffix.lower() not in TABLES:
        return (path,)
    return path, options.nodes or _node_table(path)


def _from_csr(arrays: Arrays, path: Path, options: FileOptions) -> Graph:
    if options.duplicates is not Duplicates.ERROR or not options.directed:
        raise ConfigError(
            f"directed and duplicates go with a list of edges, got them for the matrix in {path.name} instead; "
            "leave them out"
        )
    return graph_from(arrays, path, path.stem)


def _from_edge_index(arrays: Arrays, path: Path, options: FileOptions) -> Graph:
    """The layout edge_index (2, edges), x (nodes, features), y (nodes), time (nodes)."""
    require(arrays, ("edge_index", "y"))
    edges, labels = arrays["edge_index"], arrays["y"]
    if edges.ndim != 2 or edges.shape[0] != 2 or edges.dtype.kind not in "iu":
        raise DataError(
            f"edge_index must be two rows of whole numbers, got {edges.dtype} of shape {edges.shape} instead"
        )
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"y must hold one label per node, got shape {labels.shape} instead")
    source, target = edges.astype(np.int64)
    adjacency = _adjacency((source, target), None, len(labels), options)
    features = arrays.get("x")
    remarks = () if features is not None else (no_features(path.name),)
    return make_graph(adjacency, features, labels, name=path.stem, remarks=remarks, times=arrays.get("time"))


def graph_from_tables(path: Path, options: FileOptions) -> Graph:
    """The layout source,target[,weight] for the edges and id,label[,time],features… for the nodes."""
    edges = read_table(path)
    nodes = read_table(options.nodes or _node_table(path))
    rows = _rows_by_id(nodes)
    labels, class_names = _labels(nodes)
    ends = _ends(edges, "source", rows, nodes), _ends(edges, "target", rows, nodes)
    weight = edges.numbers(["weight"])[:, 0] if "weight" in edges.columns else None
    with about(path):
        adjacency = _adjacency(ends, weight, len(rows), options, edges)
    names = tuple(name for name in nodes.columns if name not in ("id", "label", "time"))
    times = nodes.times("time") if "time" in nodes.columns else None
    with about(nodes.path):
        return make_graph(
            adjacency,
            nodes.numbers(names) if names else None,
            labels,
            name=path.stem,
            class_names=class_names,
            feature_names=names or None,
            remarks=() if names else (no_features(nodes.path.name),),
            times=times,
            node_names=np.array(list(rows)),
        )


def _node_table(edges: Path) -> Path:
    """The table beside the edge list whose name has 'nodes' for 'edges', of the same kind if there is a choice."""
    stem = edges.stem.replace("edges", "nodes") if "edges" in edges.stem else "nodes"
    suffixes = sorted(TABLES, key=lambda suffix: suffix != edges.suffix.lower())
    for suffix in suffixes:
        if edges.with_name(stem + suffix).is_file():
            return edges.with_name(stem + suffix)
    raise DataError(
        f"the edge list {edges.name} needs its node table {stem}{suffixes[0]} or {stem}{suffixes[1]} in the same "
        f"folder, got neither instead; put it there or name it: --set dataset.options.nodes={stem}{suffixes[0]}"
    )


def _rows_by_id(nodes: Table) -> dict[str, int]:
    rows: dict[str, int] = {}
    for row, node in enumerate(nodes.text("id")):
        if rows.setdefault(node, row) != row:
            first = nodes.where(rows[node])
            raise DataError(f"{nodes.where(row)} must have an id of its own, got {node!r} of {first} instead")
    return rows


def _ends(edges: Table, end: str, rows: dict[str, int], nodes: Table) -> NDArray[np.int64]:
    ids = edges.text(end)
    result = np.array([rows.get(node, -1) for node in ids], dtype=np.int64)
    unknown = np.flatnonzero(result < 0)
    if len(unknown):
        raise DataError(
            f"{edges.where(int(unknown[0]))} must have a {end} from {nodes.path.name}, got {ids[unknown[0]]!r} "
            "instead; add the node or remove the edge"
        )
    return result


def _labels(nodes: Table) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Whole numbers as they are; anything else as names, numbered in their sorted order."""
    text = nodes.text("label")
    try:
        numbers = np.array([float(value) for value in text])
    except ValueError:
        names, labels = np.unique(np.array(text), return_inverse=True)
        return labels.astype(np.int64), tuple(names.tolist())
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers == np.floor(numbers)) & (numbers < 2**53)))
    if len(wrong):
        raise DataError(
            f"{nodes.where(int(wrong[0]))} must have a whole number that is not negative, or a name, as its label, "
            f"got {text[wrong[0]]} instead"
        )
    return numbers.astype(np.int64), None


def _adjacency(
    ends: tuple[NDArray[np.int64], NDArray[np.int64]],
    weight: NDArray[np.float32] | None,
    n_nodes: int,
    options: FileOptions,
    table: Table | None = None,
) -> sparse.csr_array:
    """Edges as an adjacency, both ways where they have no direction; repeated ones as the options say."""
    low, high = ends if options.directed else (np.minimum(*ends), np.maximum(*ends))
    if options.duplicates is Duplicates.ERROR:
        _forbid_duplicates(low, high, table)
    if not options.directed:
        back = low != high
        low, high = np.concatenate([low, high[back]]), np.concatenate([high, low[back]])
        weight = None if weight is None else np.concatenate([weight, weight[back]])
    return adjacency_from_edges(low, high, n_nodes, weight, merge_duplicates=True)


def _forbid_duplicates(source: NDArray[np.int64], target: NDArray[np.int64], table: Table | None) -> None:
    order = np.lexsort((np.arange(len(source)), target, source))
    same = (np.diff(source[order]) == 0) & (np.diff(target[order]) == 0)
    if same.any():
        row = int(order[1:][same].min())
        place = f"edge {row}" if table is None else table.where(row)
        raise DataError(
            f"every edge must be listed once, got {place} again instead ({int(same.sum())} repeated edges); "
            "remove them or merge them: --set dataset.options.duplicates=merge"
        )
