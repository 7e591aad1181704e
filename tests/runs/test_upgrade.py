"""Runs that were made by version 0.1.0, before a schema version existed, are still found, read and resumed.

The folders in tests/fixtures were written by that version; nothing in them was changed since.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from evergraph.cli import run_main
from evergraph.config import Settings
from evergraph.data.stream import StreamConfig
from evergraph.runs import data_config
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import find_run, run
from evergraph.runs.store import RunStore

FIXTURES = Path(__file__).parents[1] / "fixtures"
FINISHED = sorted((FIXTURES / "runs-0.1.0").iterdir())
INTERRUPTED = FIXTURES / "interrupted-0.1.0"


def config_of(folder: Path) -> RunConfig:
    return RunConfig.from_values(json.loads((folder / "config.json").read_text()))


@pytest.mark.parametrize("folder", FINISHED, ids=lambda folder: folder.name)
def test_a_finished_run_is_found_and_not_repeated(folder: Path) -> None:
    store = find_run(folder.parent, config_of(folder))
    assert store is not None
    assert store.folder == folder
    messages: list[str] = []
    result = run(config_of(folder), folder.parent, resume=True, on_message=messages.append)
    assert messages == [f"{folder} is finished already; nothing to do"]
    assert result.record.schema_version == 1
    content = json.loads((folder / "record.json").read_text())
    assert result.record.correct == content["correct"]
    assert result.record.config == content["config"]


def test_a_run_with_other_settings_is_not_found() -> None:
    values = config_of(FINISHED[0]).to_values()
    for section, key, value in (("train", "epochs", 4), ("backbone", "hidden", 5), ("stream", "remainder", "keep")):
        other = {**values, section: {**values[section], key: value}}
        assert find_run(FINISHED[0].parent, RunConfig.from_values(other)) is None


def test_an_interrupted_run_is_resumed_to_the_same_result(tmp_path: Path) -> None:
    (before,) = (path for path in INTERRUPTED.iterdir() if path.is_dir())
    shutil.copytree(before, tmp_path / before.name)
    store = RunStore(tmp_path / before.name)
    assert store.tasks_done == 2
    result = run(config_of(before), tmp_path, resume=True)
    whole = json.loads((INTERRUPTED / "whole.json").read_text())
    assert result.folder == tmp_path / before.name
    assert result.record.correct == whole["correct"]
    assert [vars(memory) for memory in result.record.memory] == whole["memory"]


class LaterStreamConfig(StreamConfig):
    """The settings of a stream as a later version might have them."""

    speed: int = Field(3, ge=1)
    more: Settings = Settings()


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_config, "StreamConfig", LaterStreamConfig)


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("folder", FINISHED, ids=lambda folder: folder.name)
def test_a_finished_run_is_found_after_a_setting_was_added(folder: Path) -> None:
    values = config_of(folder).to_values()
    assert values["stream"]["speed"] == 3
    store = find_run(folder.parent, RunConfig.from_values(values))
    assert store is not None
    assert store.folder == folder
    faster = {**values, "stream": {**values["stream"], "speed": 4}}
    assert find_run(folder.parent, RunConfig.from_values(faster)) is None


def test_a_setting_with_its_default_changes_neither_name_nor_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    before = RunConfig.from_values({"method": {"name": "ssm"}})
    monkeypatch.setattr(data_config, "StreamConfig", LaterStreamConfig)
    after = RunConfig.from_values({"method": {"name": "ssm"}})
    assert after.to_values() != before.to_values()
    assert (after.label(), after.digest()) == (before.label(), before.digest())
    changed = RunConfig.from_values({"method": {"name": "ssm"}, "stream": {"speed": 4}})
    assert changed.digest() != before.digest()
    assert changed.changed()["stream.speed"] == 4


def test_a_page_shows_old_runs_beside_new_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same settings, made by both versions with different seeds, are one row."""
    for folder in FINISHED:
        shutil.copytree(folder, tmp_path / "runs" / folder.name)
    old = next(folder for folder in FINISHED if "finetune" in folder.name)
    values: dict[str, Any] = {**config_of(old).to_values(), "seeds": {"split": 2, "order": 2, "init": 2}}
    run(RunConfig.from_values(values), tmp_path / "runs")
    assert run_main(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "page.html"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    (row,) = (row for row in rows if row["method"] == "finetune")
    assert row["seeds"] == 2


def test_a_folder_that_cannot_be_read_is_another_run(tmp_path: Path) -> None:
    """It has the name of our run but for the digest, so it is looked at."""
    config = RunConfig.from_values({"train": {"epochs": 1, "threads": 1}, "backbone": {"hidden": 4}})
    broken = tmp_path / f"{config.label_stem()}-00000000"
    broken.mkdir()
    (broken / "config.json").write_text("{", encoding="utf-8")
    folder = run(config, tmp_path, resume=True).folder
    assert folder != broken
    found = find_run(tmp_path, config)
    assert found is not None
    assert found.folder == folder
