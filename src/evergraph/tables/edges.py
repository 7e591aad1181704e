"""Edges of a table: their ends among the ids, their weights, and the adjacency."""

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evergraph.errors import ConfigError, DataError
from evergraph.matrices import adjacency_from_edges, forbid_repeated, plain_adjacency
from evergraph.tables.ids import comparable, rows_of
from evergraph.tables.roles import SOURCE, TARGET, WEIGHT
from evergraph.tables.table import Table


class Duplicates(Enum):
    """What happens to an edge that is listed more than once."""

    ERROR = "error"
    MERGE = "merge"


def edge_ends(
    edges: Table, ids: NDArray[Any], nodes: str, columns: tuple[str, str] = (SOURCE, TARGET)
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of both ends of each edge; an end that the node table does not have raises."""
    found = []
    for end, name in zip((SOURCE, TARGET), columns, strict=True):
        wanted = comparable(end_column(edges, name, end), edges, name)
        rows = rows_of(ids, wanted)
        unknown = np.flatnonzero(rows < 0)
        if len(unknown):
            value = wanted[unknown[0]]
            shown = value.item() if isinstance(value, np.generic) else value
            raise unknown_end(edges.where(int(unknown[0])), name, nodes, shown, len(unknown))
        found.append(rows)
    return found[0], found[1]


def end_column(edges: Table, name: str, end: str) -> NDArray[Any]:
    """The column of one end of the edges, SOURCE or TARGET."""
    advice = "" if name != end else f"; name the column of {end} ids (--{end}-column, {end}_column)"
    return edges.column(name, advice)


def unknown_end(place: str, column: str, nodes: str, node: object, count: int) -> DataError:
    """The error about an edge to a node that the table of nodes does not have."""
    return DataError(
        f"{place} must have a {column} from {nodes}, got {node!r} instead; add the "
        f"node, also one of an earlier file, or remove the edge ({count:,} such edge{'' if count == 1 else 's'})"
    )


def edge_weights(edges: Table, name: str) -> NDArray[np.float32]:
    """A column of weights; one that is negative or no number raises."""
    weight = edges.doubles(name)
    bad = np.flatnonzero(weight < 0)
    if len(bad):
        raise edges.refusal(int(bad[0]), name, "finite and not negative", "; remove the edge or mend its weight")
    return weight.astype(np.float32)


def edge_adjacency(
    edges: Table | None,
    ids: NDArray[Any],
    nodes: str,
    columns: tuple[str, str, str | None],
    *,
    directed: bool,
    duplicates: Duplicates,
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """The adjacency of a table of edges, and remarks on what was done to them."""
    forbids = forbids_duplicates(duplicates)
    if edges is None:
        return sparse.csr_array((len(ids), len(ids)), dtype=np.float32), ()
    source, target, weight_column = columns
    ends = edge_ends(edges, ids, nodes, (source, target))
    weight = None if weight_column is None else edge_weights(edges, weight_column)
    if forbids:
        forbid_repeated(ends, edges.where)
    listed = adjacency_from_edges(*ends, len(ids), weight, merge_duplicates=True)
    remarks = []
    if len(ends[0]) > listed.nnz:
        remarks.append(f"{edges.name}: {len(ends[0]) - listed.nnz:,} repeated edges merged")
    listed.eliminate_zeros()
    others = [name for name in edges.columns if name not in columns]
    if weight_column is None and WEIGHT in others:
        others.remove(WEIGHT)
        advice = "name their column (--weight-column, weight_column) to use them"
        remarks.append(f"{edges.name}: edge weights are not used; {advice}")
    if others:
        remarks.append(f"{edges.name}: columns that are not used: {', '.join(map(repr, others))}")
    if weight is not None:
        remarks += no_weight(int(np.count_nonzero(weight == 0)), edges.name)
    if weight is not None and not directed:
        remarks += two_weights(listed, edges.name)
    made, more = tidied(listed, directed=directed, weighted=weight is not None)
    return made, (*remarks, *(f"{edges.name}: {remark}" for remark in more))


def forbids_duplicates(duplicates: Duplicates | str) -> bool:
    """Whether a repeated edge is an error; ConfigError for anything but the two ways."""
    if duplicates not in (*Duplicates, *(one.value for one in Duplicates)):
        raise ConfigError(f'duplicates must be "error" or "merge", got {duplicates!r} instead')
    return Duplicates(duplicates) is Duplicates.ERROR


def no_weight(count: int, name: str) -> list[str]:
    """A remark where so many edges have the weight 0."""
    if not count:
        return []
    edges, are = ("1 edge", "is") if count == 1 else (f"{count:,} edges", "are")
    return [f"{name}: {edges} of weight 0 {are} left out"]


def two_weights(listed: sparse.csr_array, name: str) -> list[str]:
    """A remark where pairs are listed both ways with different weights, of which the larger counts."""
    back = sparse.csr_array(listed.T)
    unlike = listed.multiply(back > 0) - back.multiply(listed > 0)
    pairs = int(np.count_nonzero(unlike.data)) // 2
    if not pairs:
        return []
    told = f"{name}: {pairs:,} pairs are listed both ways with different weights, of which the larger counts"
    return [f"{told}; keep directions (--directed, directed=True) or add them up before"]


def tidied(
    adjacency: sparse.csr_array, *, directed: bool, weighted: bool
) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """The adjacency without self-loops, and without directions and weights unless they are wanted."""
    loops = int(np.count_nonzero(adjacency.diagonal()))
    made = plain_adjacency(adjacency, directed=directed, weighted=weighted, self_loops=False)
    return made, ((f"{loops:,} self-loops left out",) if loops else ())
