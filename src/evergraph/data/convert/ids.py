"""Ids on disk: gathered in chunks, sorted by a key of 64 bits, and looked up for the ends of edges."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.data.convert.plan import Plan
from evergraph.data.convert.sorting import ExternalSort
from evergraph.data.graph_folder import NpyWriter
from evergraph.errors import DataError
from evergraph.tables.ids import FLOATED, comparable, otherwise
from evergraph.tables.order import blocks
from evergraph.tables.spill import Spill
from evergraph.tables.table import Table

LONGEST = 1000
"""Characters of an id."""
WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
NAMES = 1 << 16
"""Ids that are handled as text together."""


NONE: NDArray[np.int64] = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Wanted:
    """keys: of ids that are looked up; others: of the same ids written in another way, None where there is none.

    strangers: the rows whose id cannot be one of the nodes, whatever is found.
    """

    keys: NDArray[np.int64]
    others: NDArray[np.int64] | None
    strangers: NDArray[np.int64]


class Ids:
    """The ids of nodes: whole numbers while all of them are, else text, which is in a file too."""

    def __init__(self, folder: Path, name: str):
        self.folder, self.name = folder, name
        self.numbers: Spill | None = Spill(folder / "ids.numbers", np.int64)
        self._lengths = Spill(folder / "ids.lengths", np.int32)
        self._text = folder / "ids.text"
        self._text.touch()
        self._floated = True
        self._salt = 0
        self._keys = Spill(folder / "ids.sorted", np.int64)
        self._rows = Spill(folder / "ids.rows", np.int64)
        self._known: tuple[int, NDArray[np.int64], NDArray[np.int64]] | None = None
        self.pointed = False
        self.count = 0

    def add(self, table: Table) -> None:
        """The ids of the next rows; one that is missing or too long raises."""
        found = comparable(table.column(self.name), table, self.name, floated=False)
        self.count += len(found)
        if found.dtype.kind == "i":
            if self.numbers is not None:
                self.numbers.append(found)
            else:
                self._write([str(number) for number in found.tolist()])
            return
        if self.numbers is not None:  # all before were numbers
            for part in blocks(self.numbers, NAMES):
                self._write([str(number) for number in part.tolist()])
            self.numbers.remove()
            self.numbers = None
        text = found.tolist()
        for row, node in enumerate(text):
            if len(node) > LONGEST:
                raise table.refusal(row, self.name, f"an id of at most {LONGEST:,} characters", "; shorten it")
        self._write(text)

    def _write(self, text: list[str]) -> None:
        self._floated = self._floated and all(map(FLOATED.fullmatch, text))
        content = [node.encode("utf-8", "surrogatepass") for node in text]
        self._lengths.append(np.array([len(node) for node in content], dtype=np.int32))
        with self._text.open("ab") as file:
            file.write(b"".join(content))

    def names(self) -> Iterator[list[str]]:
        """The ids as text, a block after the other."""
        if self.numbers is not None:
            for part in blocks(self.numbers, NAMES):
                yield [str(number) for number in part.tolist()]
            return
        with self._text.open("rb") as file:
            for lengths in blocks(self._lengths, NAMES):
                ends = np.cumsum(lengths).tolist()
                content = file.read(ends[-1])
                starts = [0, *ends[:-1]]
                text = [content[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True)]
                yield [node.removesuffix(".0") for node in text] if self._floated else text

    def write_names(self, path: Path) -> None:
        """All ids as one array of text."""
        width = max(max(map(len, part)) for part in self.names())
        with NpyWriter(path, f"<U{max(width, 1)}") as file:
            for part in self.names():
                file.append(np.array(part, dtype=file.dtype))

    def sort(self, plan: Plan) -> int:
        """Make ids ready to be looked up; the first row whose id was there before, or -1."""
        while True:
            sorter = ExternalSort(self.folder, f"ids-{self._salt}", plan.sort)
            row = 0
            for part in self._key_parts():
                sorter.add(part, np.arange(row, row + len(part)))
                row += len(part)
            self._keys.remove()
            self._rows.remove()
            self._keys = Spill(self.folder / f"ids.sorted-{self._salt}", np.int64)
            self._rows = Spill(self.folder / f"ids.rows-{self._salt}", np.int64)
            for keys, rows, _ in sorter.merged():
                self._keys.append(keys)
                self._rows.append(rows)
            sorter.remove()
            if sorter.again < 0 or self.first_like(sorter.again)[0] < sorter.again:
                return sorter.again
            self._salt += 1  # two different ids have one key

    def _key_parts(self) -> Iterator[NDArray[np.int64]]:
        if self.numbers is not None:
            yield from blocks(self.numbers)
            return
        for part in self.names():
            self.pointed = self.pointed or any(node.endswith(".0") for node in part)
            yield self._text_keys(part)

    def _text_keys(self, text: list[str]) -> NDArray[np.int64]:
        salt = self._salt.to_bytes(8, "little")
        digests = [
            blake2b(node.encode("utf-8", "surrogatepass"), digest_size=8, salt=salt).digest() for node in text
        ]
        return np.frombuffer(b"".join(digests), dtype="<i8")

    def first_like(self, row: int) -> tuple[int, object]:
        """The first row with the same id as this one, and the id."""
        node = next(part[row - start] for start, part in self._numbered() if row < start + len(part))
        first = next(start + part.index(node) for start, part in self._numbered() if node in part)
        return first, int(node) if self.numbers is not None else node

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        start = 0
        for part in self.names():
            yield start, part
            start += len(part)

    # looking up

    def wanted(self, column: NDArray[Any], table: Table, name: str) -> "Wanted":
        """What to look up for the ends of edges."""
        found = comparable(column, table, name, floated=False)
        if self.numbers is not None:
            return self._wanted_numbers(found)
        text = list(map(str, found.tolist()))
        keys = others = self._text_keys(text)
        again = [row for row, node in enumerate(text) if self.pointed or FLOATED.fullmatch(node)]
        if again:
            others = keys.copy()
            others[again] = self._text_keys([otherwise(text[row]) for row in again])
        return Wanted(keys, others, NONE)

    def _wanted_numbers(self, found: NDArray[Any]) -> "Wanted":
        if found.dtype.kind == "i":
            return Wanted(found, None, NONE)
        keys = np.full(len(found), self._keys[0:1][0], dtype=np.int64)
        strangers = []
        for row, node in enumerate(map(str, found.tolist())):
            whole = node.removesuffix(".0") if FLOATED.fullmatch(node) else node
            if WHOLE.fullmatch(whole) and whole != "-0" and len(whole) <= 20 and -(2**63) <= int(whole) < 2**63:
                keys[row] = int(whole)
            else:
                strangers.append(row)
        return Wanted(keys, None, np.array(strangers, dtype=np.int64))

    def rows_of(self, keys: NDArray[np.int64], start: int, stop: int) -> NDArray[np.int64]:
        """The row of each key among the sorted ones from start to stop, -1 where there is none."""
        known, rows = self._block(start, stop)
        order = np.argsort(keys)  # neighbours are looked up one after the other
        wanted = keys[order]
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found = np.empty(len(keys), dtype=np.int64)
        found[order] = np.where(known[place] == wanted, rows[place], -1)
        return found

    def _block(self, start: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if self._known is None or self._known[0] != start:
            self._known = start, self._keys[start:stop], self._rows[start:stop]
        return self._known[1:]


def checked_count(ids: Ids, file: str) -> int:
    """How many ids there are, at least one; rows times rows must fit 63 bits."""
    if not 0 < ids.count < 3_000_000_000:
        raise DataError(f"{file} must have between 1 and 3,000,000,000 rows, got {ids.count:,} instead")
    return ids.count
