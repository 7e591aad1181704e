"""A run and its process: what a library call changes, it puts back, and what it measures is its own."""

import logging
import mmap
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from evergraph.cli import run_main
from evergraph.data.datasets.entry import RemoteFile
from evergraph.data.datasets.fetch import locator
from evergraph.errors import ConvergenceError, DataError
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import run
from evergraph.runs.process import PeakMemory, keep_freed_memory, torch_threads
from helpers import run_config

MIB = 1 << 20
linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the present memory of a process is read from /proc"
)


def quick(**sections: dict[str, Any]) -> RunConfig:
    return run_config(backbone={"hidden": 8}, method={"name": "finetune"}, **sections)


# threads


def test_a_run_leaves_the_number_of_threads(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    other = before + 1
    result = run(quick(train={"threads": other}), tmp_path)
    assert result.record.versions["threads"] == str(other)
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"train": {"threads": 2, "lr": 1e30, "epochs": 30}}, ConvergenceError),
        ({"train": {"threads": 2}, "dataset": {"name": "nowhere/graph.npz"}}, DataError),
    ],
    ids=["while it learns", "while it loads"],
)
def test_a_run_that_fails_leaves_the_number_of_threads(
    tmp_path: Path, settings: dict[str, Any], error: type[Exception]
) -> None:
    assert torch.get_num_threads() == 1
    with pytest.raises(error):
        run(quick(**settings), tmp_path)
    assert torch.get_num_threads() == 1


def test_no_threads_are_as_many_as_before() -> None:
    before = torch.get_num_threads()
    with torch_threads(0):
        assert torch.get_num_threads() == before
        with torch_threads(before + 2):
            assert torch.get_num_threads() == before + 2
        assert torch.get_num_threads() == before


# warnings

RUNS = """
import sys, warnings
from pathlib import Path

import pydantic, scipy.sparse.csgraph, sklearn.datasets, sklearn.neighbors, torch  # they add filters of their own

before = list(warnings.filters)
import evergraph.backbones
assert warnings.filters == before, "importing the backbones"
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import run
assert warnings.filters == before, "importing what a run needs"
for name in ("gcn", "gat", "gin"):
    values = {"train": {"epochs": 1, "threads": 1}, "backbone": {"name": name, "hidden": 8}}
    if name == "gat":
        values["backbone"]["heads"] = 2
    run(RunConfig.from_values(values), Path(sys.argv[1]))
    assert warnings.filters == before, name
"""


@pytest.mark.parametrize("options", [(), ("-W", "error")], ids=["plain", "error"])
def test_the_filters_of_warnings_stay_and_nothing_is_warned_of(tmp_path: Path, options: tuple[str, ...]) -> None:
    """torch says once in a process that CSR tensors are in beta; with -W error that would end the run."""
    command = [sys.executable, *options, "-c", RUNS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


# loggers


@pytest.mark.parametrize("fails", [False, True])
def test_a_download_leaves_the_level_of_poochs_logger(
    tmp_path: Path, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pooch = pytest.importorskip("pooch")
    monkeypatch.setenv("EVERGRAPH_CACHE", str(tmp_path))
    seen: list[int] = []

    def retrieve(url: str, *, fname: str, path: Path, **_: object) -> None:
        seen.append(pooch.get_logger().level)
        if fails:
            raise OSError("no connection")
        path.mkdir(parents=True)
        (path / fname).write_bytes(b"numbers")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    before = pooch.get_logger().level
    pooch.get_logger().setLevel(logging.DEBUG)
    try:
        if fails:
            with pytest.raises(DataError, match="no connection"):
                locator()(RemoteFile("g.npz", "http://localhost/g.npz"))
        else:
            locator()(RemoteFile("g.npz", "http://localhost/g.npz"))
        assert pooch.get_logger().level == logging.DEBUG
    finally:
        pooch.get_logger().setLevel(before)
    assert seen == [logging.WARNING]


# memory


def usage() -> Any:
    """What the system counts of this process."""
    resource = pytest.importorskip("resource", reason="only Unix counts it")
    return resource.getrusage(resource.RUSAGE_SELF)


PREPARED = """
import time
import numpy as np
from evergraph.runs.process import MIB, PeakMemory, _process_peak, _resident

def use(size, until=lambda: True):
    block = np.ones(size * MIB // 8)
    end = time.monotonic() + 60
    while not until():  # a busy machine takes its samples late
        assert time.monotonic() < end
        time.sleep(0.01)

use(400)
earlier, now = _process_peak(), _resident()
assert now < earlier - 300 * MIB
"""


def measured(code: str) -> list[int]:
    """What a fresh process prints: in this one, memory that other tests freed may have been kept."""
    done = subprocess.run([sys.executable, "-c", PREPARED + code], capture_output=True, text=True, check=True)
    return [int(number) for number in done.stdout.split()]


@linux_only
def test_the_peak_of_a_small_section_is_not_the_one_that_was_before() -> None:
    earlier, now, found = measured("with PeakMemory() as peak:\n    use(1)\nprint(earlier, now, peak.bytes)")
    assert 0.9 * now < found < earlier - 300 * MIB


@linux_only
def test_the_peak_of_a_section_below_an_earlier_one_is_sampled() -> None:
    code = """
with PeakMemory() as peak:
    use(200, lambda: peak._sampled > now + 150 * MIB)
print(earlier, now, peak.bytes, _resident())
"""
    earlier, now, found, after = measured(code)
    assert after < now + 100 * MIB
    assert now + 150 * MIB < found < earlier - 100 * MIB


@linux_only
def test_the_peak_of_a_section_above_all_earlier_ones_is_the_systems() -> None:
    code = "with PeakMemory() as peak:\n    use(1200)\nprint(earlier, peak.bytes, _process_peak())"
    earlier, found, system = measured(code)
    assert earlier + 150 * MIB < found == system


@linux_only
def test_the_peak_in_a_record_is_the_runs_own(tmp_path: Path) -> None:
    code = f"""
import torch, sklearn.datasets
from pathlib import Path
from evergraph import RunConfig, run
use(1500)
earlier, now = _process_peak(), _resident()
config = RunConfig.from_values({{"train": {{"epochs": 1, "threads": 1}}}})
print(earlier, now, run(config, Path({str(tmp_path)!r})).record.peak_bytes)
"""
    earlier, now, found = measured(code)
    assert 0.9 * now < found < earlier - 200 * MIB


def test_the_sampling_ends_with_the_section() -> None:
    def sampling() -> bool:
        return any(thread.name == "evergraph-memory" for thread in threading.enumerate())

    def fail() -> None:
        assert sampling()
        raise KeyError

    with pytest.raises(KeyError), PeakMemory():
        fail()
    assert not sampling()


def faults_of_freeing_and_asking() -> int:
    before = usage().ru_minflt
    for _ in range(50):
        torch.ones(1 << 20)
    return int(usage().ru_minflt - before)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc can be told to keep freed memory")
def test_freed_memory_is_not_asked_for_again() -> None:
    if not keep_freed_memory():
        pytest.skip("this C library has no mallopt")
    faults_of_freeing_and_asking()
    pages = (1 << 20) * 4 // mmap.PAGESIZE
    assert faults_of_freeing_and_asking() < 2 * pages, "50 times the same block should be paid for about once"


def test_only_the_command_line_lets_a_process_keep_freed_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("evergraph.runs.process.keep_freed_memory", lambda: asked.append("here"))
    run(quick(), tmp_path)
    assert asked == []
    arguments = ["run", "--method", "finetune", "--epochs", "1", "--set", "backbone.hidden=8"]
    assert run_main([*arguments, "--out", str(tmp_path)]) == 0
    assert asked == ["here"]
    capsys.readouterr()
