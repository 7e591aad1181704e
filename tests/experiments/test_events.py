"""Events of runs: what is written, that it is whole, and that a listener that fails ends no run."""

import json
from pathlib import Path
from typing import Any

import pytest

from evergraph.errors import ConfigError, StoreError
from evergraph.experiments.events import JsonLines, Listeners, TensorBoard, open_log, scalars
from evergraph.experiments.local import GridListener, Outcome
from evergraph.results.summary import summarise
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import run
from evergraph.watch import LearnedTask, Watch
from helpers import quick_config

CONFIG = RunConfig.from_values({"dataset": {"name": "digits"}, "method": {"name": "ssm"}})
TASK = LearnedTask(1, 5, {"local": [100.0, None], "global": [60.0, 80.0]}, {"train": 1.5})


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_for_each_event(tmp_path: Path) -> None:
    path = tmp_path / "new" / "events.jsonl"
    for _ in range(2):  # a second command appends
        log = JsonLines(path)
        log.started(CONFIG)
        log.learned(CONFIG, TASK)
        log.ended(Outcome(CONFIG, error="it broke\nbadly"))
    events = lines(path)
    assert [event["event"] for event in events] == ["run_started", "task_learned", "run_failed"] * 2
    assert all(event["version"] == 1 and event["run"] == CONFIG.label() for event in events)
    started, learned, failed = events[:3]
    assert (started["dataset"], started["method"], started["backbone"]) == ("digits", "ssm", "gcn")
    assert (learned["task"], learned["tasks"], learned["aa_local"], learned["aa_global"]) == (2, 5, 100.0, 70.0)
    assert learned["accuracies"] == {"local": [100.0, None], "global": [60.0, 80.0]}
    assert learned["seconds"] == {"train": 1.5}
    assert failed["reason"] == "it broke\nbadly"


class Noted(Watch):
    """Remembers what was learned."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks: list[LearnedTask] = []

    def learned(self, task: LearnedTask) -> None:
        self.tasks.append(task)


def test_a_run_tells_what_its_record_says(tmp_path: Path) -> None:
    watch = Noted()
    config = quick_config("finetune", train={"epochs": 1})
    result = run(config, tmp_path, watch=watch)
    summary = summarise(result.record)
    assert [task.index for task in watch.tasks] == list(range(len(summary.matrix)))
    for test, matrix in (("local", summary.matrix_local), ("global", summary.matrix_global)):
        told = [task.accuracies[test] for task in watch.tasks]
        assert told == [row[: at + 1] for at, row in enumerate(matrix or [])]
    log = JsonLines(tmp_path / "events.jsonl")
    log.ended(Outcome(config, result.folder))
    (event,) = lines(tmp_path / "events.jsonl")
    assert event["summary"]["aa"] == summary.aa
    assert event["summary"]["kept_bytes"] == summary.memory.bytes
    assert Path(event["folder"]) == result.folder


def test_tensorboard_gets_the_scalars_of_every_task(tmp_path: Path) -> None:
    reader: Any = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    board = TensorBoard(tmp_path / "board")
    board.learned(CONFIG, TASK)
    board.ended(Outcome(CONFIG, tmp_path))
    found = reader.EventAccumulator(str(tmp_path / "board" / CONFIG.label()))
    found.Reload()
    assert set(found.Tags()["scalars"]) == set(scalars(TASK))
    (event,) = found.Scalars("aa/global")
    assert (event.step, event.value) == (2, 70.0)
    assert "accuracy-local/task-002" not in scalars(TASK)


def test_without_the_package_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evergraph.experiments.events.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r'pip install "evergraph\[tensorboard\]"'):
        open_log("tensorboard", Path("runs"))


def test_bad_logs_are_refused_in_one_sentence(tmp_path: Path) -> None:
    for text, words in (("events.txt", "ends in .jsonl"), ("tensorboard:", "a folder is wanted")):
        with pytest.raises(ConfigError, match=words):
            open_log(text, tmp_path)
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(StoreError, match="events cannot be written"):
        open_log(str(tmp_path / "folder.jsonl"), tmp_path)


class Broken(GridListener):
    def learned(self, config: RunConfig, task: LearnedTask) -> None:
        raise ValueError("no more")


def test_a_listener_that_fails_is_told_of_once_and_the_others_hear_on(tmp_path: Path) -> None:
    notes: list[str] = []
    both = Listeners([Broken(), JsonLines(tmp_path / "e.jsonl")], notes.append)
    both.started(CONFIG)
    both.learned(CONFIG, TASK)
    both.learned(CONFIG, TASK)
    assert len(lines(tmp_path / "e.jsonl")) == 3
    assert notes == ["ValueError: no more; nothing more is logged there, the runs go on"]
