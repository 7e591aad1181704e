"""Small records of finished runs: the data of tables and figures, one JSON file for each experiment."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from evergraph.config import one_sentence
from evergraph.errors import StoreError
from evergraph.files import make_folder, write_output
from evergraph.parsing import read_json
from evergraph.replay.usage import MemoryUsage
from evergraph.results.projection import Projection, read_projection
from evergraph.results.summary import Averages, SoFar, summarise
from evergraph.results.validation import TUNED, best_on_validation
from evergraph.runs.record import SCHEMA_VERSION, DataRecord
from evergraph.runs.store import RunStore

Complete: TypeAlias = Callable[[dict[str, Any]], tuple[dict[str, Any], list[str]] | None]
"""From the settings of a record of version 1 to all settings and the names of changed ones; None if unknown.

It is an argument because it needs the tables of methods and backbones, and so torch, which reading results must not
import.
"""

T = TypeVar("T")
K = TypeVar("K")


class SmallRecord(BaseModel):
    """A finished run as the lines of results/*.json have it; accuracies in percent, rounded to four decimals in
    files."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False)

    schema_version: int = Field(1, ge=1, le=SCHEMA_VERSION)
    """Version of the list of fields of the run's record."""
    config: dict[str, dict[str, Any]]
    """All settings, by section."""
    changed: list[str] | None = None
    """Dotted names of the settings that differ from their defaults."""
    data: DataRecord
    """What the run learned from, without its fingerprint."""
    versions: dict[str, str]
    """What the bits may depend on besides settings: versions, torch's threads, code of plug-ins."""
    aa: float
    """Average accuracy, in the protocol of the run."""
    af: float
    """Average forgetting, in the protocol of the run."""
    aa_local: float | None = None
    """AA tested in each task's own graph; null where the run was not."""
    af_local: float | None = None
    """AF tested in each task's own graph."""
    aa_global: float | None = None
    """AA tested in the whole graph known by then; null where the run was not."""
    af_global: float | None = None
    """AF tested in the whole graph known by then."""
    matrix: list[list[float | None]] = Field(min_length=1)
    """Accuracy on each task (column) after each task (row); null above the diagonal."""
    matrix_local: list[list[float | None]] | None = None
    """The same, tested in each task's own graph."""
    matrix_global: list[list[float | None]] | None = None
    """The same, tested in the whole graph known by then."""
    so_far_local: SoFar | None = None
    """Accuracy on all test nodes so far, tested in each task's own graph."""
    so_far_global: SoFar | None = None
    """The same, tested in the whole graph known by then."""
    learning_accuracy: float
    """Mean accuracy on each task right after it was learned."""
    per_class: list[float | None] = Field(min_length=1)
    """Accuracy on each class at the end, in order of arrival."""
    plain: Averages
    """AA and AF with every node counting alike."""
    val: Averages
    """AA and AF on validation nodes."""
    seconds: dict[str, float]
    """Seconds of the clock, by phase."""
    processor_seconds: dict[str, float] = {}
    """Seconds of the processor, by phase."""
    memory: MemoryUsage
    """What is kept of the past at the end."""
    peak_bytes: int
    """Most resident memory of the process, in bytes; 0 where the platform does not say."""
    finished: str = ""
    """When the run ended, in UTC; not in files of records."""
    batches: str | None = None
    """full or sampled, with their sizes; left out where full."""
    choices: dict[str, Any] = {}
    """What the learner chose from training data and used at the end, by name; left out where it chooses nothing."""
    projection: Projection | None = None
    """Test nodes in two dimensions, where somebody has asked for them."""

    @field_validator("config")
    @classmethod
    def _names(cls, config: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        for part in ("dataset", "backbone", "method"):
            if not isinstance(config.get(part, {}).get("name"), str):
                raise ValueError(f"the name of the {part} is wanted, got none instead")
        return config

    @field_validator("memory", mode="before")
    @classmethod
    def _bytes(cls, memory: object) -> object:
        if isinstance(memory, Mapping) and "bytes" not in memory:
            raise ValueError("the bytes that are kept are wanted, got none instead")
        return memory

    @field_validator("matrix", "matrix_local", "matrix_global")
    @classmethod
    def _an_accuracy_on_every_task_so_far(
        cls, matrix: list[list[float | None]] | None
    ) -> list[list[float | None]] | None:
        if matrix is None:
            return None
        if any(len(row) != len(matrix) for row in matrix):
            raise ValueError(f"{len(matrix)} columns are wanted, as many as rows, got others instead")
        if any(None in row[: after + 1] for after, row in enumerate(matrix)):
            raise ValueError("an accuracy on every task learned so far is wanted, got none instead")
        return matrix

    @field_validator("per_class")
    @classmethod
    def _an_accuracy_for_every_class(cls, values: list[float | None], info: ValidationInfo) -> list[float | None]:
        data: DataRecord | None = info.data.get("data")
        order, names = (data.class_order, data.class_names) if data else (None, None)
        for key, known in (("class_order", order), ("class_names", order and names)):
            if known and len(known) != len(values):
                raise ValueError(f"{len(known)} are wanted, as in data.{key}, got {len(values)} instead")
        return values

    def completed(self, complete: Complete | None) -> "SmallRecord":
        """A record of version 1 with all settings, if they can be found; any other unchanged."""
        found = complete(self.config) if self.changed is None and complete is not None else None
        return self if found is None else self.model_copy(update={"config": found[0], "changed": found[1]})


def small_record(folder: Path) -> SmallRecord:
    """The record of a run folder, not rounded."""
    record = RunStore(folder).record()
    summary = summarise(record)
    fields = set(SmallRecord.model_fields) & set(type(summary).model_fields)
    return SmallRecord(
        schema_version=record.schema_version,
        config=record.config,
        changed=record.changed,
        data=record.data,
        versions=record.versions,
        finished=record.finished,
        projection=read_projection(folder),
        **{name: getattr(summary, name) for name in fields},
    )


def _rounded(value: Any) -> Any:
    """Floats rounded to four decimals, to keep files small."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    return value


def _line(record: SmallRecord) -> str:
    """A record as one line; settings keep their declared order."""
    values = record.model_dump(mode="json", exclude={"finished", "projection"})
    exact = {"config": values.pop("config"), "changed": values.pop("changed")}
    values["data"].pop("fingerprint")
    if record.batches in (None, "full"):  # what a record says without it
        values.pop("batches")
    if not record.choices:
        values.pop("choices")
    if record.data.source is None:  # a data set with a name of its own
        values["data"].pop("source")
    if record.projection is not None:
        exact["projection"] = record.projection.model_dump(mode="json")
    return json.dumps({**_rounded(values), **exact})


def write_records(
    path: Path,
    name: str,
    folders: Iterable[Path],
    complete: Complete | None = None,
    others: Sequence[SmallRecord] = (),
) -> None:
    """Write the runs of an experiment, one sorted line each, and how tuned settings were chosen.

    others: records of runs whose folders are elsewhere.
    """
    records = [*(small_record(folder).completed(complete) for folder in folders), *others]
    parts = {
        "choices": [json.dumps(choice, sort_keys=True) for choice in choices(records)],
        "runs": [_line(record) for record in records],
    }
    text = "{" + f'"experiment": {json.dumps(name)}'
    for key, lines in parts.items():
        text += f',\n"{key}": [\n' + ",\n".join(sorted(lines)) + "\n]"
    make_folder(path.parent)
    write_output(path, text + "}\n")


def choices(records: Sequence[SmallRecord]) -> list[dict[str, Any]]:
    """The value of the tuned setting that is best on validation, for runs that differ only in it and in seeds."""
    tuned = [record for record in records if setting(record, TUNED) is not None]
    by_value = [
        grouped_by(family, lambda record: setting(record, TUNED)) for family in grouped_by(tuned, _family).values()
    ]
    return [_choice(family) for family in by_value if len(family) > 1]


def _family(record: SmallRecord) -> str:
    """Equal for runs whose settings differ only in the tuned one and the seeds."""
    config: dict[str, Any] = {**record.config, "seeds": None}
    config["method"] = {key: value for key, value in config["method"].items() if key != TUNED.partition(".")[2]}
    return json.dumps(config, sort_keys=True)


def _choice(family: dict[Any, list[SmallRecord]]) -> dict[str, Any]:
    best, means = best_on_validation(
        {value: [run.val.aa for run in runs] for value, runs in sorted(family.items())}
    )
    first, seeds = family[best][0], len(family[best])
    return {
        "dataset": setting(first, "dataset.name"),
        "backbone": setting(first, "backbone.name"),
        "method": setting(first, "method.name"),
        "setting": TUNED,
        "chosen": best,
        "how": f"best mean validation AA over {seeds} seeds; no test measure was looked at",
        "validation_aa": [[value, round(mean, 4)] for value, mean in means.items()],
        "method_settings": {key: value for key, value in first.config["method"].items() if key != "beta"},
    }


def read_records(path: Path, complete: Complete | None = None) -> list[SmallRecord]:
    """The runs in a file of records; StoreError if it is not one."""
    try:
        content = read_json(path, constants=True)
    except (OSError, ValueError) as error:
        raise StoreError(f"a file of records is wanted, got {path} instead ({error})") from None
    runs = content.get("runs") if isinstance(content, dict) else None
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise StoreError(f"a file of records is wanted, got {path} instead, which has no list of runs")
    return [checked(run, f"{path}, run {at}").completed(complete) for at, run in enumerate(runs, start=1)]


def checked(values: object, source: str) -> SmallRecord:
    """A validated record; StoreError with the source and the key if it is not one."""
    try:
        return SmallRecord.model_validate_json(json.dumps(values))
    except ValidationError as error:
        raise StoreError(f"{source} must hold a finished run: {one_sentence(error, SmallRecord, '')}") from None


def grouped(records: Sequence[SmallRecord], keys: Sequence[str]) -> dict[tuple[Any, ...], list[SmallRecord]]:
    """Records by the values of some settings (dotted paths)."""
    return grouped_by(records, lambda record: tuple(setting(record, key) for key in keys))


def grouped_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by their key, in order of first appearance."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def setting(record: SmallRecord, path: str) -> Any:
    """A setting of a record by its dotted path; None if it has none."""
    value: Any = record.config
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
