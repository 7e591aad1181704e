"""Read finished runs from run folders or from files of small records."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from evergraph.config import flattened
from evergraph.data.datasets import is_path
from evergraph.errors import StoreError
from evergraph.results.records import Complete, SmallRecord, read_records, small_record
from evergraph.results.summary import SoFar, data_title, derived_ahead
from evergraph.runs.metrics import accuracy_curve
from evergraph.runs.store import RunStore

NOT_THE_SETUP = ("seeds.", "train.threads")
FACTS = ("nodes", "edges", "features", "tasks")
SECTIONS = ("dataset", "stream", "backbone", "method", "train", "seeds")


@dataclass(frozen=True)
class Result:
    """A finished run; accuracies in percent, on test nodes unless named otherwise.

    settings: by dotted name; changed: the names of those that are not defaults, None if unknown.
    """

    source: str
    settings: dict[str, Any]
    changed: frozenset[str] | None
    record: SmallRecord

    @classmethod
    def of(cls, source: str, record: SmallRecord) -> "Result":
        order = sorted(record.config, key=lambda part: SECTIONS.index(part) if part in SECTIONS else len(SECTIONS))
        settings = flattened({part: record.config[part] for part in order})
        return cls(source, settings, None if record.changed is None else frozenset(record.changed), record)

    @cached_property
    def setup(self) -> dict[str, Any]:
        """All settings except seeds and threads, the code of plug-ins, and whether batches were sampled."""
        plugins = {f"{key}.source": value for key, value in self.record.versions.items() if ", code " in value}
        settings = {key: value for key, value in self.settings.items() if not key.startswith(NOT_THE_SETUP)}
        return {**settings, **plugins, **({"train.batches": self.sampled} if self.sampled else {})}

    @property
    def sampled(self) -> str | None:
        """How batches were sampled; None where they were full or nothing was trained."""
        return None if self.record.batches in (None, "full") else self.record.batches

    @property
    def seeds(self) -> dict[str, Any]:
        return {key[6:]: value for key, value in self.settings.items() if key.startswith("seeds.")}

    @property
    def remarks(self) -> tuple[str, ...]:
        sampled = [f"trained in {self.sampled}, not in full batches"] if self.sampled else []
        ahead = derived_ahead(self.record.config)
        return *self.record.data.remarks, *self.record.data.messages, *ahead, *sampled

    @cached_property
    def title(self) -> str:
        title = data_title(self.record.config["dataset"], self.record.data.name)
        return ", ".join([title, *self.stream_traits])

    @property
    def stream_traits(self) -> list[str]:
        """In what the stream is unusual: runs on other streams are not compared."""
        arrival = self.settings.get("stream.arrival", "classes")
        traits = {
            "whole graph": self.whole_graph,
            f"by time in {self.settings.get('stream.steps')} steps": arrival == "time",
            f"blurry by {self.settings.get('stream.blur')}": arrival == "blurry",
            "inductive": bool(self.settings.get("stream.inductive")),
        }
        return [name for name, holds in traits.items() if holds]

    @property
    def whole_graph(self) -> bool:
        """Whether the run learned in the graph known so far, instead of in each task's own."""
        return bool(self.settings.get("stream.inter_task_edges"))

    @property
    def so_far(self) -> SoFar | None:
        """The accuracy on all nodes so far in the run's protocol, where classes come back; else None."""
        if self.settings.get("stream.arrival", "classes") == "classes":
            return None
        return self.record.so_far_global if self.whole_graph else self.record.so_far_local

    @property
    def both_tests(self) -> dict[str, float | None]:
        """AA tested in each task's own graph and in the whole one; None where it was not."""
        own = "global" if self.whole_graph else "local"
        record = self.record
        return {"local": record.aa_local, "global": record.aa_global} | {own: record.aa}

    @cached_property
    def measures(self) -> dict[str, float]:
        record = self.record
        return {
            "aa": record.aa,
            "af": record.af,
            "val": record.val.aa,
            "plain": record.plain.aa,
            "nodes": float(record.memory.nodes),
            "edges": float(record.memory.edges),
            "kept": record.memory.bytes / 2**20,
            "peak": record.peak_bytes / 2**20,
        }

    @cached_property
    def curve(self) -> list[float]:
        return [float(value) for value in accuracy_curve(np.array(self.record.matrix, dtype=np.float64))]

    @property
    def classes(self) -> list[tuple[int, str]] | None:
        """Label and name of each class in order of arrival; None if unknown."""
        order = self.record.data.class_order
        names = self.record.data.class_names or [str(label) for label in order]
        return list(zip(order, names, strict=True)) if order else None

    @property
    def size(self) -> list[int]:
        """Nodes, edges and features of the data."""
        return [self.record.data.nodes, self.record.data.edges, self.record.data.features]

    @property
    def content(self) -> str | None:
        """What tells the data of a file from those of another file of the same name; None where nothing does."""
        data = self.record.data
        if not is_path(str(self.settings["dataset.name"])):
            return None
        frozen = self.settings.get("stream.preprocessing") != "standard"  # which depends on the seeds
        return data.source or (data.fingerprint if frozen else None)

    @property
    def identity(self) -> str:
        """Equal for runs with the same settings and seeds on the same data."""
        return json.dumps([self.setup, self.seeds, self.size, self.content], sort_keys=True)


def read_results(paths: Sequence[Path], complete: Complete | None = None) -> tuple[list[Result], list[str]]:
    """All finished runs below some paths, each once, and notes on what was left out."""
    found: list[Result] = []
    unfinished = 0
    for path in paths:
        if path.is_dir() and not (path / "config.json").exists():
            results, skipped = _read_folder(path, complete)
            found += results
            unfinished += skipped
        elif path.is_dir():
            found.append(read_run(path, complete))
        else:
            found += _from_records(path, complete)
    found = with_defaults(found)
    once = {result.identity: result for result in reversed(found)}
    kept = [result for result in found if once[result.identity] is result]
    notes = []
    if unfinished:
        notes.append(f"{unfinished} unfinished {_runs(unfinished)} left out")
    if repeated := len(found) - len(kept):
        notes.append(f"{repeated} {_runs(repeated)} left out: the same settings and seeds were there already")
    return kept, notes


def with_defaults(results: Iterable[Result]) -> list[Result]:
    """Add the settings that did not exist yet when a result was made.

    Such a setting has its default: its value in a newer record that does not list it as changed.
    """
    results = list(results)
    defaults: dict[str, dict[str, Any]] = {}
    for result in results:
        for key, value in result.settings.items():
            if result.changed is not None and key not in result.changed:
                defaults.setdefault(_owner(key, result), {}).setdefault(key, value)
    filled = []
    for result in results:
        owners = dict.fromkeys(_owner(key, result) for key in result.settings)
        known = {key: value for owner in owners for key, value in defaults.get(owner, {}).items()}
        missing = {key: value for key, value in known.items() if key not in result.settings}
        filled.append(replace(result, settings={**result.settings, **missing}) if missing else result)
    return filled


def _owner(key: str, result: Result) -> str:
    """The method, the backbone or the section that a setting belongs to."""
    section = key.partition(".")[0]
    return f"{section} {result.settings[f'{section}.name']}" if section in ("method", "backbone") else section


def _runs(number: int) -> str:
    return "run" if number == 1 else "runs"


def _read_folder(folder: Path, complete: Complete | None) -> tuple[list[Result], int]:
    """The finished runs in a folder of run folders, else of record files, and the number of unfinished ones."""
    stores = [RunStore(path.parent) for path in sorted(folder.glob("*/config.json"))]
    finished = [store for store in stores if store.finished]
    results = [read_run(store.folder, complete) for store in finished]
    if not stores:
        results = [result for path in sorted(folder.glob("*.json")) for result in _from_records(path, complete)]
    if not results:
        holds = f"only {len(stores)} unfinished" if stores else "none"
        raise StoreError(
            f"a folder of finished runs or of files of records is wanted, got {folder}, which has {holds}"
        )
    return results, len(stores) - len(finished)


def read_run(folder: Path, complete: Complete | None = None) -> Result:
    """The finished run in a folder; StoreError if it holds none."""
    try:
        return Result.of(folder.name, small_record(folder).completed(complete))
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        why = str(error).splitlines()[0]
        raise StoreError(
            f"{folder / 'record.json'} must hold what a run has written, got something else instead ({why})"
        ) from None


def _from_records(path: Path, complete: Complete | None) -> list[Result]:
    records = read_records(path, complete)
    if not records:
        raise StoreError(f"a file of records with at least one run is wanted, got {path}, which has none")
    return [Result.of(f"{path.name}, run {at}", record) for at, record in enumerate(records, start=1)]
