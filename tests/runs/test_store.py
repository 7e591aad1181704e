"""The store: one folder a run, atomic, locked, and one sentence for whatever is wrong with it."""

import errno
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from evergraph.errors import StoreError
from evergraph.replay.usage import MemoryUsage
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import create_run, find_run
from evergraph.runs.record import SCHEMA_VERSION, DataRecord, Record, TaskRecord
from evergraph.runs.store import RunStore
from helpers import assert_same_bits, run_config

STATE = {"a": torch.arange(6.0).view(2, 3), "b": torch.tensor([3], dtype=torch.int64)}
DATA = DataRecord(
    name="things", nodes=9, edges=8, features=7, tasks=1, class_order=[1, 0], remarks=["a remark"], messages=[]
)


def task_record(peak_bytes: int = 0) -> TaskRecord:
    return TaskRecord(
        data=DATA,
        correct={"val": [1, 2], "test": [3, 4]},
        seconds={"train": 0.1},
        memory=MemoryUsage(nodes=3, bytes=12),
        peak_bytes=peak_bytes,
        finished="2026-01-01T00:00:00+00:00",
    )


def run_record(peak_bytes: int = 0, seconds: float = 0.1) -> Record:
    return Record(
        schema_version=SCHEMA_VERSION,
        config=run_config().to_values(),
        changed=["train.epochs"],
        versions={"python": "3"},
        data=DATA,
        first_class=[0, 2],
        total={"val": [2, 2], "test": [5, 5]},
        correct={"val": [[1, 2]], "test": [[3, 4]]},
        seconds=[{"train": seconds}],
        memory=[MemoryUsage(nodes=3, bytes=12)],
        peak_bytes=peak_bytes,
        finished="2026-01-01T00:00:00+00:00",
    )


@pytest.fixture
def config() -> RunConfig:
    return run_config()


@pytest.fixture
def store(tmp_path: Path, config: RunConfig) -> RunStore:
    return create_run(tmp_path, config)


def test_a_new_run_has_its_configuration(store: RunStore, config: RunConfig) -> None:
    assert store.folder.name == config.label()
    assert RunConfig.from_values(store.config()) == config
    assert not store.finished
    assert store.tasks() == []


def test_each_run_has_a_folder_of_its_own(tmp_path: Path, config: RunConfig) -> None:
    folders = [create_run(tmp_path, config).folder.name for _ in range(3)]
    assert folders == [config.label(), f"{config.label()}-2", f"{config.label()}-3"]


def test_a_task_and_its_state_are_read_as_they_were_written(store: RunStore) -> None:
    for index in range(3):
        store.save_task(index, task_record(index), {**STATE, "b": torch.tensor([index])})
    assert store.tasks() == [task_record(index) for index in range(3)]
    assert_same_bits(store.state(), {**STATE, "b": torch.tensor([2])})
    assert [path.name for path in store.folder.glob("*.safetensors")] == ["state-002.safetensors"]


def test_nothing_temporary_is_left(store: RunStore) -> None:
    store.save_task(0, task_record(), STATE)
    store.finish(run_record())
    assert sorted(path.name for path in store.folder.iterdir()) == [
        "config.json",
        "record.json",
        "state-000.safetensors",
        "task-000.json",
    ]


def test_nothing_is_pickled(store: RunStore) -> None:
    store.save_task(0, task_record(), STATE)
    assert (store.folder / "task-000.json").exists()
    for path in store.folder.iterdir():
        assert path.suffix in (".json", ".safetensors")
        assert not path.read_bytes().startswith((b"\x80", b"PK"))


def test_views_and_leaves_of_a_graph_can_be_stored(store: RunStore) -> None:
    whole = torch.arange(12.0).view(3, 4).requires_grad_()
    store.save_task(0, task_record(), {"column": whole[:, 1], "all": whole * 2})
    assert torch.equal(store.state()["column"], torch.tensor([1.0, 5.0, 9.0]))


def test_numbers_that_json_does_not_have_are_refused(store: RunStore) -> None:
    with pytest.raises(ValueError, match="JSON"):
        store.finish(run_record(seconds=float("nan")))
    assert not store.finished


# records


def test_a_record_is_read_as_it_was_written(store: RunStore) -> None:
    store.save_task(0, task_record(), STATE)
    store.finish(run_record(5))
    assert store.record() == run_record(5)
    written = content(store, "record.json")
    assert written["schema_version"] == SCHEMA_VERSION == 3
    assert written["changed"] == ["train.epochs"]
    assert written["memory"] == [{"nodes": 3, "edges": 0, "floats": 0, "bytes": 12, "parameters": 0}]


def content(store: RunStore, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((store.folder / name).read_text())
    return found


def rewrite(store: RunStore, name: str, **changes: Any) -> None:
    """Change some keys of a file; None takes one away."""
    values = {**content(store, name), **changes}
    (store.folder / name).write_text(json.dumps({key: value for key, value in values.items() if value is not None}))


def test_a_record_without_a_version_is_of_the_first(store: RunStore) -> None:
    store.finish(run_record())
    rewrite(store, "record.json", schema_version=None, changed=None)
    found = store.record()
    assert (found.schema_version, found.changed) == (1, None)
    assert found == run_record().model_copy(update={"schema_version": 1, "changed": None})


def test_keys_that_came_later_are_ignored(store: RunStore) -> None:
    store.save_task(0, task_record(), STATE)
    store.finish(run_record())
    rewrite(store, "record.json", later={"x": 1})
    rewrite(store, "task-000.json", later={"x": 1}, data={**content(store, "task-000.json")["data"], "later": 1})
    assert store.record() == run_record()
    assert store.tasks() == [task_record()]


@pytest.mark.parametrize("version", [4, 77])
def test_a_record_of_a_later_version_is_one_sentence(store: RunStore, version: int) -> None:
    store.finish(run_record())
    rewrite(store, "record.json", schema_version=version)
    says = f"record.json must be of schema version 3 or earlier, got {version} instead; upgrade evergraph"
    with pytest.raises(StoreError, match=says) as caught:
        store.record()
    sentence(caught)


@pytest.mark.parametrize("version", [0, -1, "2x", 1.5, [], {}])
def test_a_version_that_is_none_is_one_sentence(store: RunStore, version: Any) -> None:
    store.finish(run_record())
    rewrite(store, "record.json", schema_version=version)
    with pytest.raises(StoreError, match=r"record.json must hold what a run has written.*schema_version") as caught:
        store.record()
    sentence(caught)


# finding the run to resume


def test_only_the_same_configuration_is_found(tmp_path: Path, store: RunStore, config: RunConfig) -> None:
    assert find_run(tmp_path, run_config(train={"epochs": 3})) is None
    found = find_run(tmp_path, config)
    assert found is not None
    assert found.folder == store.folder
    assert find_run(tmp_path / "nowhere", config) is None


def test_the_furthest_run_is_found_and_a_finished_one_before_all(tmp_path: Path, config: RunConfig) -> None:
    stores = [create_run(tmp_path, config) for _ in range(3)]
    stores[1].save_task(0, task_record(), STATE)
    found = find_run(tmp_path, config)
    assert found is not None
    assert found.folder == stores[1].folder
    stores[2].finish(run_record())
    found = find_run(tmp_path, config)
    assert found is not None
    assert found.folder == stores[2].folder


def test_a_run_from_before_a_setting_is_found_where_the_setting_has_its_default(
    tmp_path: Path, store: RunStore, config: RunConfig
) -> None:
    values = content(store, "config.json")
    del values["train"]["weight_decay"], values["stream"]["remainder"], values["dataset"]["standardise"]
    (store.folder / "config.json").write_text(json.dumps(values))
    found = find_run(tmp_path, config)
    assert found is not None
    assert found.folder == store.folder
    assert find_run(tmp_path, run_config(train={"weight_decay": 0.1})) is None
    assert find_run(tmp_path, run_config(stream={"remainder": "keep"})) is None


def test_a_run_in_a_folder_with_another_digest_is_found_by_its_settings(
    tmp_path: Path, store: RunStore, config: RunConfig
) -> None:
    """Earlier versions counted every setting into the name of a folder."""
    renamed = store.folder.rename(tmp_path / f"{config.label_stem()}-01234567-2")
    found = find_run(tmp_path, config)
    assert found is not None
    assert found.folder == renamed


@pytest.mark.parametrize(
    "change",
    [
        {"method": {"name": "nobody's own"}},
        {"train": {"epochs": 2, "threads": 1, "speed": 3}},
        {"plugins": {"method ftf-er-det": "a package 1.0, code 0123456789ab"}},
    ],
    ids=str,
)
def test_a_run_of_a_method_a_setting_or_code_that_is_not_here_is_passed_over(
    tmp_path: Path, store: RunStore, config: RunConfig, change: dict[str, Any]
) -> None:
    rewrite(store, "config.json", **change)
    assert find_run(tmp_path, config) is None


def test_seeds_that_begin_alike_are_told_apart(tmp_path: Path) -> None:
    create_run(tmp_path, run_config(seeds={"init": 10}))
    assert find_run(tmp_path, run_config(seeds={"init": 1})) is None
    assert RunStore.below(tmp_path, run_config(seeds={"init": 1}).label_stem()) == []


def test_a_file_name_with_brackets_is_found_too(tmp_path: Path) -> None:
    config = run_config(dataset={"name": "data/graph[1]*.npz"})
    store = create_run(tmp_path, config)
    found = find_run(tmp_path, config)
    assert found is not None
    assert found.folder == store.folder


def test_a_folder_that_never_got_its_configuration_is_passed_over(tmp_path: Path, config: RunConfig) -> None:
    (tmp_path / config.label()).mkdir()
    assert find_run(tmp_path, config) is None
    assert create_run(tmp_path, config).folder.name == f"{config.label()}-2"


# what can be wrong


def sentence(caught: pytest.ExceptionInfo[StoreError]) -> str:
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_only_one_process_at_a_time_works_on_a_run(store: RunStore) -> None:
    with store.locked():
        with (
            pytest.raises(StoreError, match="another process is working on") as caught,
            RunStore(store.folder).locked(),
        ):
            pass
        sentence(caught)
    with store.locked():
        pass


def test_the_lock_goes_when_the_work_fails(store: RunStore) -> None:
    with pytest.raises(KeyError), store.locked():
        raise KeyError
    with store.locked():
        pass


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "{}", '{"data": 1}', "\x00"])
@pytest.mark.parametrize("name", ["task-000.json", "record.json"])
def test_a_broken_json_file_is_one_sentence(store: RunStore, name: str, content: str) -> None:
    (store.folder / name).write_text(content)
    with pytest.raises(StoreError, match=f"{name} must .*instead") as caught:
        store.record() if name == "record.json" else store.tasks()
    sentence(caught)


def test_a_file_that_is_not_text_is_one_sentence(store: RunStore) -> None:
    (store.folder / "config.json").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(StoreError, match="readable JSON") as caught:
        store.config()
    sentence(caught)


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "text"])
def test_a_broken_state_is_one_sentence(store: RunStore, damage: str) -> None:
    store.save_task(0, task_record(), STATE)
    path = store.folder / "state-000.safetensors"
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes({"empty": b"", "cut": content[:-5], "text": b"hello, this is no tensor"}[damage])
    with pytest.raises(StoreError, match="cannot be read") as caught:
        store.state()
    sentence(caught)


def test_a_folder_that_is_no_run_is_one_sentence(tmp_path: Path, store: RunStore) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(StoreError, match="a run folder is wanted") as caught:
            RunStore(folder).record()
        sentence(caught)
    with pytest.raises(StoreError, match=r"unfinished run; resume it: evergraph run .*--resume") as caught:
        store.record()
    sentence(caught)


def test_a_results_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path, config: RunConfig) -> None:
    file = tmp_path / "file"
    file.touch()
    for out in (file, file / "below"):
        with pytest.raises(StoreError, match=r"cannot be made: .*; choose another --out") as caught:
            create_run(out, config)
        sentence(caught)


def test_an_interrupted_write_leaves_the_old_file(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save_task(0, task_record(), STATE)
    store.finish(run_record(1))
    before = {path.name: path.read_bytes() for path in store.folder.iterdir()}

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        store.finish(run_record(2))
    with pytest.raises(KeyboardInterrupt):
        store.save_task(1, task_record(), STATE)
    assert {path.name: path.read_bytes() for path in store.folder.iterdir()} == before
    assert store.record() == run_record(1)


def test_a_disk_that_is_full_is_one_sentence(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("evergraph.files.os.fsync", full)
    with pytest.raises(StoreError, match=r"state-000.safetensors cannot be written: No space") as caught:
        store.save_task(0, task_record(), STATE)
    sentence(caught)
    assert [path.name for path in store.folder.iterdir()] == ["config.json"]


# resuming a run elsewhere


def test_a_copy_can_be_resumed(store: RunStore, config: RunConfig, tmp_path: Path) -> None:
    copy = create_run(tmp_path / "elsewhere", config)
    for index in range(3):
        store.save_task(index, task_record(index), {**STATE, "b": torch.tensor([index])})
        copy.add_files(store.files())
        assert copy.tasks() == store.tasks()
        assert_same_bits(copy.state(), store.state())
    store.finish(run_record())
    copy.add_files(store.files())
    assert copy.files() == store.files()


def test_a_copy_keeps_what_it_has_and_never_goes_back(store: RunStore, config: RunConfig, tmp_path: Path) -> None:
    store.save_task(0, task_record(), STATE)
    early = store.files()
    copy = create_run(tmp_path / "elsewhere", config)
    copy.add_files(early)
    before = (copy.folder / "task-000.json").stat()
    store.save_task(1, task_record(), {})
    copy.add_files(store.files())
    copy.add_files(early)
    copy.add_files({})
    after = (copy.folder / "task-000.json").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert copy.files() == store.files()
