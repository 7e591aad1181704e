"""What the page is made of: finished runs, from run folders or from files of small records, in one shape."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evergraph.errors import StoreError
from evergraph.results.facts import Facts, checked_facts
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
    path, record = folder / "record.json", RunStore(folder).record()
    try:
        summary = summarise(record)
    except BROKEN as error:
        why = f"something else instead ({type(error).__name__}: {error})"
        raise StoreError(f"{path} must hold what a run has written, got {why}") from None
    values = {**record, **summary, "projection": read_projection(folder)}
    return _result(folder.name, values, checked_facts(values, str(path)))


def _from_records(path: Path) -> list[Result]:
    runs = read_records(path)
    if not runs:
        raise StoreError(f"a file of records with at least one run is wanted, got {path}, which has none")
    return [
        _result(f"{path.name}, run {at}", run, checked_facts(run, f"{path}, run {at}"))
        for at, run in enumerate(runs, start=1)
    ]


def _result(source: str, values: dict[str, Any], facts: Facts) -> Result:
    """A run from its settings, data and summary, whichever file these came from."""
    config, data = completed(values["config"]), values["data"]
    matrix = np.array(facts.matrix, dtype=np.float64)
    return Result(
        source=source,
        config={key: config[key] for key in sorted(config, key=_place)},
        data=data,
        versions=facts.versions,
        finished=facts.finished,
        title=data_title({"config": config, "data": data}),
        measures={
            "aa": facts.aa,
            "af": facts.af,
            "val": facts.val.aa,
            "plain": facts.plain.aa,
            "nodes": float(facts.memory.nodes),
            "edges": float(facts.memory.edges),
            "kept": facts.memory.bytes / 2**20,
            "peak": facts.peak_bytes / 2**20,
        },
        matrix=facts.matrix,
        curve=[float(value) for value in metrics.accuracy_curve(matrix)],
        per_class=facts.per_class,
        classes=facts.classes,
        seconds=facts.seconds,
        remarks=(*facts.data.remarks, *facts.data.messages),
        projection=facts.projection,
    )


def _place(part: str) -> int:
    parts = ("dataset", "stream", "backbone", "method", "train", "seeds")
    return parts.index(part) if part in parts else len(parts)
