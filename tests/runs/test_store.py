"""The store: one folder a run, atomic, locked, and one sentence for whatever is wrong with it."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from evergraph.errors import StoreError
from evergraph.runs.config import RunConfig
from evergraph.runs.store import RunStore
from helpers import assert_same_bits, run_config

STATE = {"a": torch.arange(6.0).view(2, 3), "b": torch.tensor([3], dtype=torch.int64)}
RESULT: dict[str, Any] = dict.fromkeys(("data", "correct", "seconds", "memory", "peak_bytes", "finished"), 0)


@pytest.fixture
def config() -> RunConfig:
    return run_config()


@pytest.fixture
def store(tmp_path: Path, config: RunConfig) -> RunStore:
    return RunStore.create(tmp_path, config)


def test_a_new_run_has_its_configuration(store: RunStore, config: RunConfig) -> None:
    assert store.folder.name == config.label()
    assert RunConfig.from_values(store.config()) == config
    assert not store.finished
    assert store.tasks() == []


def test_each_run_has_a_folder_of_its_own(tmp_path: Path, config: RunConfig) -> None:
    folders = [RunStore.create(tmp_path, config).folder.name for _ in range(3)]
    assert folders == [config.label(), f"{config.label()}-2", f"{config.label()}-3"]


def test_a_task_and_its_state_are_read_as_they_were_written(store: RunStore) -> None:
    for index in range(3):
        store.save_task(index, {**RESULT, "peak_bytes": index}, {**STATE, "b": torch.tensor([index])})
    assert [task["peak_bytes"] for task in store.tasks()] == [0, 1, 2]
    assert_same_bits(store.state(), {**STATE, "b": torch.tensor([2])})
    assert [path.name for path in store.folder.glob("*.safetensors")] == ["state-002.safetensors"]


def test_nothing_temporary_is_left(store: RunStore) -> None:
    store.save_task(0, RESULT, STATE)
    store.finish({"x": 1})
    assert sorted(path.name for path in store.folder.iterdir()) == [
        "config.json",
        "record.json",
        "state-000.safetensors",
        "task-000.json",
    ]


def test_nothing_is_pickled(store: RunStore) -> None:
    store.save_task(0, RESULT, STATE)
    for path in store.folder.iterdir():
        assert path.suffix in (".json", ".safetensors")
        assert not path.read_bytes().startswith((b"\x80", b"PK"))


def test_views_and_leaves_of_a_graph_can_be_stored(store: RunStore) -> None:
    whole = torch.arange(12.0).view(3, 4).requires_grad_()
    store.save_task(0, RESULT, {"column": whole[:, 1], "all": whole * 2})
    assert torch.equal(store.state()["column"], torch.tensor([1.0, 5.0, 9.0]))


def test_numbers_that_json_does_not_have_are_refused(store: RunStore) -> None:
    with pytest.raises(ValueError, match="JSON"):
        store.finish({"aa": float("nan")})
    assert not store.finished


# finding the run to go on with


def test_only_the_same_configuration_is_found(tmp_path: Path, store: RunStore, config: RunConfig) -> None:
    assert RunStore.find(tmp_path, run_config(train={"epochs": 3})) is None
    found = RunStore.find(tmp_path, config)
    assert found is not None
    assert found.folder == store.folder
    assert RunStore.find(tmp_path / "nowhere", config) is None


def test_the_furthest_run_is_found_and_a_finished_one_before_all(tmp_path: Path, config: RunConfig) -> None:
    stores = [RunStore.create(tmp_path, config) for _ in range(3)]
    stores[1].save_task(0, RESULT, STATE)
    found = RunStore.find(tmp_path, config)
    assert found is not None
    assert found.folder == stores[1].folder
    stores[2].finish({})
    found = RunStore.find(tmp_path, config)
    assert found is not None
    assert found.folder == stores[2].folder


def test_a_file_name_with_brackets_is_found_too(tmp_path: Path) -> None:
    config = run_config(dataset={"name": "data/graph[1]*.npz"})
    store = RunStore.create(tmp_path, config)
    found = RunStore.find(tmp_path, config)
    assert found is not None
    assert found.folder == store.folder


def test_a_folder_that_never_got_its_configuration_is_passed_over(tmp_path: Path, config: RunConfig) -> None:
    (tmp_path / config.label()).mkdir()
    assert RunStore.find(tmp_path, config) is None
    assert RunStore.create(tmp_path, config).folder.name == f"{config.label()}-2"


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
    store.save_task(0, RESULT, STATE)
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
    with pytest.raises(StoreError, match=r"unfinished run; go on with it with .*--resume") as caught:
        store.record()
    sentence(caught)


def test_a_results_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path, config: RunConfig) -> None:
    file = tmp_path / "file"
    file.touch()
    for out in (file, file / "below"):
        with pytest.raises(StoreError, match=r"cannot be made: .*; choose another --out") as caught:
            RunStore.create(out, config)
        sentence(caught)


def test_an_interrupted_write_leaves_the_old_file(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.finish({"x": 1})
    before = (store.folder / "record.json").read_text()

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("evergraph.runs.store._replace", die)
    with pytest.raises(KeyboardInterrupt):
        store.finish({"x": 2})
    assert (store.folder / "record.json").read_text() == before
    assert json.loads(before) == {"x": 1}


# going on with a run elsewhere


def test_a_copy_can_be_gone_on_with(store: RunStore, config: RunConfig, tmp_path: Path) -> None:
    copy = RunStore.create(tmp_path / "elsewhere", config)
    for index in range(3):
        store.save_task(index, {**RESULT, "peak_bytes": index}, {**STATE, "b": torch.tensor([index])})
        copy.add_files(store.files())
        assert copy.tasks() == store.tasks()
        assert_same_bits(copy.state(), store.state())
    store.finish({"x": 1})
    copy.add_files(store.files())
    assert copy.files() == store.files()


def test_a_copy_keeps_what_it_has_and_never_goes_back(store: RunStore, config: RunConfig, tmp_path: Path) -> None:
    store.save_task(0, RESULT, STATE)
    early = store.files()
    copy = RunStore.create(tmp_path / "elsewhere", config)
    copy.add_files(early)
    before = (copy.folder / "task-000.json").stat()
    store.save_task(1, RESULT, {})
    copy.add_files(store.files())
    copy.add_files(early)
    copy.add_files({})
    after = (copy.folder / "task-000.json").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert copy.files() == store.files()
