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
    """What a run learned from: counts, remarks, and a fingerprint of the data as they were learned."""

    name: str
    """Name of the data set, or path of the graph."""
    nodes: int
    """Nodes of the graph, after standardisation."""
    edges: int
    """Its edges."""
    features: int
    """Features of a node."""
    tasks: int
    """Tasks of the stream."""
    class_order: list[int] = []
    """Labels in the order in which the classes arrive."""
    class_names: list[str] | None = None
    """Names of the classes in that order; null where they have none."""
    remarks: list[str]
    """What a reader of the results should know of the data."""
    messages: list[str] = []
    """What was left out while the stream was made."""
    fingerprint: str | None = None
    """SHA-256 of edges, labels, features and times; a run is only resumed on the same."""
    source: str | None = None
    """SHA-256 of the files behind a graph named by its path, null for data sets; see `source_digest`."""

    def same_as(self, other: "DataRecord") -> bool:
        """Whether both are the same data, whatever the files look like in which they are."""
        return self.model_copy(update={"source": None}) == other.model_copy(update={"source": None})


class BatchRecord(_Part):
    """How tasks are trained: on all nodes at a time, or in batches with sampled neighbours."""

    size: int | None = None
    """Nodes of a batch; null for all of them."""
    fanout: list[int] = []
    """Sampled neighbours of a node in the loss, and of each of those."""
    automatic: bool = True
    """Whether that was chosen by the estimate against the budget."""
    full_bytes: int = 0
    """Estimated memory of a step on all nodes, in bytes."""
    budget: int = 0
    """The budget of memory, in bytes."""

    def __str__(self) -> str:
        if self.size is None:
            return "full"
        return f"sampled (batch {self.size:,}, neighbours {', '.join(map(str, self.fanout))})"


class TaskRecord(_Part):
    """What one finished task yielded."""

    data: DataRecord
    """What the run learns from."""
    correct: dict[str, list[int]]
    """Correct predictions of each cell so far, by split, in the protocol of the run."""
    correct_in: dict[str, dict[str, list[int]]] = {}
    """The same in the other protocols, by protocol."""
    seconds: dict[str, float]
    """Seconds of the clock, by phase."""
    processor_seconds: dict[str, float] = {}
    """Seconds of the processor, by phase."""
    memory: MemoryUsage
    """What is kept of the past after the task."""
    peak_bytes: int
    """Most resident memory of the process so far, in bytes."""
    finished: str
    """When the task ended, in UTC."""
    batches: BatchRecord | None = None
    """How the task was trained; null where nothing is trained."""
    choices: dict[str, Any] = {}
    """What the learner chose from training data and predicts with, by name; most choose nothing."""


class Record(_Part):
    """A finished run. A cell is a task and one of its classes; where classes do not come back, a class."""

    schema_version: int = Field(1, ge=1)
    """Version of this list of fields; 1 in files without it."""
    config: dict[str, dict[str, Any]]
    """All settings, by section."""
    changed: list[str] | None = None
    """Dotted names of the settings that differ from their defaults; null in version 1."""
    versions: dict[str, str]
    """What the bits may depend on besides settings: versions, torch's threads, code of plug-ins."""
    data: DataRecord
    """What the run learned from."""
    first_class: list[int]
    """The first new class of each task and, last, the number of classes."""
    cells: list[tuple[int, int]] | None = None
    """(task, class) of each cell, ascending; null where classes do not come back."""
    total: dict[str, list[int]]
    """Nodes of each cell, by split (val, test)."""
    correct: dict[str, list[list[int]]]
    """For each task learned, correct predictions of each cell so far, by split, in the protocol of the run."""
    correct_in: dict[str, dict[str, list[list[int]]]] = {}
    """The same in other protocols, by protocol; empty in records of before."""
    seconds: list[dict[str, float]]
    """Seconds of the clock of each task, by phase."""
    processor_seconds: list[dict[str, float]] = []
    """Seconds of the processor of each task, by phase; empty in records of before."""
    memory: list[MemoryUsage]
    """What is kept of the past after each task."""
    peak_bytes: int
    """Most resident memory of the process, in bytes; 0 where the platform does not say."""
    finished: str = ""
    """When the run ended, in UTC."""
    batches: BatchRecord | None = None
    """How tasks were trained; null where nothing is trained, and in records of before, when all were full."""
    choices: list[dict[str, Any]] = []
    """What the learner chose from training data after each task, by name; empty where it chooses nothing."""

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
