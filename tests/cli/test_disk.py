"""Every command on a full disk and with every umask: one sentence, nothing half-written, the usual permissions."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evergraph.runs.execute import RunResult
from evergraph.runs.store import RunStore

from .conftest import Call, write_tiny

QUICK = ("--method", "finetune", "--epochs", 1, "--set", "train.threads=1", "--set", "backbone.hidden=4")


class FullDisk:
    """Lets so many files be written to the end, and no further one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.left, self.real, self.monkeypatch = 0, os.fsync, monkeypatch

    def after(self, files: int) -> None:
        self.left = files
        self.monkeypatch.setattr("evergraph.files.os.fsync", self.fsync)

    def fsync(self, descriptor: int) -> None:
        if self.left <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.left -= 1
        self.real(descriptor)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> FullDisk:
    return FullDisk(monkeypatch)


def half_written(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".*")]


@pytest.mark.parametrize("files", [0, 1, 2, 5, 7, 8])
def test_a_run_on_a_full_disk_is_one_sentence_and_can_be_resumed(
    call: Call, full_disk: FullDisk, tmp_path: Path, files: int
) -> None:
    """Config, then state and task three times, then the record, then two figures."""
    data = write_tiny(tmp_path / "tiny.npz")
    arguments = ("run", "--dataset", data, *QUICK, "--out", tmp_path / "runs", "--resume")
    full_disk.after(files)
    answer = call(*arguments)
    assert answer.code == 2
    assert answer.err.splitlines()[-1].endswith("cannot be written: No space left on device")
    assert half_written(tmp_path) == []
    folders = list((tmp_path / "runs").iterdir())
    assert len(folders) == (0 if files == 0 else 1)
    full_disk.after(100)
    assert call(*arguments).code == 0
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_other_commands_on_a_full_disk_write_nothing(
    call: Call, full_disk: FullDisk, finished: RunResult, tmp_path: Path
) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    (tmp_path / "grid.toml").write_text(f'[base.dataset]\nname = "{data}"\n[base.train]\nepochs = 1\nthreads = 1\n')
    before = sorted(tmp_path.rglob("*"))
    full_disk.after(0)
    for arguments in (
        ("report", finished.folder, "--out", tmp_path / "report.html"),
        ("report", finished.folder, "--out", tmp_path / "report.md"),
        ("show", finished.folder, "--out", tmp_path),
        ("score", "--dataset", data, "--score", "degree", "--out", tmp_path / "s.csv"),
        ("score", "--dataset", data, "--score", "degree", "--out", tmp_path / "s.parquet"),
    ):
        answer = call(*arguments)
        assert (answer.code, answer.err.count("\n")) == (2, 1), arguments
        assert "cannot be written: No space left on device" in answer.err
        assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full on this system")
@pytest.mark.parametrize("arguments", [("list", "methods"), ("data", "info", "digits", "--json")])
def test_output_that_finds_no_room_is_one_sentence(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "evergraph", *arguments]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 1
    assert (
        "".join(ended.stderr.splitlines())
        == "error: room for the output is wanted, got a full disk instead; free some"
    )


def test_records_on_a_full_disk_are_not_written(
    call: Call, full_disk: FullDisk, finished: RunResult, tmp_path: Path
) -> None:
    """The runs of a grid are in other processes; the file of records is in this one."""
    config = RunStore(finished.folder).config()
    name, hidden = config["dataset"]["name"], config["backbone"]["hidden"]
    train = "[base.train]\nepochs = 2\nthreads = 1"
    backbone = f"[base.backbone]\nhidden = {hidden}"
    (tmp_path / "grid.toml").write_text(f'[base.dataset]\nname = "{name}"\n{train}\n{backbone}\n')
    full_disk.after(0)
    out = ("--out", finished.folder.parent, "--export", tmp_path / "records.json")
    answer = call("bench", tmp_path / "grid.toml", *out)
    assert answer.code == 2
    assert "records.json cannot be written: No space left on device" in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["grid.toml"]


@pytest.fixture
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("mask", [0o027, 0o002], indirect=True)
def test_everything_that_is_written_follows_the_umask(call: Call, tmp_path: Path, mask: int) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    out = tmp_path / "out"
    assert call("run", "--dataset", data, *QUICK, "--out", out / "runs").code == 0
    (run,) = (out / "runs").iterdir()
    for suffix in ("html", "md"):
        assert call("report", run, "--out", out / f"page.{suffix}").code == 0
    for suffix in ("csv", "parquet"):
        assert call("score", "--dataset", data, "--score", "degree", "--out", out / f"s.{suffix}").code == 0
    written = list(out.rglob("*"))
    assert {path.suffix for path in written} >= {
        ".html",
        ".md",
        ".csv",
        ".parquet",
        ".png",
        ".json",
        ".safetensors",
    }
    for path in (out, *written):
        assert stat.S_IMODE(path.stat().st_mode) == (0o777 if path.is_dir() else 0o666) & ~mask, path
