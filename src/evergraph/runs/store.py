"""One run = one folder: JSON and safetensors, every file written atomically, so that a killed run can be resumed.

    config.json               what was asked for
    task-000.json ...         what each finished task yielded
    state-004.safetensors     the learner after the last finished task
    record.json               the whole result, once all tasks are done
    projection.json           its test nodes in two dimensions, once somebody has asked for them

A state is written before the task file that makes it count, and the previous state is removed after: whenever the
process dies, the newest task file has its state beside it. torch is imported only where tensors are read or
written, so that results can be read without it.
"""

import glob
import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from evergraph.errors import StoreError
from evergraph.files import make_folder, write_atomically
from evergraph.limits import is_plain
from evergraph.locks import locked
from evergraph.models.tensors import tensor_bytes
from evergraph.parsing import read_json
from evergraph.runs.record import SCHEMA_VERSION, DataRecord, Record, TaskRecord

if TYPE_CHECKING:
    from torch import Tensor

DO_AGAIN = "remove the folder and do the run again"
M = TypeVar("M", bound=BaseModel)


class RunStore:
    """The folder of one run."""

    def __init__(self, folder: Path):
        self.folder = folder

    @classmethod
    def create(cls, out: Path, label: str, config: Mapping[str, Any]) -> "RunStore":
        """A new folder below `out` that nobody else has: a number is appended until the name is free."""
        make_folder(out)
        for attempt in range(1, 10_000):
            folder = out / (label + (f"-{attempt}" if attempt > 1 else ""))
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            except OSError as error:
                raise StoreError(f"the run folder {folder} cannot be made: {error.strerror}") from None
            store = cls(folder)
            try:
                store._write_json("config.json", config)
            except StoreError:
                with suppress(OSError):
                    folder.rmdir()
                raise
            return store
        raise StoreError(f"{out} has too many runs of this configuration already; choose another --out")

    @classmethod
    def below(cls, out: Path, stem: str) -> "list[RunStore]":
        """The runs below `out` whose folder names begin with `stem`."""
        return [cls(path.parent) for path in sorted(out.glob(f"{glob.escape(stem)}-*/config.json"))]

    @property
    def finished(self) -> bool:
        return (self.folder / "record.json").exists()

    @property
    def tasks_done(self) -> int:
        return len(list(self.folder.glob("task-*.json")))

    def config(self) -> dict[str, Any]:
        return self._read_json("config.json")

    def record(self) -> Record:
        """The result of a finished run."""
        if not self.folder.is_dir() or not (self.folder / "config.json").exists():
            raise StoreError(f"a run folder is wanted, got {self.folder}, which is none")
        if not self.finished:
            config, out = str(self.folder / "config.json"), str(self.folder.parent)
            command = shlex.join(["evergraph", "run", "--config", config, "--out", out, "--resume"])
            raise StoreError(f"{self.folder} holds an unfinished run; resume it: {command}")
        return self._read_model("record.json", Record)

    def data(self) -> DataRecord | None:
        """What the run learns from; None while no task is finished."""
        if self.finished:
            return self.record().data
        return (
            self._read_model(f"task-{self.tasks_done - 1:03d}.json", TaskRecord).data if self.tasks_done else None
        )

    def save_task(self, index: int, result: TaskRecord, state: "Mapping[str, Tensor]") -> None:
        """A finished task, with everything that is needed to resume after it."""
        name = _state_name(index)
        write_atomically(self.folder / name, tensor_bytes(state))
        self._write_json(f"task-{index:03d}.json", result.model_dump(mode="json"))
        self._remove_states_but(name)

    def tasks(self) -> list[TaskRecord]:
        """The results of the finished tasks, in order."""
        return [self._read_model(f"task-{index:03d}.json", TaskRecord) for index in range(self.tasks_done)]

    def state(self) -> "dict[str, Tensor]":
        """The learner after the last finished task."""
        path = self.folder / _state_name(self.tasks_done - 1)
        return load_tensors(path, "delete the folder and start again")

    def finish(self, record: Record) -> None:
        self._write_json("record.json", record.model_dump(mode="json"))
        self._remove_states_but(_state_name(self.tasks_done - 1))

    def files(self) -> dict[str, bytes]:
        """What is needed to resume the run elsewhere, or once it is finished, to know all of it."""
        kinds = ("config.json", "state-*.safetensors", "task-*.json", "record.json")
        return {path.name: path.read_bytes() for kind in kinds for path in sorted(self.folder.glob(kind))}

    def add_files(self, files: Mapping[str, bytes]) -> None:
        """Take over the `files` of the same run elsewhere, unless it is further here; a task that is here stays."""
        tasks = sum(name.startswith("task-") for name in files)
        if tasks == 0 or tasks < self.tasks_done:
            return
        state = _state_name(tasks - 1)
        write_atomically(self.folder / state, files[state])
        for name in (*(f"task-{index:03d}.json" for index in range(self.tasks_done, tasks)), "record.json"):
            if name in files:
                write_atomically(self.folder / name, files[name])
        self._remove_states_but(state)

    def _remove_states_but(self, name: str) -> None:
        """Older states, and what a process left that was killed while it wrote one."""
        for old in (*self.folder.glob("state-*.safetensors"), *self.folder.glob(".state-*")):
            if old.name != name:
                old.unlink()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one process at a time works on a run; the lock goes with the process, however it ends."""
        with locked(self.folder / "lock"):
            yield

    def _read_model(self, name: str, kind: type[M]) -> M:
        """A file as a typed record; StoreError in one sentence where it is none, or of a later version."""
        path, content = self.folder / name, self._read_json(name)
        version = content.get("schema_version", 1)
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise StoreError(
                f"{path} must be of schema version {SCHEMA_VERSION} or earlier, got {version} instead; "
                "upgrade evergraph"
            )
        try:
            return kind.model_validate(content)
        except ValidationError as error:
            why = f"{'.'.join(map(str, error.errors()[0]['loc']))}: {error.errors()[0]['msg']}"
            raise StoreError(
                f"{path} must hold what a run has written, got something else instead ({why}); {DO_AGAIN}"
            ) from None

    def _read_json(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        try:
            content: dict[str, Any] = read_json(path, inside=True)
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{path} must be a readable JSON file, got an error instead: {error}; {DO_AGAIN}"
            ) from None
        if not isinstance(content, dict):
            raise StoreError(f"{path} must hold what a run has written, got something else instead; {DO_AGAIN}")
        return content

    def _write_json(self, name: str, content: Mapping[str, Any]) -> None:
        write_atomically(self.folder / name, json.dumps(content, indent=1, allow_nan=False) + "\n")


def _state_name(index: int) -> str:
    return f"state-{index:03d}.safetensors"


def load_tensors(path: Path, advice: str) -> "dict[str, Tensor]":
    """The tensors in a safetensors file; StoreError with this advice where the file is broken."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        if not is_plain(path):
            raise FileNotFoundError("there is no plain file of this name")
        return load_file(path)
    except (OSError, SafetensorError, ValueError, TypeError, LookupError, ArithmeticError, RuntimeError) as error:
        raise StoreError(f"the state {path} cannot be read ({error}); {advice}") from None
