"""Small records of finished runs: what a table or a figure needs, in one JSON file an experiment."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from evergraph.errors import StoreError
from evergraph.results.projection import read_projection
from evergraph.results.summary import summarise
from evergraph.results.validation import TUNED, best_on_validation
from evergraph.runs.config import completed
from evergraph.runs.store import RunStore

DATA_KEPT = ("name", "nodes", "edges", "features", "tasks", "class_order", "class_names", "remarks", "messages")
KEPT = ("aa", "af", "matrix", "learning_accuracy", "per_class", "plain", "val", "seconds", "memory", "peak_bytes")


def small_record(folder: Path) -> dict[str, Any]:
    """A run's settings, data and results, accuracies in percent, rounded to four decimals."""
    record = RunStore(folder).record()
    summary = summarise(record)
    seen = read_projection(folder)
    return {
        "config": completed(record["config"]),
        "data": {key: record["data"][key] for key in DATA_KEPT},
        "versions": record["versions"],
        **{key: _rounded(summary[key]) for key in KEPT},
        **({} if seen is None else {"projection": seen.model_dump(mode="json")}),
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    return value


def write_records(path: Path, name: str, folders: Iterable[Path]) -> None:
    """All runs of an experiment in one file, a line each, in a fixed order, and how their settings were chosen."""
    records = [small_record(folder) for folder in folders]
    parts = {"choices": choices(records), "runs": records}
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "{" + f'"experiment": {json.dumps(name)}'
    for key, entries in parts.items():
        lines = sorted(json.dumps(entry, sort_keys=True) for entry in entries)
        text += f',\n"{key}": [\n' + ",\n".join(lines) + "\n]"
    path.write_text(text + "}\n", encoding="utf-8")


def choices(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For runs that differ only in a tuned setting and their seeds: which value is best on validation."""
    families: dict[str, dict[Any, list[dict[str, Any]]]] = {}
    for record in records:
        value = setting(record, TUNED)
        if value is not None:
            families.setdefault(_family(record), {}).setdefault(value, []).append(record)
    return [_choice(family) for family in families.values() if len(family) > 1]


def _family(record: dict[str, Any]) -> str:
    """Equal for runs whose settings differ in nothing but the tuned one and the seeds."""
    config = {**record["config"], "seeds": None}
    config["method"] = {key: value for key, value in config["method"].items() if key != TUNED.partition(".")[2]}
    return json.dumps(config, sort_keys=True)


def _choice(family: dict[Any, list[dict[str, Any]]]) -> dict[str, Any]:
    best, means = best_on_validation(
        {value: [run["val"]["aa"] for run in runs] for value, runs in sorted(family.items())}
    )
    first, seeds = family[best][0], len(family[best])
    return {
        "dataset": setting(first, "dataset.name"),
        "backbone": setting(first, "backbone.name"),
        "method": setting(first, "method.name"),
        "setting": TUNED,
        "chosen": best,
        "how": f"best mean validation AA over {seeds} seeds; no test figure was looked at",
        "validation_aa": [[value, round(mean, 4)] for value, mean in means.items()],
        "method_settings": {key: value for key, value in first["config"]["method"].items() if key != "beta"},
    }


def read_records(path: Path) -> list[dict[str, Any]]:
    """The runs in a file of records."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"a file of records is wanted, got {path} instead ({error})") from None
    runs = content.get("runs") if isinstance(content, dict) else None
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise StoreError(f"a file of records is wanted, got {path} instead, which has no list of runs")
    return runs


def grouped(records: Sequence[dict[str, Any]], keys: Sequence[str]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Records with the same values of some settings (dotted paths) together, in order of first appearance."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault(tuple(setting(record, key) for key in keys), []).append(record)
    return groups


def setting(record: dict[str, Any], path: str) -> Any:
    """A setting of a record by its dotted path, None where it has none."""
    value: Any = record["config"]
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
