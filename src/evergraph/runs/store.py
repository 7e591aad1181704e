"""One run = one folder: JSON and safetensors, every file written atomically, so that a killed run can go on.

    config.json               what was asked for
    task-000.json ...         what each finished task yielded
    state-004.safetensors     the learner after the last finished task
    record.json               the whole result, once all tasks are done
    projection.json           its test nodes in two dimensions, once somebody has asked for them

A state is written before the task file that makes it count, and the previous state is removed after: whenever the
process dies, the newest task file has its state beside it.
"""

import glob
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from evergraph.errors import StoreError
from evergraph.runs.config import RunConfig

try:
    import fcntl
except ImportError:  # not on every platform; there two processes must not resume the same run
    fcntl = None  # type: ignore[assignment]


class RunStore:
    """The folder of one run."""

    def __init__(self, folder: Path):
        self.folder = folder

    @classmethod
    def create(cls, out: Path, config: RunConfig) -> "RunStore":
        """A new folder below `out` that nobody else has: a number is appended until the name is free."""
        make_folder(out)
        for attempt in range(1, 10_000):
            folder = out / (config.label() + (f"-{attempt}" if attempt > 1 else ""))
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            except OSError as error:
                raise StoreError(f"the run folder {folder} cannot be made: {error.strerror}") from None
            store = cls(folder)
            store._write_json("config.json", config.to_values())
            return store
        raise StoreError(f"{out} has too many runs of this configuration already; choose another --out")

    @classmethod
    def find(cls, out: Path, config: RunConfig) -> "RunStore | None":
        """The run of this configuration below `out` to go on with: a finished one, else the furthest one."""
        stores = [cls(path.parent) for path in sorted(out.glob(f"{glob.escape(config.label())}*/config.json"))]
        same = [store for store in stores if store.config() == config.to_values()]
        return max(same, key=lambda store: (store.finished, store.tasks_done), default=None)

    @property
    def finished(self) -> bool:
        return (self.folder / "record.json").exists()

    @property
    def tasks_done(self) -> int:
        return len(list(self.folder.glob("task-*.json")))

    def config(self) -> dict[str, Any]:
        return self._read_json("config.json")

    def record(self) -> dict[str, Any]:
        """The result of a finished run."""
        if not self.folder.is_dir() or not (self.folder / "config.json").exists():
            raise StoreError(f"a run folder is wanted, got {self.folder}, which is none")
        if not self.finished:
            raise StoreError(
                f"{self.folder} holds an unfinished run; go on with it with `evergraph run ... --resume`"
            )
        return self._read_json(
            "record.json", ("config", "data", "first_class", "total", "correct", "seconds", "memory")
        )

    def save_task(self, index: int, result: Mapping[str, Any], state: Mapping[str, Tensor]) -> None:
        """A finished task, with everything that is needed to go on after it."""
        name = _state_name(index)
        temporary = _temporary(self.folder / name)
        save_file({key: value.detach().cpu().contiguous() for key, value in state.items()}, temporary)
        _replace(temporary, self.folder / name)
        self._write_json(f"task-{index:03d}.json", result)
        self._remove_states_but(name)

    def tasks(self) -> list[dict[str, Any]]:
        """The results of the finished tasks, in order."""
        keys = ("data", "correct", "seconds", "memory", "peak_bytes", "finished")
        return [self._read_json(f"task-{index:03d}.json", keys) for index in range(self.tasks_done)]

    def state(self) -> dict[str, Tensor]:
        """The learner after the last finished task."""
        path = self.folder / _state_name(self.tasks_done - 1)
        try:
            return load_file(path)
        except (OSError, SafetensorError) as error:
            raise StoreError(
                f"the state {path} cannot be read ({error}); delete the folder and start again"
            ) from None

    def finish(self, record: Mapping[str, Any]) -> None:
        self._write_json("record.json", record)
        self._remove_states_but(_state_name(self.tasks_done - 1))

    def files(self) -> dict[str, bytes]:
        """What is needed to go on with the run elsewhere, or once it is finished, to know all of it."""
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
        with (self.folder / "lock").open("w") as file:
            if fcntl is not None:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    raise StoreError(
                        f"another process is working on {self.folder}; wait for it or stop it"
                    ) from None
            yield

    def _read_json(self, name: str, keys: tuple[str, ...] = ()) -> dict[str, Any]:
        path = self.folder / name
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StoreError(f"{path} must be a readable JSON file, got an error instead: {error}") from None
        if not isinstance(content, dict) or not content.keys() >= set(keys):
            raise StoreError(f"{path} must hold what a run has written, got something else instead")
        return content

    def _write_json(self, name: str, content: Mapping[str, Any]) -> None:
        write_atomically(self.folder / name, json.dumps(content, indent=1, allow_nan=False) + "\n")


def _state_name(index: int) -> str:
    return f"state-{index:03d}.safetensors"


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file that is there as a whole or, when the process dies meanwhile, as it was before."""
    temporary = _temporary(path)
    temporary.write_bytes(content if isinstance(content, bytes) else content.encode())
    _replace(temporary, path)


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")


def _replace(temporary: Path, path: Path) -> None:
    """Move a file into place once it is on disk."""
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def make_folder(out: Path, option: str = "--out") -> None:
    """Make a folder for results unless it is there; StoreError in one sentence where that cannot be done."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"the folder {out} cannot be made: {error.strerror}; choose another {option}") from None
