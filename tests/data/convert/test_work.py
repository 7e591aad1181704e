"""Work folders of conversions: those of killed processes go, those of living ones stay."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evergraph.data.convert import Plan, convert_tables
from evergraph.data.convert.work import remove_left_over, work_folder
from evergraph.data.datasets.files import FileOptions

WAITING = """
import sys
from pathlib import Path
from evergraph.data.convert.work import work_folder
with work_folder(Path(sys.argv[1])) as work:
    (work / "graph").mkdir()
    print(work.name, flush=True)
    sys.stdin.read()
"""


def waiting(out: Path) -> tuple[subprocess.Popen[str], str]:
    """A process that works on `out`, and the name of its folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, str(out)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_only_the_folder_of_the_killed_process_goes(tmp_path: Path) -> None:
    out = tmp_path / "graph"
    (dead, left), (living, busy), (other, others) = waiting(out), waiting(out), waiting(tmp_path / "graph.b")
    try:
        for process in (dead, other):
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        (tmp_path / ".graph.0123456789ab").mkdir()  # nobody knows whose it is
        assert {path.name for path in tmp_path.iterdir()} >= {left, busy, others}
        (tmp_path / "nodes.csv").write_text("id,label\na,0\nb,1\n")
        (tmp_path / "edges.csv").write_text("source,target\na,b\n")
        convert_tables(tmp_path / "edges.csv", tmp_path / "nodes.csv", out, FileOptions(), Plan.of(10**8))
        names = {path.name for path in tmp_path.iterdir() if path.is_dir()}
        assert names == {"graph", busy, others, ".graph.0123456789ab"}
    finally:
        living.communicate("")
    assert not (tmp_path / busy).exists()


def test_another_machine_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process, left = waiting(tmp_path / "graph")
    process.kill()
    process.wait()
    with monkeypatch.context() as patch:
        patch.setattr("platform.node", lambda: "another")
        remove_left_over(tmp_path / "graph")
    assert (tmp_path / left).exists()
    remove_left_over(tmp_path / "graph")
    assert not (tmp_path / left).exists()


def test_nothing_stays_after_a_fault(tmp_path: Path) -> None:
    with pytest.raises(KeyError), work_folder(tmp_path / "graph"):
        raise KeyError
    assert not list(tmp_path.iterdir())
