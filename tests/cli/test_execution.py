"""Which runs of a grid are done already, and what they may hold."""

from pathlib import Path

import pytest

from evergraph.cli.execution import finished_runs
from evergraph.data.datasets import DatasetConfig, source_digest
from evergraph.runs.execute import run
from evergraph.runs.plugins import PluginFile
from helpers import run_config

from .conftest import Call, write_tiny


def test_runs_on_a_file_that_has_changed_are_not_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    configs = [
        run_config(
            dataset={"name": str(data)}, backbone={"hidden": 4}, method={"name": "ncm"}, seeds={"init": seed}
        )
        for seed in (0, 1, 2)
    ]
    folders = {config: run(config, tmp_path / "runs").folder for config in configs[:2]}
    read: list[DatasetConfig] = []

    def counting(config: DatasetConfig) -> str | None:
        read.append(config)
        return source_digest(config)

    monkeypatch.setattr("evergraph.cli.execution.source_digest", counting)
    assert finished_runs(configs, tmp_path / "runs") == folders
    assert len(read) == 1  # however many runs it has
    write_tiny(data, more=[1])
    assert finished_runs(configs, tmp_path / "runs") == folders  # the graph in it is the same
    other = data.read_bytes()
    write_tiny(data, time=range(54))
    assert data.read_bytes() != other
    assert finished_runs(configs, tmp_path / "runs") == {}


DISK = """
from evergraph.data.graph_folder import reading
from evergraph.scores import NodeScores, ScoreEntry

reading.bytes_in_memory = lambda graph: 10**18
SCORES = {"nothing": ScoreEntry("nothing", "nobody, 2026", NodeScores)}
"""
"""A plug-in of the processes of runs: no graph folder fits into memory there."""


def test_a_grid_on_disk_says_each_plan_once_and_takes_the_folder_that_was_named(
    call: Call, graph_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = PluginFile(str(tmp_path / "disk.py"), DISK)
    monkeypatch.setattr("evergraph.cli.execution.loaded_plugins", lambda: (plugin,))
    (tmp_path / "scratch").mkdir()
    (tmp_path / "grid.toml").write_text(
        f'[base.dataset]\nname = "{graph_folder}"\n[base.train]\nepochs = 1\nthreads = 1\n'
        '[[grid]]\n"method.name" = ["ncm", "finetune"]\nseed = [0, 1]\n'
    )
    answer = call("bench", "grid.toml", "--memory", "50MB", "--scratch", "scratch", "--jobs", 2)
    assert "4 runs done, 0 failed" in answer.out
    notes = sorted(line for line in answer.err.splitlines() if line.startswith("note: "))
    assert [note.partition(" (memory")[0].partition(";")[0] for note in notes] == [
        "note: read from disk in blocks",
        "note: the graph stays on disk",
    ]
    assert "propagated features go to scratch, " in notes[0]
    assert notes[1].endswith("else mapped from files in scratch")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--memory", "1kB"), "--memory must be at least 50 MB"),
        (("--scratch", "nowhere"), "--scratch must be a folder that is there, got nowhere instead"),
        (("--scratch", "s3://bucket/scratch"), "--scratch must be a folder, got s3://bucket/scratch; addresses go"),
    ],
)
@pytest.mark.parametrize("command", ["bench", "reproduce", "recommend"])
def test_a_budget_that_cannot_be_is_one_sentence(
    call: Call, tmp_path: Path, command: str, options: tuple[str, str], message: str
) -> None:
    (tmp_path / "grid.toml").write_text('[base.dataset]\nname = "digits"\n')
    what = {
        "bench": ("grid.toml",),
        "reproduce": ("table2", "--dataset", "digits"),
        "recommend": ("--dataset", "digits"),
    }
    answer = call(command, *what[command], *options)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1
