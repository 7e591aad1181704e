"""Events of runs for other programs: a file of JSON lines, or scalars for TensorBoard. One process writes them."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evergraph.errors import ConfigError, StoreError
from evergraph.experiments.local import GridListener, Outcome
from evergraph.files import make_folder
from evergraph.results.summary import learning_seconds, summarise
from evergraph.runs.config import RunConfig
from evergraph.runs.store import RunStore
from evergraph.watch import LearnedTask

EVENTS_VERSION = 1
"""Grows when a field changes its meaning or goes; new fields and new events may come without that."""
TENSORBOARD = "tensorboard"
AVERAGED = ("aa", "af", "aa_local", "af_local", "aa_global", "af_global", "learning_accuracy", "peak_bytes")


class JsonLines(GridListener):
    """Appends one JSON object for each event to a file, each line in one write."""

    def __init__(self, path: Path):
        make_folder(path.parent, "--log")
        self.path = path
        self._write("")  # what cannot be written is told before anything is learned

    def started(self, config: RunConfig) -> None:
        values = config.to_values()
        names = {part: values[part]["name"] for part in ("dataset", "method", "backbone")}
        self._event("run_started", config, {**names, "seeds": values["seeds"]})

    def learned(self, config: RunConfig, task: LearnedTask) -> None:
        facts = {
            "task": task.index + 1,
            "tasks": task.count,
            **{f"aa_{test}": average(values) for test, values in task.accuracies.items()},
            "accuracies": task.accuracies,
            "seconds": task.seconds,
        }
        self._event("task_learned", config, facts)

    def ended(self, outcome: Outcome) -> None:
        if outcome.folder is None:
            self._event("run_failed", outcome.config, {"reason": outcome.error})
            return
        summary = run_summary(outcome.folder)
        self._event("run_finished", outcome.config, {"folder": str(outcome.folder), "summary": summary})

    def _event(self, event: str, config: RunConfig, facts: dict[str, Any]) -> None:
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        head = {"version": EVENTS_VERSION, "event": event, "time": time, "run": config.label()}
        self._write(json.dumps({**head, **facts}, allow_nan=False) + "\n")

    def _write(self, line: str) -> None:
        try:
            with self.path.open("ab", buffering=0) as file:
                file.write(line.encode())
        except OSError as error:
            raise StoreError(
                f"events cannot be written to {self.path}: {error.strerror}; choose another --log"
            ) from None


def average(values: list[float | None]) -> float | None:
    """The mean of the tasks that have test nodes; None if none has."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def run_summary(folder: Path) -> dict[str, Any]:
    """The measures of a finished run, in percent, bytes and seconds."""
    summary = summarise(RunStore(folder).record())
    facts = {name: getattr(summary, name) for name in AVERAGED}
    return {**facts, "kept_bytes": summary.memory.bytes, "learning_seconds": learning_seconds(summary)}


class TensorBoard(GridListener):
    """Writes the accuracies and times of each task as scalars, a folder for each run; the step is the task."""

    def __init__(self, folder: Path):
        if find_spec(TENSORBOARD) is None:
            raise ConfigError(
                "--log tensorboard needs the package tensorboard, which is not installed; "
                'pip install "evergraph[tensorboard]"'
            )
        make_folder(folder, "--log")
        self.folder = folder
        self.writers: dict[str, Any] = {}

    def learned(self, config: RunConfig, task: LearnedTask) -> None:
        from torch.utils.tensorboard import SummaryWriter

        label = config.label()
        if label not in self.writers:
            self.writers[label] = SummaryWriter(str(self.folder / label))
        for name, value in scalars(task).items():
            self.writers[label].add_scalar(name, value, task.index + 1)
        self.writers[label].flush()

    def ended(self, outcome: Outcome) -> None:
        writer = self.writers.pop(outcome.config.label(), None)
        if writer is not None:
            writer.close()


def scalars(task: LearnedTask) -> dict[str, float]:
    """What is drawn of a task, by name; what is not known is left out."""
    found: dict[str, float | None] = {f"aa/{test}": average(values) for test, values in task.accuracies.items()}
    for test, values in task.accuracies.items():
        found |= {f"accuracy-{test}/task-{at:03d}": value for at, value in enumerate(values, start=1)}
    found |= {f"seconds/{phase}": value for phase, value in task.seconds.items()}
    return {name: value for name, value in found.items() if value is not None}


def open_log(text: str, out: Path) -> GridListener:
    """What --log names: tensorboard, tensorboard:FOLDER, or a file for JSON lines."""
    name, colon, folder = text.partition(":")
    if name == TENSORBOARD:
        if colon and not folder:
            raise ConfigError("a folder is wanted after tensorboard:, got none instead; leave the colon out")
        return TensorBoard(Path(folder) if folder else out / TENSORBOARD)
    path = Path(text)
    if path.suffix not in (".jsonl", ".ndjson"):
        raise ConfigError(f"--log must be a file that ends in .jsonl, or tensorboard, got {text} instead")
    return JsonLines(path)


class Listeners(GridListener):
    """Several listeners; one that fails is told of once and hears nothing more, and the runs go on."""

    def __init__(self, members: list[GridListener], on_failure: Callable[[str], None]):
        self.members, self.on_failure = list(members), on_failure

    def started(self, config: RunConfig) -> None:
        self._tell(lambda member: member.started(config))

    def on_disk(self, config: RunConfig, plan: str) -> None:
        self._tell(lambda member: member.on_disk(config, plan))

    def learned(self, config: RunConfig, task: LearnedTask) -> None:
        self._tell(lambda member: member.learned(config, task))

    def ended(self, outcome: Outcome) -> None:
        self._tell(lambda member: member.ended(outcome))

    def _tell(self, call: Callable[[GridListener], None]) -> None:
        for member in list(self.members):
            try:
                call(member)
            except Exception as error:  # what is told of a run must not end it
                self.members.remove(member)
                why = str(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {error}"
                self.on_failure(f"{why}; nothing more is logged there, the runs go on")
