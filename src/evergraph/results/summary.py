"""The measures of one run in percent, for every table, figure and JSON output."""

from collections.abc import Mapping
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from evergraph.data.datasets import DATASETS, derived_features, is_path
from evergraph.data.datasets.derived import DerivedFeatures
from evergraph.errors import ConfigError
from evergraph.replay.usage import MemoryUsage
from evergraph.runs import metrics
from evergraph.runs.record import DataRecord, Record


class Averages(BaseModel):
    """AA and AF in percent."""

    model_config = ConfigDict(frozen=True)

    aa: float
    """Average accuracy after the last task."""
    af: float
    """Average forgetting: final minus just-learned accuracy, mean over the tasks before the last."""

    @classmethod
    def of(cls, matrix: metrics.AccuracyMatrix) -> "Averages":
        """Those of an accuracy matrix."""
        return cls(aa=metrics.average_accuracy(matrix) * 100, af=metrics.average_forgetting(matrix) * 100)


class SoFar(BaseModel):
    """Accuracy in percent on all test nodes so far, whatever task they arrived in."""

    model_config = ConfigDict(frozen=True)

    plain: list[float]
    """After each task, every node counting alike."""
    balanced: list[float]
    """After each task, every class counting alike."""
    area_plain: float
    """Under the curve of plain."""
    area_balanced: float
    """Under the curve of balanced."""
    class_forgetting: list[float | None]
    """Final minus best of each class; null where it has no test nodes."""
    forgetting: float
    """Their mean."""

    @classmethod
    def of(cls, counts: metrics.Counts) -> "SoFar":
        """Those of the counts of a split."""
        plain, balanced = counts.plain_so_far() * 100, counts.balanced_so_far() * 100
        lost = metrics.forgetting_from_best(counts.per_class())
        return cls(
            plain=plain.tolist(),
            balanced=balanced.tolist(),
            area_plain=metrics.area(plain),
            area_balanced=metrics.area(balanced),
            class_forgetting=percent(lost),
            forgetting=float(np.nanmean(lost)) * 100,
        )


class Summary(BaseModel):
    """A finished run; accuracies in percent, not rounded, class-balanced on test nodes unless named otherwise."""

    model_config = ConfigDict(frozen=True)

    aa: float
    """Average accuracy, in the protocol of the run."""
    af: float
    """Average forgetting, in the protocol of the run."""
    protocol: str
    """How the run learned: task-graphs or whole-graph."""
    aa_local: float | None
    """AA tested in each task's own graph; null where the run was not."""
    af_local: float | None
    """AF tested in each task's own graph."""
    aa_global: float | None
    """AA tested in the whole graph known by then; null where the run was not."""
    af_global: float | None
    """AF tested in the whole graph known by then."""
    matrix: list[list[float | None]]
    """Accuracy on each task (column) after each task (row); null above the diagonal."""
    matrix_local: list[list[float | None]] | None
    """The same, tested in each task's own graph."""
    matrix_global: list[list[float | None]] | None
    """The same, tested in the whole graph known by then."""
    aa_curve: list[float]
    """Average accuracy after each task."""
    so_far: SoFar
    """Accuracy on all test nodes so far."""
    so_far_local: SoFar | None
    """The same, tested in each task's own graph."""
    so_far_global: SoFar | None
    """The same, tested in the whole graph known by then."""
    learning_accuracy: float
    """Mean accuracy on each task right after it was learned."""
    backward_transfer: float
    """The same number as AF, under the name of the transfer literature."""
    per_class: list[float | None]
    """Accuracy on each class at the end, in order of arrival; null where it has no test nodes."""
    plain: Averages
    """AA and AF with every node counting alike."""
    val: Averages
    """AA and AF on validation nodes."""
    seconds: dict[str, float]
    """Seconds of the clock, by phase."""
    processor_seconds: dict[str, float]
    """Seconds of the processor, by phase."""
    memory: MemoryUsage
    """What is kept of the past at the end."""
    peak_bytes: int
    """Most resident memory of the process, in bytes; 0 where the platform does not say."""
    batches: str | None
    """full or sampled, with their sizes; null where nothing is trained, and unknown in runs of before."""
    choices: dict[str, Any]
    """What the learner chose from training data and used at the end, by name; empty where it chooses nothing."""
    remarks: list[str]
    """What a reader should know of data and run."""


def summarise(record: Record) -> Summary:
    """AA, AF, the matrices and the costs of a finished run."""
    if not isinstance(record, Record):
        raise ConfigError(f"a Record is wanted, got {type(record).__name__} instead; a RunResult has one")
    test = record.counts("test")
    matrix = test.balanced()
    averages = Averages.of(matrix)
    return Summary(
        aa=averages.aa,
        af=averages.af,
        protocol=record.protocol,
        **in_both_protocols(record),
        matrix=[percent(row) for row in matrix],
        aa_curve=[float(value) * 100 for value in metrics.accuracy_curve(matrix)],
        so_far=SoFar.of(test),
        learning_accuracy=metrics.learning_accuracy(matrix) * 100,
        backward_transfer=metrics.backward_transfer(matrix) * 100,
        per_class=percent(test.per_class()[-1]),
        plain=Averages.of(test.plain()),
        val=Averages.of(record.counts("val").balanced()),
        seconds=_by_phase(record.seconds),
        processor_seconds=_by_phase(record.processor_seconds) if _complete(record) else {},
        memory=record.memory[-1],
        peak_bytes=record.peak_bytes,
        batches=None if record.batches is None else str(record.batches),
        choices=record.choices[-1] if record.choices else {},
        remarks=[
            *record.data.remarks,
            *record.data.messages,
            *derived_ahead(record.config),
            *sampled_batches(record),
            *one_class_only(record),
        ],
    )


def derived_ahead(config: Mapping[str, Any]) -> list[str]:
    """A remark where derived features know edges that learners are not to know yet."""
    dataset, stream = config["dataset"], config.get("stream", {})
    by_class = stream.get("arrival", "classes") == "classes" and not stream.get("inter_task_edges")
    hidden = stream.get("inductive") or not by_class
    features = dataset.get("features") or derived_features(str(dataset["name"]))
    if not hidden or not features or not DerivedFeatures.parse(features).knows_edges:
        return []
    return ["features are derived from the whole graph, so they know edges that arrive later"]


def sampled_batches(record: Record) -> list[str]:
    """A remark where batches were sampled."""
    found = record.batches
    if found is None or found.size is None:
        return []
    why = "the budget of memory" if found.automatic else "train.batch"
    return [f"trained in {found} because of {why}, not in full batches"]


def one_class_only(record: Record) -> list[str]:
    """A remark where the model seems to give every test node the same class."""
    final = record.counts("test").per_class()[-1]
    known = np.flatnonzero(~np.isnan(final))
    right = known[final[known] > 0]
    if len(known) < 2 or len(right) != 1 or final[right[0]] < 1:
        return []
    name = (class_names(record.data) or [str(at) for at in range(len(final))])[right[0]]
    return [
        f"of {len(known)} classes only class {name} is predicted right after the last task, always: "
        "the model gives every test node the same class, or nearly"
    ]


def class_names(data: DataRecord) -> list[str]:
    """The names of the classes as they arrived, their labels where they have none; empty in records of before."""
    return data.class_names or [str(label) for label in data.class_order]


def _complete(record: Record) -> bool:
    """Whether the time of the processor is known of every task."""
    return len(record.processor_seconds) == len(record.seconds)


def _by_phase(tasks: list[dict[str, float]]) -> dict[str, float]:
    phases = dict.fromkeys(phase for task in tasks for phase in task)
    return {phase: fsum(task.get(phase, 0.0) for task in tasks) for phase in phases}


def learning_seconds(summary: Summary) -> float:
    """The time that learning took: all phases but reading the data and evaluating."""
    return fsum(value for phase, value in summary.seconds.items() if phase not in ("load", "evaluate"))


def in_both_protocols(record: Record) -> dict[str, Any]:
    """AA, AF, matrix and accuracy so far of a run, local (task graphs) and global (whole graph)."""
    found: dict[str, Any] = {}
    for name, protocol in (("local", "task-graphs"), ("global", "whole-graph")):
        counts = record.counts("test", protocol) if record.tested(protocol) else None
        matrix = None if counts is None else counts.balanced()
        averages = None if matrix is None else Averages.of(matrix)
        found[f"aa_{name}"] = averages and averages.aa
        found[f"af_{name}"] = averages and averages.af
        found[f"matrix_{name}"] = None if matrix is None else [percent(row) for row in matrix]
        found[f"so_far_{name}"] = None if counts is None else SoFar.of(counts)
    return found


def percent(values: NDArray[np.float64]) -> list[float | None]:
    """Shares as percentages, None for NaN; not rounded."""
    return [None if np.isnan(value) else float(value) * 100 for value in values]


def data_title(dataset: Mapping[str, Any], name: str) -> str:
    """The name of the data, of a file with its folder; says if it is a stand-in or has derived features."""
    known = str(dataset["name"]) in DATASETS
    if is_path(str(dataset["name"])):
        folder = Path(str(dataset["name"])).parent.name
        name = f"{folder}/{name}" if folder not in ("", "..") else name
    stand_in = DATASETS[str(dataset["name"])].stand_in if known else None
    text = f"{name} (stand-in for {stand_in})" if stand_in else name
    features = dataset.get("features") or derived_features(str(dataset["name"]))
    return f"{text}, derived features ({features})" if features else text


NO_BACKBONE = ("analytic", "analytic-small", "cat", "ncm", "slda", "tem")
"""Methods that do not use the backbone, whatever a run's settings say."""


def backbone_of(method: str, backbone: str) -> str | None:
    """The backbone behind a result; None where the method uses none."""
    return None if method in NO_BACKBONE else backbone


def title(record: Record) -> str:
    """Data set, method and, where it is used, backbone of a run in one line."""
    heading = data_title(record.config["dataset"], record.data.name)
    method = str(record.config["method"]["name"])
    backbone = backbone_of(method, record.config["backbone"]["name"])
    return " · ".join(part for part in (heading, method, backbone) if part)
