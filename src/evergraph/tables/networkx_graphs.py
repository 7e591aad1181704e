"""Batches from NetworkX graphs, which are known by what they have: NetworkX is not imported."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.errors import ConfigError, DataError
from evergraph.matrices import adjacency_from_edges, forbid_repeated
from evergraph.tables.arrays import DIRECTIONS, WEIGHTS
from evergraph.tables.batch import Batch, batch_from_tables
from evergraph.tables.edges import Duplicates, forbids_duplicates, tidied, two_weights
from evergraph.tables.ids import checked_ids
from evergraph.tables.roles import WEIGHT
from evergraph.tables.table import Table


def is_networkx(value: object) -> bool:
    return all(hasattr(value, name) for name in ("nodes", "edges", "is_directed", "is_multigraph"))


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
