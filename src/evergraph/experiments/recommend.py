"""Which method for this data? Runs in the whole graph, compared on validation nodes: accuracy, memory, time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evergraph.config import merged
from evergraph.methods import METHODS
from evergraph.results.summary import SoFar, learning_seconds, summarise
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import RunResult

CHEAPEST_FIRST = (
    "ncm",
    "slda",
    "analytic-small",
    "analytic",
    "finetune",
    "tem",
    "random-replay",
    "ssm",
    "cat",
    "ftf-er-prob",
    "joint",
)
"""What is compared unless methods are named; the last one sees all data again and is the bound."""

MARGIN = 0.5
"""Percentage points of validation accuracy that are given away for a smaller memory."""


@dataclass(frozen=True)
class Candidate:
    """A method on the data; accuracies on validation nodes in the whole graph, in percent."""

    method: str
    """Its name."""
    aa: float
    """Average accuracy."""
    af: float
    """Average forgetting."""
    judged: float
    """What methods are compared by: AA, or where classes come back the area of accuracy on all nodes so far, as AA
    counts a handful of nodes of a class in one step like all others."""
    kept_bytes: int
    """Bytes kept of the past at the end."""
    seconds: float
    """Seconds of learning."""
    needs_all_data: bool
    """Whether it is given all past tasks again."""
    run_dir: str
    """The folder of the run."""
    remarks: list[str]
    """What a reader should know of it: of the data, of what was left out."""


def recommend_configs(values: Mapping[str, Any], methods: Sequence[str] | None = None) -> list[RunConfig]:
    """The runs to compare: the same settings in the whole-graph protocol for every method."""
    names = [name for name in CHEAPEST_FIRST if name in METHODS] if methods is None else methods
    whole = merged(values, {"stream": {"inter_task_edges": True}})
    return [RunConfig.from_values(merged(whole, {"method": {"name": name}})) for name in names]


def candidate(result: RunResult) -> Candidate:
    """What a finished run says for its method; test nodes are not looked at."""
    summary = summarise(result.record)
    method, returning = result.record.config["method"]["name"], result.record.classes_return
    return Candidate(
        method=method,
        aa=summary.val.aa,
        af=summary.val.af,
        judged=SoFar.of(result.record.counts("val")).area_plain if returning else summary.val.aa,
        kept_bytes=summary.memory.bytes,
        seconds=learning_seconds(summary),
        needs_all_data=METHODS[method].sees_past,
        run_dir=str(result.folder),
        remarks=summary.remarks,
    )


def recommended(candidates: Sequence[Candidate]) -> Candidate | None:
    """Of the methods within MARGIN of the best the one that keeps least, then the quickest.

    A method that sees the past is no choice: it needs all the data again. None where there is no choice.
    """
    eligible = [one for one in candidates if not one.needs_all_data]
    best = max((one.judged for one in eligible), default=0.0)
    close = [one for one in eligible if one.judged >= best - MARGIN]
    return min(close, key=lambda one: (one.kept_bytes, one.seconds), default=None)
