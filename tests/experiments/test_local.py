"""The local executor: the same numbers as a plain run, failures recorded, nothing repeated."""

import json
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.cli import run_main
from evergraph.experiments.local import GridListener, Job, Outcome, run_local
from evergraph.results.records import grouped, read_records, setting, small_record
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import run
from evergraph.watch import LearnedTask


def config(method: str = "finetune", seed: int = 0, **sections: Any) -> RunConfig:
    return RunConfig.from_values(
        {
            "method": {"name": method},
            "backbone": {"hidden": 8},
            "train": {"epochs": 3, "threads": 1},
            "seeds": {"init": seed},
            **sections,
        }
    )


class Heard(GridListener):
    """Remembers what became of each run."""

    def __init__(self) -> None:
        self.events: dict[RunConfig, list[str]] = {}

    def started(self, config: RunConfig) -> None:
        self.events.setdefault(config, []).append("started")

    def learned(self, config: RunConfig, task: LearnedTask) -> None:
        self.events[config].append(f"task {task.index + 1}/{task.count}")

    def ended(self, outcome: Outcome) -> None:
        self.events[outcome.config].append("failed" if outcome.error else "finished")


def ignore(ended: list[Outcome], running: int) -> None:
    pass


def test_numbers_equal_a_plain_run_whatever_the_number_of_jobs(tmp_path: Path) -> None:
    configs = [config(method, seed) for method in ("finetune", "ftf-er-prob") for seed in (0, 1)]
    seen: list[int] = []
    heard = Heard()
    outcomes = run_local(
        configs, Job(tmp_path / "grid", None, 1), 2, lambda ended, running: seen.append(len(ended) + running), heard
    )
    tasks = len(small_record(Path(str(outcomes[0].folder))).matrix)
    expected = ["started", *(f"task {at}/{tasks}" for at in range(1, tasks + 1)), "finished"]
    assert heard.events == dict.fromkeys(configs, expected)
    assert {outcome.config for outcome in outcomes} == set(configs)
    assert max(seen) == len(configs)
    for outcome in outcomes:
        assert outcome.error is None
        assert outcome.folder is not None
        plain = run(outcome.config, tmp_path / "plain")
        assert small_record(outcome.folder).matrix == small_record(plain.folder).matrix
        (state,) = outcome.folder.glob("state-*.safetensors")
        assert state.read_bytes() == (plain.folder / state.name).read_bytes()


def test_a_failed_run_is_recorded_and_the_others_go_on(tmp_path: Path) -> None:
    broken = config(dataset={"name": str(tmp_path / "none.npz")})
    heard = Heard()
    outcomes = run_local([broken, config()], Job(tmp_path, tmp_path, 1), 1, ignore, heard)
    assert heard.events[broken] == ["started", "failed"]
    errors = {outcome.config: outcome.error for outcome in outcomes}
    assert "none.npz" in str(errors[broken])
    assert errors[config()] is None


def test_a_machine_without_the_folder_for_what_does_not_fit_uses_its_own(tmp_path: Path) -> None:
    for folder, used in ((tmp_path, tmp_path), (tmp_path / "elsewhere", Path(tempfile.gettempdir()))):
        with Job(tmp_path, None, 1, memory=10**8, scratch=folder).budget() as budget:
            assert (budget.memory, budget.scratch) == (10**8, used)


def test_a_run_whose_process_is_killed_is_recorded_as_such(tmp_path: Path) -> None:
    slow = config(train={"epochs": 100_000, "threads": 1})
    killed: list[int] = []

    def kill(ended: list[Outcome], running: int) -> None:
        if running:
            deadline = time.monotonic() + 30
            while not (locks := list(tmp_path.glob("*/lock"))) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert locks
            killed.append(_holder(locks[0]))
            os.kill(killed[-1], signal.SIGKILL)

    (outcome,) = run_local([slow], Job(tmp_path, None, 1), 1, kill)
    assert killed
    assert outcome.folder is None
    assert "died" in str(outcome.error)


def _holder(lock: Path) -> int:
    """The process that has a file open."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for folder in Path("/proc").glob("[0-9]*/fd"):
            try:
                if any(os.readlink(entry) == str(lock) for entry in folder.iterdir()):
                    return int(folder.parent.name)
            except OSError:
                continue
    raise AssertionError("nobody holds the lock")


EXPERIMENT = """
[base.backbone]
hidden = 8
[base.train]
epochs = 2
threads = 1
[[grid]]
"method.name" = ["finetune", "joint"]
seed = [0, 1]
"""


def test_the_command_does_each_run_once_and_exports_small_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, records = tmp_path / "quick.toml", tmp_path / "results" / "quick.json"
    file.write_text(EXPERIMENT)
    arguments = ["bench", str(file), "--out", str(tmp_path / "runs"), "--jobs", "2", "--json"]
    assert run_main([*arguments, "--export", str(records)]) == 0
    first = json.loads(capsys.readouterr().out)
    assert len(first["done"]) == 4
    assert first["failed"] == {}
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("*.json")}
    assert run_main(arguments) == 0
    assert sorted(json.loads(capsys.readouterr().out)["done"]) == sorted(first["done"])
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").rglob("*.json")} == before
    assert run_main([*arguments, "--dry-run"]) == 0
    assert all(row["done"] for row in json.loads(capsys.readouterr().out)["runs"])
    groups = grouped(read_records(records), ["method.name"])
    assert {key: len(runs) for key, runs in groups.items()} == {("finetune",): 2, ("joint",): 2}
    assert setting(groups["joint",][0], "train.epochs") == 2
    assert setting(groups["joint",][0], "method.nothing") is None


def test_what_the_exported_file_holds_is_not_done_again_and_never_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, records = tmp_path / "quick.toml", tmp_path / "quick.json"
    file.write_text(EXPERIMENT.replace("[0, 1]", "[0]"))
    arguments = ["bench", str(file), "--export", str(records), "--json"]
    assert run_main([*arguments, "--out", str(tmp_path / "here")]) == 0
    first = records.read_text()
    file.write_text(EXPERIMENT)
    capsys.readouterr()
    assert run_main([*arguments, "--out", str(tmp_path / "elsewhere"), "--dry-run"]) == 0
    assert [row["done"] for row in json.loads(capsys.readouterr().out)["runs"]] == [True, False, True, False]
    assert run_main([*arguments, "--out", str(tmp_path / "elsewhere")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (len(told["done"]), told["exported"]) == (2, 2)
    both = json.loads(records.read_text())["runs"]
    assert len(both) == 4
    assert all(run in both for run in json.loads(first)["runs"])
    file.write_text(EXPERIMENT.replace("joint", "lwf"))
    assert run_main([*arguments, "--out", str(tmp_path / "elsewhere")]) == 2
    assert "2 others instead (digits-joint-gcn-seed" in capsys.readouterr().err
    assert len(json.loads(records.read_text())["runs"]) == 4


def test_an_exported_run_of_a_file_that_has_changed_is_done_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, file = tmp_path / "graph.npz", tmp_path / "own.toml"

    def written(seed: int) -> None:
        rng = np.random.default_rng(seed)
        ring = np.stack([np.arange(40), np.roll(np.arange(40), -1)])
        np.savez(graph, x=rng.random((40, 4)), edge_index=ring, y=np.arange(40) % 4)

    file.write_text(f'[base.dataset]\nname = "{graph}"\n[base.train]\nepochs = 1\n[base.method]\nname = "ncm"\n')
    arguments = ["bench", str(file), "--export", str(tmp_path / "own.json"), "--json"]
    for seed, (done, exported) in [(0, (1, 0)), (0, (0, 1)), (1, (1, 0))]:
        written(seed)
        assert run_main([*arguments, "--out", str(tmp_path / f"runs{seed}")]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (len(told["done"]), told["exported"]) == (done, exported)


def test_a_failure_in_a_grid_gives_exit_code_1_and_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('[base.train]\nepochs = 1\n[[grid]]\n"dataset.name" = ["digits", "no/none.npz"]\n')
    code = run_main(["bench", str(file), "--out", str(tmp_path / "runs"), "--data-dir", str(tmp_path), "--json"])
    assert code == 1
    result = json.loads(capsys.readouterr().out)
    assert len(result["done"]) == 1
    assert "none.npz" in str(result["failed"])
