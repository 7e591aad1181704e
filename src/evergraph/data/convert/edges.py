"""The edges of a table as CSR files: ends looked up, entries sorted on disk, rows written as they come."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.data.convert.ids import Ids
from evergraph.data.convert.plan import Plan
from evergraph.data.convert.sorting import UNCOUNTED, ExternalSort, Records
from evergraph.data.datasets.arrays import about
from evergraph.data.datasets.files import MERGE, NO_EDGES, FileOptions
from evergraph.data.graph_folder import NpyWriter
from evergraph.errors import DataError
from evergraph.matrices import repeated_edges
from evergraph.splitmix import mixed
from evergraph.tables import Duplicates, Table
from evergraph.tables.edges import edge_weights, end_column, no_weight, unknown_end
from evergraph.tables.ids import comparable
from evergraph.tables.order import BLOCK
from evergraph.tables.reading import column_names, find_row, no_rows, read_chunks
from evergraph.tables.roles import SOURCE, TARGET, WEIGHT
from evergraph.tables.spill import Spill

ENDS = (SOURCE, TARGET)


@dataclass(frozen=True)
class EdgesWritten:
    """entries: of the adjacency; directed: whether it differs from its transpose."""

    entries: int
    directed: bool


class EdgeConversion:
    """One table of edges on its way to indptr.npy, indices.npy and data.npy."""

    def __init__(self, path: Path, ids: Ids, nodes: str, options: FileOptions, plan: Plan, scratch: Path):
        self.path, self.ids, self.nodes, self.options, self.plan = path, ids, nodes, options, plan
        self.scratch = scratch
        header = Table(path.name, {name: np.empty(0) for name in column_names(path)})
        for end in ENDS:
            end_column(header, end, end)
        self.weighted = WEIGHT in header.columns
        self.table_rows = plan.table_rows(len(header.columns))
        self.step = min(BLOCK, plan.lookup)
        self._weights = Spill(scratch / "weights.given", np.float32)
        self._count = 0
        self._no_weight = 0

    def write(self, folder: Path) -> EdgesWritten:
        """Write the three files; DataError with the line for whatever is wrong with the table."""
        rows = {end: self._found(end, *wanted) for end, wanted in self._scanned().items()}
        sorter = self._sorted(rows[SOURCE], rows[TARGET])
        for spill in rows.values():
            spill.remove()
        return _Csr(self.ids.count, wide=sorter.total > np.iinfo(np.int32).max - 1).write(
            folder, self._checked(sorter)
        )

    @property
    def remarks(self) -> list[str]:
        """What became of edges, after `write`."""
        return no_weight(self._no_weight, self.path.name)

    def _scanned(self) -> dict[str, tuple[Spill, Spill | None, tuple[int, int]]]:
        """For both ends keys, other keys, and the first and the number of ids that cannot be nodes."""
        keys = {end: Spill(self.scratch / f"{end}.keys", np.int64) for end in ENDS}
        others = {end: Spill(self.scratch / f"{end}.others", np.int64) for end in ENDS}
        strangers = dict.fromkeys(ENDS, (-1, 0))
        differ = dict.fromkeys(ENDS, False)
        for table in read_chunks(self.path, self.table_rows, verbatim=ENDS):
            for end in ENDS:
                wanted = self.ids.wanted(table.column(end), table, end)
                keys[end].append(wanted.keys)
                if wanted.others is not None:
                    others[end].append(wanted.others)
                    differ[end] = differ[end] or wanted.others is not wanted.keys
                if len(wanted.strangers):
                    first, count = strangers[end]
                    first = self._count + int(wanted.strangers[0]) if first < 0 else first
                    strangers[end] = first, count + len(wanted.strangers)
            if self.weighted:
                weights = edge_weights(table, WEIGHT)
                self._no_weight += int(np.count_nonzero(weights == 0))
                self._weights.append(weights)
            self._count += table.n_rows
        if not self._count:
            raise no_rows(self.path.name, NO_EDGES)
        for end in ENDS:
            if not differ[end]:
                others[end].remove()
        return {end: (keys[end], others[end] if differ[end] else None, strangers[end]) for end in ENDS}

    def _found(self, end: str, keys: Spill, others: Spill | None, strangers: tuple[int, int]) -> Spill:
        """The rows of one end of all edges; an id that no node has raises."""
        rows = Spill(self.scratch / f"{end}.rows", np.int64)
        for start in range(0, len(keys), self.step):
            rows.append(np.full(min(self.step, len(keys) - start), -1))
        for wanted in (keys,) if others is None else (keys, others):
            for low in range(0, self.ids.count, self.plan.lookup):
                high = min(low + self.plan.lookup, self.ids.count)
                for start in range(0, len(keys), self.step):
                    before = rows[start : start + self.step]
                    found = self.ids.rows_of(wanted[start : start + self.step], low, high)
                    rows.put(start, np.where(before < 0, found, before))
            wanted.remove()
        first, count = strangers
        for start in range(0, len(rows), self.step):
            unknown = start + np.flatnonzero(rows[start : start + self.step] < 0)
            if len(unknown):
                count += len(unknown)
                first = int(unknown[0]) if first < 0 else min(first, int(unknown[0]))
        if count:
            raise self._unknown(end, first, count)
        return rows

    def _unknown(self, end: str, edge: int, count: int) -> DataError:
        table, row = self._place(edge)
        value = comparable(table.column(end), table, end, floated=False)[row]
        shown = value.item() if isinstance(value, np.generic) else value
        return unknown_end(table.where(row), end, self.nodes, shown, count)

    def _place(self, edge: int) -> tuple[Table, int]:
        return find_row(self.path, edge, self.table_rows, verbatim=ENDS)

    def _sorted(self, source: Spill, target: Spill) -> ExternalSort:
        """Entries by row and column, both ways where edges have no direction."""
        sorter = ExternalSort(self.scratch, "edges", self.plan.sort)
        n, step = self.ids.count, min(self.step, self.plan.sort)
        for start in range(0, self._count, step):
            ends = source[start : start + step], target[start : start + step]
            weight = self._weights[start : start + step] if self.weighted else None
            low, high = ends if self.options.directed else (np.minimum(*ends), np.maximum(*ends))
            sorter.add(low * n + high, np.arange(start, start + len(low)), weight)
            if not self.options.directed:
                back = low != high
                backward = None if weight is None else weight[back]
                key = high[back] * n + low[back]
                sorter.add(key, np.full(len(key), UNCOUNTED), backward)
        return sorter

    def _checked(self, sorter: ExternalSort) -> Any:
        """The sorted entries; at the end, repeated ones raise unless they are merged."""
        for keys, numbers, weights in sorter.merged():
            yield keys, numbers, weights if self.weighted else np.ones_like(weights)
        sorter.remove()
        if sorter.repeated and self.options.duplicates is Duplicates.ERROR:
            table, row = self._place(sorter.again)
            with about(self.path):
                raise repeated_edges(table.where(row), sorter.repeated, MERGE)


class _Csr:
    """Writes sorted entries as CSR; sums of hashes of them and of their transpose tell whether it is symmetric."""

    def __init__(self, n_nodes: int, *, wide: bool):
        self.n_nodes = n_nodes
        self.index = np.dtype("<i8" if wide or n_nodes >= np.iinfo(np.int32).max else "<i4")
        self.entries = 0
        self.row = 0
        self.forward, self.backward = np.zeros(2, dtype=np.uint64), np.zeros(2, dtype=np.uint64)

    def write(self, folder: Path, sorted_entries: Any) -> EdgesWritten:
        with (
            NpyWriter(folder / "indptr.npy", self.index) as indptr,
            NpyWriter(folder / "indices.npy", self.index) as indices,
            NpyWriter(folder / "data.npy", "<f4") as data,
        ):
            indptr.append(np.zeros(1))
            for entries in sorted_entries:
                rows, columns, weights = self._kept(entries)
                if len(rows):
                    indices.append(columns)
                    data.append(weights)
                    self._add_rows(indptr, rows)
            self._finish_rows(indptr, np.empty(0, dtype=np.int64), self.n_nodes)
        return EdgesWritten(self.entries, bool(np.any(self.forward != self.backward)))

    def _kept(self, entries: Records) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Rows, columns and weights, without weights of zero."""
        keys, _, weights = entries
        if not np.isfinite(weights).all():
            raise DataError("every sum of edge weights must fit 32 bits, got a larger one instead; scale them down")
        keys, weights = (keys, weights) if weights.all() else (keys[weights != 0], weights[weights != 0])
        rows, columns = np.divmod(keys, self.n_nodes)
        self.forward += _hashes(keys, weights)
        self.backward += _hashes(columns * self.n_nodes + rows, weights)
        return rows, columns, weights

    def _add_rows(self, indptr: NpyWriter, rows: NDArray[np.int64]) -> None:
        """Where rows end, but for the last of them, which may go on."""
        self._finish_rows(indptr, rows, int(rows[-1]))
        self.entries += len(rows)

    def _finish_rows(self, indptr: NpyWriter, rows: NDArray[np.int64], stop: int) -> None:
        for start in range(self.row, stop, BLOCK):
            ends = np.searchsorted(rows, np.arange(start, min(start + BLOCK, stop)), side="right")
            indptr.append(self.entries + ends)
        self.row = max(self.row, stop)


def _hashes(keys: NDArray[np.int64], weights: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Two sums of hashes of entries, equal for the same entries in any order."""
    bits = np.ascontiguousarray(weights, dtype=np.float32).view(np.uint32).astype(np.uint64)
    first = mixed(keys.view(np.uint64) ^ mixed(bits))
    return np.array([first.sum(dtype=np.uint64), mixed(first + np.uint64(1)).sum(dtype=np.uint64)], dtype=np.uint64)
