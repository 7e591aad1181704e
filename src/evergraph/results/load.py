"""What the page is made of: finished runs, from run folders or from files of small records, in one shape."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evergraph.config import validated
from evergraph.errors import StoreError
from evergraph.results.projection import Projection, read_projection
from evergraph.results.records import read_records
from evergraph.results.summary import data_title, summarise
from evergraph.runs import metrics
from evergraph.runs.config import completed
from evergraph.runs.store import RunStore

BROKEN = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)
NOT_THE_SETUP = ("seeds.", "train.threads")
FACTS = ("nodes", "edges", "features", "tasks")


@dataclass(frozen=True)
class Result:
    """A finished run; accuracies in percent, on test unless named else."""

    source: str
    config: dict[str, Any]
    data: dict[str, Any]
    versions: dict[str, str]
    finished: str
    title: str
    measures: dict[str, float]
    matrix: list[list[float | None]]
    curve: list[float]
    per_class: list[float | None]
    classes: list[tuple[int, str]] | None
    seconds: dict[str, float]
    remarks: tuple[str, ...]
    projection: Projection | None = None

    @property
    def setup(self) -> dict[str, Any]:
        """All settings but the seeds, by their dotted names."""
        return {key: value for key, value in flat(self.config).items() if not key.startswith(NOT_THE_SETUP)}

    @property
    def seeds(self) -> dict[str, Any]:
        return {key[6:]: value for key, value in flat(self.config).items() if key.startswith("seeds.")}

    @property
    def identity(self) -> str:
        """Equal for runs that were to do the same on the same data."""
        facts = [self.data.get(key) for key in ("nodes", "edges", "features")]
        return json.dumps([self.setup, self.seeds, facts], sort_keys=True)


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by their dotted names."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return found


def read_results(paths: Sequence[Path]) -> tuple[list[Result], list[str]]:
    """All finished runs below some paths, each once, and remarks on what was left out."""
    found: list[Result] = []
    unfinished = 0
    for path in paths:
        if path.is_dir() and not (path / "config.json").exists():
            results, skipped = _read_folder(path)
            found += results
            unfinished += skipped
        elif path.is_dir():
            found.append(_from_run(path))
        else:
            found += _from_records(path)
    once = {result.identity: result for result in reversed(found)}
    kept = [result for result in found if once[result.identity] is result]
    notes = []
    if unfinished:
        notes.append(f"{unfinished} unfinished {_runs(unfinished)} left out")
    if repeated := len(found) - len(kept):
        notes.append(f"{repeated} {_runs(repeated)} left out: the same settings and seeds were there already")
    return kept, notes


def _runs(number: int) -> str:
    return "run" if number == 1 else "runs"


def _read_folder(folder: Path) -> tuple[list[Result], int]:
    """The finished runs in a folder of run folders, else of record files; and how many are unfinished."""
    stores = [RunStore(path.parent) for path in sorted(folder.glob("*/config.json"))]
    results = [_from_run(store.folder) for store in stores if store.finished]
    if not stores:
        results = [result for path in sorted(folder.glob("*.json")) for result in _from_records(path)]
    if not results:
        holds = f"only {len(stores)} unfinished" if stores else "none"
        raise StoreError(
            f"a folder of finished runs or of files of records is wanted, got {folder}, which has {holds}"
        )
    return results, len(stores) - len([store for store in stores if store.finished])


def _from_run(folder: Path) -> Result:
    record = RunStore(folder).record()
    try:
        facts = summarise(record)
        result = _result(folder.name, {**record, **facts}, facts["remarks"])
    except BROKEN as error:
        raise StoreError(f"{folder / 'record.json'} must hold what a run has written, got {_why(error)}") from None
    return replace(result, projection=read_projection(folder))


def _from_records(path: Path) -> list[Result]:
    try:
        runs = read_records(path)
        results = [
            _result(
                f"{path.name}, run {index + 1}", run, [*run["data"]["remarks"], *run["data"].get("messages", [])]
            )
            for index, run in enumerate(runs)
        ]
    except BROKEN as error:
        raise StoreError(f"{path} must be a file of records, got {_why(error)}") from None
    if not results:
        raise StoreError(f"a file of records with at least one run is wanted, got {path}, which has none")
    return results


def _why(error: Exception) -> str:
    return f"something else instead ({type(error).__name__}: {error})"


def _result(source: str, facts: dict[str, Any], remarks: Sequence[str]) -> Result:
    """A run from its settings, data and summary, whichever file these came from."""
    config, data, memory = completed(facts["config"]), facts["data"], facts["memory"]
    matrix = np.array(facts["matrix"], dtype=np.float64)
    measures = {
        "aa": facts["aa"],
        "af": facts["af"],
        "val": facts["val"]["aa"],
        "plain": facts["plain"]["aa"],
        "nodes": memory.get("nodes", 0),
        "edges": memory.get("edges", 0),
        "kept": memory["bytes"] / 2**20,
        "peak": facts["peak_bytes"] / 2**20,
    }
    order, per_class = data.get("class_order"), _numbers(facts["per_class"])
    sound = (
        matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] > 0 and len(per_class) == len(order or per_class)
    )
    measured = [*measures.values(), *facts["seconds"].values(), *matrix[np.tril_indices(len(matrix))]]
    if not (sound and per_class and all(map(math.isfinite, measured))):
        raise ValueError("a measure is missing")
    if not all(isinstance(config[part]["name"], str) for part in ("dataset", "backbone", "method")):
        raise ValueError("a name is missing")
    return Result(
        source=source,
        config={key: config[key] for key in sorted(config, key=_place)},
        data={**data, **{key: int(data[key]) for key in FACTS if key in data}},
        versions={str(name): str(version) for name, version in facts["versions"].items()},
        finished=str(facts.get("finished", "")),
        title=data_title({"config": config, "data": data}),
        measures={key: float(value) for key, value in measures.items()},
        matrix=[[None if np.isnan(value) else float(value) for value in row] for row in matrix],
        curve=[float(value) for value in metrics.accuracy_curve(matrix)],
        per_class=per_class,
        classes=[(int(label), str(name)) for label, name in _named(order, data)] if order else None,
        seconds={str(phase): float(value) for phase, value in facts["seconds"].items()},
        remarks=tuple(map(str, remarks)),
        projection=_projection(facts.get("projection")),
    )


def _projection(values: dict[str, Any] | None) -> Projection | None:
    return None if values is None else validated(Projection, values, "projection")


def _numbers(values: Sequence[float | None]) -> list[float | None]:
    return [None if value is None or math.isnan(value) else float(value) for value in values]


def _named(order: Sequence[int], data: dict[str, Any]) -> list[tuple[int, str]]:
    return list(zip(order, data.get("class_names") or order, strict=True))


def _place(part: str) -> int:
    parts = ("dataset", "stream", "backbone", "method", "train", "seeds")
    return parts.index(part) if part in parts else len(parts)
