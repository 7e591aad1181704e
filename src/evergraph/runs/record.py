"""Record: everything worth knowing of a run, unrounded, typed and versioned. Nothing here needs torch."""

from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from evergraph.replay.usage import MemoryUsage
from evergraph.runs.metrics import Counts

SCHEMA_VERSION = 3
"""3 has `cells` where classes come back; 2 has `schema_version` and `changed`; files without a version are of
version 1 and have none of these."""


class _Part(BaseModel):
    """Immutable; keys of later versions are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class DataRecord(_Part):
    """What a run learned from: counts, remarks, and a fingerprint of the data as they were learned.

    source: SHA-256 of the files behind a graph named by its path, None for data sets; see `source_digest`.
    """

    name: str
    nodes: int
    edges: int
    features: int
    tasks: int
    class_order: list[int] = []
    class_names: list[str] | None = None
    remarks: list[str]
    messages: list[str] = []
    fingerprint: str | None = None
    source: str | None = None

    def same_as(self, other: "DataRecord") -> bool:
        """Whether both are the same data, whatever the files look like in which they are."""
        return self.model_copy(update={"source": None}) == other.model_copy(update={"source": None})


class BatchRecord(_Part):
    """How tasks are trained: batches of `size` nodes with `fanout` sampled neighbours, or full ones (size None).

    automatic: whether that was chosen by the estimate full_bytes against the budget, both in bytes.
    """

    size: int | None = None
    fanout: list[int] = []
    automatic: bool = True
    full_bytes: int = 0
    budget: int = 0

    def __str__(self) -> str:
        if self.size is None:
            return "full"
        return f"sampled (batch {self.size:,}, neighbours {', '.join(map(str, self.fanout))})"


class TaskRecord(_Part):
    """What one finished task yielded: correct predictions of each cell so far, by split.

    correct: in the protocol of the run; correct_in: in the others, by protocol.
    """

    data: DataRecord
    correct: dict[str, list[int]]
    correct_in: dict[str, dict[str, list[int]]] = {}
    seconds: dict[str, float]
    processor_seconds: dict[str, float] = {}
    memory: MemoryUsage
    peak_bytes: int
    finished: str
    batches: BatchRecord | None = None


class Record(_Part):
    """A finished run.

    config: all settings; changed: the dotted names of those that differ from their defaults (None in version 1).
    first_class: the first new class of each task and, last, the number of classes. A cell is a task and one of its
    classes; cells: (task, class) of each, ascending; None where classes do not come back: then a cell is a class.
    total: nodes of each cell, by split; correct: for each task learned the correct predictions of each cell so far,
    by split, in the protocol of the run; correct_in: the same in other protocols, by name. seconds of the clock and
    of the processor, by phase. correct_in and processor_seconds are empty in records of before. batches: None where
    nothing is trained, and in records of before, when all batches were full.
    """

    schema_version: int = Field(1, ge=1)
    config: dict[str, dict[str, Any]]
    changed: list[str] | None = None
    versions: dict[str, str]
    data: DataRecord
    first_class: list[int]
    cells: list[tuple[int, int]] | None = None
    total: dict[str, list[int]]
    correct: dict[str, list[list[int]]]
    correct_in: dict[str, dict[str, list[list[int]]]] = {}
    seconds: list[dict[str, float]]
    processor_seconds: list[dict[str, float]] = []
    memory: list[MemoryUsage]
    peak_bytes: int
    finished: str = ""
    batches: BatchRecord | None = None

    @model_validator(mode="after")
    def _counts_fit(self) -> "Record":
        if self.cells is not None and any(len(total) != len(self.cells) for total in self.total.values()):
            raise ValueError(f"totals of {len(self.cells)} cells are wanted, got others instead")
        counts = (self.correct, *self.correct_in.values())
        for split, total in self.total.items():
            for row in (row for tested in counts for row in tested.get(split, [])):
                if len(row) > len(total) or any(not 0 <= n <= most for n, most in zip(row, total, strict=False)):
                    raise ValueError(
                        f"correct {split} predictions of at most {total} are wanted, got {row} instead"
                    )
        return self

    @property
    def protocol(self) -> str:
        """How the run learned: task-graphs or whole-graph."""
        return "whole-graph" if self.config.get("stream", {}).get("inter_task_edges") else "task-graphs"

    def tested(self, protocol: str) -> bool:
        """Whether the run was tested in a protocol; runs of before were in their own only."""
        return protocol == self.protocol or protocol in self.correct_in

    def counts(self, split: str = "test", protocol: str | None = None) -> Counts:
        """The counts of a split, from which every accuracy follows; in the run's own protocol or another."""
        correct_by_split = self.correct if protocol in (None, self.protocol) else self.correct_in[str(protocol)]
        rows, total = correct_by_split[split], np.array(self.total[split], dtype=np.int64)
        correct = np.full((len(rows), len(total)), -1, dtype=np.int64)
        for index, row in enumerate(rows):
            correct[index, : len(row)] = row
        if self.cells is None:
            return Counts(correct, total, np.array(self.first_class, dtype=np.int64))
        task, label = np.array(self.cells, dtype=np.int64).T
        return Counts(correct, total, np.searchsorted(task, np.arange(len(rows) + 1)), label)

    @property
    def classes_return(self) -> bool:
        """Whether a class may have arrived in several tasks."""
        return self.cells is not None
