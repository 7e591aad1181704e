"""Batches from what other libraries hold: pandas frames, NetworkX graphs, PyG data, scipy matrices and arrays.

No library is imported here: objects are known by what they have.
"""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evergraph.errors import ConfigError, DataError
from evergraph.matrices import adjacency_from_edges, checked_adjacency, checked_features, forbid_repeated
from evergraph.tables.batch import (
    ID,
    NO_NODES,
    SOURCE,
    TARGET,
    TIME,
    WEIGHT,
    Batch,
    Duplicates,
    batch_from_tables,
    checked_ids,
    forbids_duplicates,
    tidied,
    time_values,
    two_weights,
)
from evergraph.tables.labels import Labels, labels_of, plain
from evergraph.tables.table import Table
from evergraph.tables.values import array_of

DIRECTIONS = "directions of the edges are not used (directed=True keeps them)"
TRAIN_MASK, TEST_MASK = "train_mask", "test_mask"
WEIGHTS = "edge weights are not used ({} keeps them)"


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
    elif _is_networkx(graph):
        batch = _adapted(batch_from_networkx, "a NetworkX graph", (graph,), options)
    elif _is_frame(graph):
        batch = _adapted(batch_from_frames, "a frame of nodes", (graph,), options)
    elif isinstance(graph, tuple | list) and len(graph) == 2 and _is_frame(graph[0]):
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
        given = replace(given, labels=_masked(graph, given.labels, options.get("mask", TRAIN_MASK)))
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
    if not (_is_frame(nodes) and hasattr(labels, "index") and hasattr(labels, "iloc")) or len(labels) != len(nodes):
        return
    wanted = [nodes.index, *([nodes[ID]] if ID in nodes.columns else [])]
    came = labels.index.tolist()
    if came == list(range(len(came))) or any(came == list(index) for index in wanted):
        return
    if any(set(came) == set(index) for index in wanted):
        raise DataError("labels must be in the order of the nodes, got a column in another order; use y.loc[ids]")


def _is_frame(value: object) -> bool:
    return hasattr(value, "columns") and hasattr(value, "index") and hasattr(value, "iloc")


def _is_networkx(value: object) -> bool:
    return all(hasattr(value, name) for name in ("nodes", "edges", "is_directed", "is_multigraph"))


# pandas


def batch_from_frames(
    nodes: Any,
    edges: Any = None,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    time_column: str | None = None,
    ignore: Collection[str] = (),
    source_column: str = SOURCE,
    target_column: str = TARGET,
    weight_column: str | None = None,
    directed: bool = False,
    duplicates: Duplicates = Duplicates.ERROR,
    label_optional: bool = False,
) -> Batch:
    """Pandas frames of nodes and edges; the ids are the column `id`, or the index where there is none.

    An index 0, 1, 2, … numbers rows and names no node.
    """
    table = table_from_frame(nodes, "the node frame")
    ids, numbered = None, False
    if id_column is None and ID not in table.columns:
        ids = checked_ids(np.asarray(nodes.index.to_numpy()), table)
        numbered = ids.dtype.kind == "i" and np.array_equal(ids, np.arange(len(ids)))
    made = batch_from_tables(
        table,
        None if edges is None else table_from_frame(edges, "the edge frame", "give None for no edges"),
        ids=ids,
        id_column=id_column,
        label_column=label_column,
        time_column=time_column,
        ignore=ignore,
        source_column=source_column,
        target_column=target_column,
        weight_column=weight_column,
        directed=directed,
        duplicates=duplicates,
        label_optional=label_optional,
    )
    return replace(made, named=not numbered)


def table_from_frame(frame: Any, name: str, if_empty: str = NO_NODES) -> Table:
    """A pandas frame as a table; types of pandas become what they stand for, and categories are remembered."""
    if not _is_frame(frame):
        raise DataError(f"{name} must be a pandas DataFrame, got {type(frame).__name__} instead")
    names = [str(column) for column in frame.columns]
    levels = getattr(frame.columns, "nlevels", 1)
    if levels > 1:
        one = tuple(map(str, frame.columns[0]))
        raise DataError(
            f"{name} must have plain names of columns, got names of {levels} levels such as {one} instead; "
            "give each column one name (frame.columns = [...])"
        )
    if len(set(names)) < len(names):
        raise DataError(f"{name} must name every column once, got {', '.join(names)} instead")
    if not len(frame):
        raise DataError(f"{name} must have at least one row, got none instead; {if_empty}")
    series = {column: frame.iloc[:, at] for at, column in enumerate(names)}
    typed = frozenset(column for column, each in series.items() if hasattr(each.dtype, "categories"))
    return Table(name, {column: _series(each) for column, each in series.items()}, categorical=typed)


def _series(series: Any) -> NDArray[Any]:
    """A column of pandas as numpy: one of numpy's own types as it is, any other as objects."""
    if isinstance(series.dtype, np.dtype):
        return np.asarray(series.to_numpy())
    if hasattr(series.dtype, "tz"):
        return np.asarray(series.to_numpy(dtype="datetime64[us]"))
    return np.asarray(series.astype(object).to_numpy(), dtype=object)


# NetworkX


def batch_from_networkx(
    graph: Any,
    *,
    label: str | None = None,
    time: str | None = None,
    weight: str | None = None,
    label_column: str | None = None,
    time_column: str | None = None,
    weight_column: str | None = None,
    ignore: Collection[str] = (),
    directed: bool = False,
    duplicates: Duplicates = Duplicates.ERROR,
    label_optional: bool = False,
) -> Batch:
    """A NetworkX graph whose nodes have attributes; a node without one has a missing value.

    label, time: attributes of nodes; weight: the attribute of edges that is their weight; label_column, time_column
    and weight_column are other names of the same. duplicates: what happens to parallel edges of a multigraph.
    """
    if not graph.number_of_nodes():
        raise DataError("the graph must have at least one node, got an empty graph instead")
    weight = _one_of("weight", weight, weight_column)
    given = list(graph.nodes(data=True))
    names = dict.fromkeys(name for _, attributes in given for name in attributes)
    columns = {str(name): _column([attributes.get(name) for _, attributes in given]) for name in names}
    table = Table("the NetworkX graph", columns)
    ids = checked_ids(_column([node for node, _ in given]), table)
    made = batch_from_tables(
        table,
        None,
        ids=ids,
        label_column=_one_of("label", label, label_column),
        time_column=_one_of("time", time, time_column),
        ignore=ignore,
        label_optional=label_optional,
    )
    rows = {node: row for row, (node, _) in enumerate(given)}
    adjacency, remarks = _networkx_edges(graph, rows, weight, directed=directed, duplicates=duplicates)
    kept = directed and bool(graph.is_directed())
    return replace(made, adjacency=adjacency, directed=kept, remarks=(*made.remarks, *remarks))


def _one_of(name: str, short: str | None, long: str | None) -> str | None:
    """The value of an option that has two names."""
    if short is not None and long is not None and short != long:
        raise ConfigError(f"{name} or {name}_column is wanted, got both; leave one out")
    return long if short is None else short


def _networkx_edges(
    graph: Any, rows: Mapping[Any, int], weight: str | None, *, directed: bool, duplicates: Duplicates
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """The adjacency of a NetworkX graph, and remarks on what was done to its edges."""
    listed = list(graph.edges())
    source, target = np.array([(rows[one], rows[other]) for one, other in listed], dtype=np.int64).reshape(-1, 2).T
    values = None if weight is None else _edge_weights(graph, weight)
    if forbids_duplicates(duplicates):
        advice = "remove them, or merge them (duplicates='merge'; weights are added)"
        forbid_repeated((source, target), lambda row: "the edge {!r} to {!r}".format(*listed[row]), advice)
    adjacency = adjacency_from_edges(source, target, len(rows), values, merge_duplicates=True)
    remarks = []
    if len(listed) > adjacency.nnz:
        remarks.append(f"{len(listed) - adjacency.nnz:,} repeated edges merged")
    if weight is None and any(value != 1 for *_, value in graph.edges(data=WEIGHT, default=1)):
        remarks.append(WEIGHTS.format(f"weight={WEIGHT!r}"))
    one_way = bool(graph.is_directed())
    if not one_way:
        adjacency = sparse.csr_array(adjacency.maximum(adjacency.T))
    elif not directed:
        remarks += [DIRECTIONS, *([] if weight is None else two_weights(adjacency, "the NetworkX graph"))]
    made, more = tidied(adjacency, directed=directed and one_way, weighted=weight is not None)
    return made, (*remarks, *more)


def _edge_weights(graph: Any, name: str) -> NDArray[np.float32]:
    values = [weight for *_, weight in graph.edges(data=name)]
    for (*ends, _), value in zip(graph.edges(data=name), values, strict=True):
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not 0 <= value <= np.finfo(np.float32).max:
            raise DataError(
                f"the edge {ends[0]!r} to {ends[1]!r} must have a {name} that is finite and not negative, "
                f"got {value!r} instead"
            )
    return np.array(values, dtype=np.float32)


def _column(values: list[Any]) -> NDArray[Any]:
    """Values as objects, whatever they are."""
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result


# arrays


def batch_from_arrays(
    adjacency: sparse.sparray | sparse.spmatrix,
    features: ArrayLike | sparse.sparray | sparse.spmatrix | None,
    labels: Labels | None = None,
    *,
    ids: ArrayLike | None = None,
    times: ArrayLike | None = None,
    directed: bool = False,
    weighted: bool = False,
) -> Batch:
    """A scipy adjacency and numbers without names, which are taken as given.

    Ids are the row numbers unless they are given. Labels -1, None, NaN and "" are missing ones.
    """
    matrix = checked_adjacency(adjacency)
    n_nodes = int(matrix.shape[0])
    table = Table("the nodes", {ID: np.arange(n_nodes)})
    names = np.arange(n_nodes) if ids is None else checked_ids(np.asarray(ids), table)
    if names.shape != (n_nodes,):
        raise DataError(f"there must be one id for each of the {n_nodes} nodes, got {len(names)} instead")
    made, remarks = tidied(matrix, directed=directed, weighted=weighted)
    if not directed and (matrix != matrix.T).nnz:
        remarks = (DIRECTIONS, *remarks)
    if not weighted and np.any(matrix.data != 1):
        remarks = (WEIGHTS.format("weighted=True"), *remarks)
    return Batch(
        ids=names,
        labels=np.full(n_nodes, None, dtype=object) if labels is None else labels_of(labels, n_nodes),
        adjacency=made,
        attributes=None if features is None else checked_features(features, n_nodes),
        times=None if times is None else _times(times, n_nodes),
        directed=directed,
        remarks=remarks,
        named=ids is not None,
    )


def _times(times: ArrayLike, n_nodes: int) -> NDArray[np.float64] | NDArray[np.int64]:
    values = np.asarray(times)
    if values.shape != (n_nodes,):
        raise DataError(f"there must be one time for each of the {n_nodes} nodes, got shape {values.shape} instead")
    return time_values(Table("the nodes", {TIME: values}), TIME)


# PyTorch Geometric


def batch_from_pyg(
    data: Any,
    *,
    ids: ArrayLike | None = None,
    mask: str | ArrayLike | None = TRAIN_MASK,
    directed: bool = False,
    weighted: bool = False,
) -> Batch:
    """A torch_geometric Data: edge_index, and x, y, train_mask, edge_weight and n_id where it has them.

    Labels outside of train_mask, or of the mask that is named or given, are missing, and so is -1; mask=None has
    all. n_id, or the ids given, say which node it is.
    """
    if getattr(data, "edge_index", None) is None:
        raise DataError(
            f"a Data with edge_index is wanted, got {type(data).__name__} without it instead; build it first"
        )
    ends = array_of(data.edge_index)
    if ends.ndim != 2 or len(ends) != 2 or ends.dtype.kind not in "iu":
        came = f"{ends.dtype} of shape {ends.shape}"
        raise DataError(f"edge_index must be two rows of whole numbers, got {came} instead")
    n_nodes = int(data.num_nodes)
    weight = _pyg_weight(data, ends.shape[1])
    adjacency = adjacency_from_edges(
        ends[0].astype(np.int64), ends[1].astype(np.int64), n_nodes, weight, merge_duplicates=True
    )
    x = getattr(data, "x", None)
    y = getattr(data, "y", None)
    batch = batch_from_arrays(
        adjacency,
        None if x is None else array_of(x),
        None if y is None else _pyg_labels(data, array_of(y), mask),
        ids=array_of(data.n_id) if ids is None and getattr(data, "n_id", None) is not None else ids,
        directed=directed,
        weighted=weighted,
    )
    if getattr(data, "edge_attr", None) is not None:
        return replace(batch, remarks=(*batch.remarks, "edge_attr is not used; edge_weight would be"))
    return batch


def _pyg_weight(data: Any, n_edges: int) -> NDArray[np.float32] | None:
    given = getattr(data, "edge_weight", None)
    weight = None if given is None else array_of(given).reshape(-1).astype(np.float32)
    if weight is not None and len(weight) != n_edges:
        raise DataError(f"there must be one edge_weight for each of the {n_edges} edges, got {len(weight)} instead")
    return weight


def scoring_options(graph: Any) -> dict[str, str | None]:
    """Which labels a score is about, where a graph says so: those of a PyG test_mask, else all of its labels."""
    if not hasattr(graph, "edge_index"):
        return {}
    return {"mask": TEST_MASK if getattr(graph, TEST_MASK, None) is not None else None}


def _pyg_labels(data: Any, labels: NDArray[Any], mask: str | ArrayLike | None) -> NDArray[np.object_]:
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    return _masked(data, labels_of(labels, int(data.num_nodes)), mask)


def _masked(data: Any, labels: NDArray[np.object_], mask: str | ArrayLike | None) -> NDArray[np.object_]:
    """Labels within a mask of a PyG Data, by its name, or one that is given; all without one."""
    name = mask if isinstance(mask, str) else "mask"
    found = getattr(data, mask, None) if isinstance(mask, str) else mask
    if found is None:
        if mask is None or name == TRAIN_MASK:
            return labels
        raise DataError(f"a mask called {name!r} is wanted, got a Data without it; name another with mask=")
    chosen = array_of(found)
    if chosen.shape != labels.shape or chosen.dtype.kind != "b":
        raise DataError(
            f"{name} must be true or false for each of the {len(labels):,} nodes, got {chosen.dtype} of "
            f"shape {chosen.shape} instead; take one split of it"
        )
    kept = labels.copy()
    kept[~chosen] = None
    return kept
