"""Which runs of a grid are done already."""

from pathlib import Path

import pytest

from evergraph.cli.execution import finished_runs
from evergraph.data.datasets import DatasetConfig, source_digest
from evergraph.runs.execute import run
from helpers import run_config

from .conftest import write_tiny


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
