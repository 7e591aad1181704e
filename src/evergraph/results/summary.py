"""The measures of one run in percent, for every table, figure and JSON output."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from evergraph.data.datasets import DATASETS
from evergraph.replay.usage import MemoryUsage
from evergraph.runs import metrics
from evergraph.runs.record import Record


class Averages(BaseModel):
    """AA and AF in percent."""

    model_config = ConfigDict(frozen=True)

    aa: float
    af: float

    @classmethod
    def of(cls, matrix: metrics.AccuracyMatrix) -> "Averages":
        return cls(aa=metrics.average_accuracy(matrix) * 100, af=metrics.average_forgetting(matrix) * 100)


class Summary(BaseModel):
    """A finished run; accuracies in percent, not rounded, class-balanced on test nodes unless named otherwise."""

    model_config = ConfigDict(frozen=True)

    aa: float
    af: float
    matrix: list[list[float | None]]
    aa_curve: list[float]
    learning_accuracy: float
    backward_transfer: float
    per_class: list[float | None]
    plain: Averages
    val: Averages
    seconds: dict[str, float]
    memory: MemoryUsage
    peak_bytes: int
    remarks: list[str]


def summarise(record: Record) -> Summary:
    """AA, AF, the matrices and the costs of a finished run."""
    test = record.counts("test")
    matrix = test.balanced()
    averages = Averages.of(matrix)
    phases = dict.fromkeys(phase for task in record.seconds for phase in task)
    return Summary(
        aa=averages.aa,
        af=averages.af,
        matrix=[percent(row) for row in matrix],
        aa_curve=[float(value) * 100 for value in metrics.accuracy_curve(matrix)],
        learning_accuracy=metrics.learning_accuracy(matrix) * 100,
        backward_transfer=metrics.backward_transfer(matrix) * 100,
        per_class=percent(test.per_class()[-1]),
        plain=Averages.of(test.plain()),
        val=Averages.of(record.counts("val").balanced()),
        seconds={phase: sum(task.get(phase, 0.0) for task in record.seconds) for phase in phases},
        memory=record.memory[-1],
        peak_bytes=record.peak_bytes,
        remarks=[*record.data.remarks, *record.data.messages],
    )


def percent(values: NDArray[np.float64]) -> list[float | None]:
    """Shares as percentages, None for NaN; not rounded."""
    return [None if np.isnan(value) else float(value) * 100 for value in values]


def data_title(dataset: Mapping[str, Any], name: str) -> str:
    """The name of the data; says if it is a stand-in for others or has derived features."""
    known = str(dataset["name"]) in DATASETS
    stand_in = DATASETS[str(dataset["name"])].stand_in if known else None
    text = f"{name} (stand-in for {stand_in})" if stand_in else name
    features = dataset.get("features")
    return f"{text}, derived features ({features})" if features else text


def title(record: Record) -> str:
    """Data set, method and backbone of a run in one line."""
    config = record.config
    heading = data_title(config["dataset"], record.data.name)
    return f"{heading} · {config['method']['name']} · {config['backbone']['name']}"
