"""The measures of one run in percent, as every table, figure and JSON output shows them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.data.datasets import DATASETS
from evergraph.runs import metrics
from evergraph.runs.execute import counts


def percent(values: NDArray[np.float64]) -> list[Any]:
    """Shares as nested lists of percentages, None for NaN; not rounded."""
    if values.ndim == 0:
        return None if np.isnan(values) else float(values) * 100  # type: ignore[return-value]
    return [percent(value) for value in values]


def summarise(record: dict[str, Any]) -> dict[str, Any]:
    """AA, AF, the matrices and the costs of a finished run; accuracies class-balanced on test unless named else."""
    test = counts(record, "test")
    matrix = test.balanced()
    plain = test.plain()
    val = counts(record, "val").balanced()
    return {
        "aa": metrics.average_accuracy(matrix) * 100,
        "af": metrics.average_forgetting(matrix) * 100,
        "matrix": percent(matrix),
        "aa_curve": percent(metrics.accuracy_curve(matrix)),
        "learning_accuracy": metrics.learning_accuracy(matrix) * 100,
        "backward_transfer": metrics.backward_transfer(matrix) * 100,
        "per_class": percent(test.per_class()[-1]),
        "plain": {"aa": metrics.average_accuracy(plain) * 100, "af": metrics.average_forgetting(plain) * 100},
        "val": {"aa": metrics.average_accuracy(val) * 100, "af": metrics.average_forgetting(val) * 100},
        "seconds": {phase: sum(task.get(phase, 0.0) for task in record["seconds"]) for phase in phases(record)},
        "memory": record["memory"][-1],
        "peak_bytes": record["peak_bytes"],
        "remarks": [*record["data"]["remarks"], *record["data"]["messages"]],
    }


def phases(record: dict[str, Any]) -> list[str]:
    """The phases that were timed, in order of their first appearance."""
    return list(dict.fromkeys(phase for task in record["seconds"] for phase in task))


def data_title(record: dict[str, Any]) -> str:
    """The name of the data, with what a reader must know: that it stands in for others, or has derived features."""
    dataset = record["config"]["dataset"]
    entry = DATASETS[dataset["name"]] if dataset["name"] in DATASETS else None  # noqa: SIM401  (a registry raises)
    text = str(record["data"]["name"])
    if entry is not None and entry.stand_in:
        text += f" (stand-in for {entry.stand_in})"
    features = dataset.get("features")
    return f"{text}, derived features ({features})" if features else text


def title(record: dict[str, Any]) -> str:
    """Data set, method and backbone of a run in one line."""
    config = record["config"]
    return f"{data_title(record)} · {config['method']['name']} · {config['backbone']['name']}"
