"""A custom graph: an .npz archive, an edge list beside a node table in CSV or Parquet, or a graph folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator
from scipy import sparse

from evergraph.config import Settings, changed_settings, usable_path
from evergraph.data.datasets.arrays import Arrays, about, read_arrays, require
from evergraph.data.datasets.npz import KEYS, graph_from, no_features
from evergraph.data.graph import Features, Graph, adjacency_from_edges, make_graph
from evergraph.data.graph_folder import MANIFEST, read_folder
from evergraph.data.remote.place import Place
from evergraph.errors import ConfigError, DataError
from evergraph.matrices import forbid_repeated
from evergraph.tables import Batch, Duplicates, FeatureSchema, Table, batch_from_tables, read_table
from evergraph.tables.edges import edge_ends, edge_weights, no_weight
from evergraph.tables.reading import SUFFIXES, table_suffix
from evergraph.tables.roles import NO_NODES
from evergraph.tables.values import is_number


def _usable(path: Path) -> Path:
    return Path(usable_path(str(path)))


class FileOptions(Settings):
    """How a graph file is read: the node table of an edge list, its columns, direction and repeated edges."""

    nodes: Annotated[Path, AfterValidator(_usable)] | None = None
    """The node table of an edge list; without it, the one beside it whose name has nodes for edges."""
    directed: bool = True
    """Whether a listed edge has a direction."""
    duplicates: Duplicates = Duplicates.ERROR
    """What happens to an edge that is listed more than once: an error, or merged to one."""
    id_column: str | None = None
    """Column of the node ids."""
    label_column: str | None = None
    """Column of the classes."""
    time_column: str | None = None
    """Column of the times at which nodes arrive."""
    ignore: tuple[str, ...] = ()
    """Columns that are no features."""
    numbers: tuple[str, ...] = ()
    """Columns that are numbers, whatever they look like."""
    categories: tuple[str, ...] = ()
    """Columns that are categories, whatever they look like."""
    scale: bool = True
    """Numbers get mean 0 and deviation 1."""


NO_EDGES = "add a row for each edge"
MERGE = "remove them or merge them: --set dataset.options.duplicates=merge"
COLUMN_OPTIONS = ("id_column", "label_column", "time_column", "ignore", "numbers", "categories", "scale")


def read_graph(where: Path | Place, options: FileOptions) -> Graph:
    """The graph in a file, by its suffix; DataError with one sentence for whatever is wrong with it."""
    place = where if isinstance(where, Place) else Place(where)
    path = place.path
    if path.is_dir():
        _forbid_folder_options(place.address or path, options)
        return read_folder(place)
    is_table = table_suffix(path) is not None
    if not is_table and path.suffix.lower() != ".npz":
        raise DataError(
            f"a graph file must end in .npz, {', '.join(SUFFIXES)}, or be a graph folder, got {path} instead"
        )
    if not path.is_file():
        raise DataError(f"{path} must be a graph file, got no such file instead; check the path")
    if is_table:
        return graph_from_tables(path, options)
    _forbid_table_options(path, options)
    with about(path):
        arrays = read_arrays(path, (*KEYS, "edge_index", "x", "y"))
        return (
            _from_edge_index(arrays, path, options) if "edge_index" in arrays else _from_csr(arrays, path, options)
        )


def _forbid_folder_options(path: Path | str, options: FileOptions) -> None:
    for name in changed_settings(options):
        raise ConfigError(
            f"{name} goes with tables, got it for the graph folder {path} instead; give it to evergraph data "
            "convert"
        )


def _forbid_table_options(path: Path, options: FileOptions) -> None:
    if options.nodes is not None:
        raise ConfigError(f"a node table goes with an edge list, got one for {path.name} instead; leave it out")
    changed = changed_settings(options)
    for name in COLUMN_OPTIONS:
        if name in changed:
            raise ConfigError(f"{name} goes with a node table, got it for {path.name} instead; leave it out")


def files_of(path: Path, options: FileOptions) -> tuple[Path, ...]:
    """The files that `read_graph` reads."""
    if path.is_dir():
        return (path / MANIFEST,)  # it has the checksums of all others
    if table_suffix(path) is None:
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
    """The layout source,target[,weight] for the edges and id,label[,time],attributes… for the nodes."""
    edges = read_table(path, verbatim=("source", "target"), if_empty=NO_EDGES)
    names = {options.id_column or "id", options.label_column or "label"}
    nodes = read_table(options.nodes or _node_table(path), verbatim=names, if_empty=NO_NODES)
    batch = batch_from_tables(
        nodes,
        None,
        id_column=options.id_column,
        label_column=options.label_column or "label",
        time_column=options.time_column,
        ignore=options.ignore,
    )
    labels, class_names = numbered_labels(nodes, batch.labels)
    ends = edge_ends(edges, batch.ids, nodes.name)
    weight = edge_weights(edges, "weight") if "weight" in edges.columns else None
    with about(path):
        adjacency = _adjacency(ends, weight, batch.n_nodes, options, edges.where)
    features, feature_names, remarks = _features(batch, nodes.name, options)
    left_out = [] if weight is None else no_weight(int(np.count_nonzero(weight == 0)), edges.name)
    with about(path if nodes.path is None else nodes.path):
        return make_graph(
            adjacency,
            features,
            labels,
            name=path.name.split(".")[0],
            class_names=class_names,
            feature_names=feature_names,
            remarks=(*remarks, *left_out),
            times=batch.times,
            node_names=np.array(batch.id_text()),
        )


def _features(
    batch: Batch, file: str, options: FileOptions
) -> tuple[Features | None, tuple[str, ...] | None, tuple[str, ...]]:
    """The features of a node table, their names, and what became of each column."""
    schema = FeatureSchema.fit(batch, scale=options.scale, numbers=options.numbers, categories=options.categories)
    features, remarks = schema.encode_with_remarks(batch)
    said = (f"columns of {file}: {schema.summary()}", *remarks) if batch.attributes is not None else ()
    if not schema.columns:
        return None, None, (*said, no_features(file))
    return features, schema.feature_names, said


def _node_table(edges: Path) -> Path:
    """The table beside the edge list whose name has 'nodes' for 'edges', of the same kind if there is a choice."""
    own = table_suffix(edges) or ""
    name = edges.name[: len(edges.name) - len(own)]
    stem = name.replace("edges", "nodes") if "edges" in name else "nodes"
    for suffix in sorted(SUFFIXES, key=lambda suffix: suffix != own):
        if edges.with_name(stem + suffix).is_file():
            return edges.with_name(stem + suffix)
    raise DataError(
        f"the edge list {edges.name} needs its node table {stem}{own} in the same folder (or as "
        f"{', '.join(suffix for suffix in SUFFIXES if suffix != own)}), got none instead; "
        f"put it there or name it: --set dataset.options.nodes={stem}{own}"
    )


def numbered_labels(nodes: Table, names: NDArray[np.object_]) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
    """Whole numbers as they are; anything else as names, numbered in their sorted order."""
    for row, label in enumerate(names):
        if label is None:
            raise DataError(
                f"{nodes.where(row)} must have a label, got '' instead; "
                "fill it in or remove the row, since a run needs every label"
            )
    text = [str(label) for label in names]
    if all(map(is_number, text)) and all(float(label) < 2**53 for label in text):
        return np.array([int(float(label)) for label in text], dtype=np.int64), None
    found, labels = np.unique(np.array(text), return_inverse=True)
    return labels.astype(np.int64), tuple(found.tolist())


def _adjacency(
    ends: tuple[NDArray[np.int64], NDArray[np.int64]],
    weight: NDArray[np.float32] | None,
    n_nodes: int,
    options: FileOptions,
    where: Callable[[int], str] = "edge {}".format,
) -> sparse.csr_array:
    """Edges as an adjacency, both ways where they have no direction; repeated ones as the options say."""
    low, high = ends if options.directed else (np.minimum(*ends), np.maximum(*ends))
    if options.duplicates is Duplicates.ERROR:
        forbid_repeated((low, high), where, MERGE)
    if not options.directed:
        back = low != high
        low, high = np.concatenate([low, high[back]]), np.concatenate([high, low[back]])
        weight = None if weight is None else np.concatenate([weight, weight[back]])
    return adjacency_from_edges(low, high, n_nodes, weight, merge_duplicates=True)
