"""The Ray executor on a real cluster of two nodes: the numbers of the local one, whatever dies on the way."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from evergraph.cli import run_main
from evergraph.experiments import ray as executor
from evergraph.experiments.local import Job, Outcome, run_local
from evergraph.experiments.ray import run_ray
from evergraph.methods import METHODS
from evergraph.runs.config import RunConfig

from .test_local import Heard

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason='Ray is not here; pip install "evergraph[ray]" brings it'),
    pytest.mark.skipif(
        not Path("/proc/self/fd").exists(), reason="processes are looked up in /proc, which Linux has"
    ),
]
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # read when Ray is imported: 127.0.0.1 stays what it is
PATIENCE = 120.0
VOLATILE = ("seconds", "processor_seconds", "peak_bytes", "finished")


def config(method: str = "finetune", seed: int = 0, epochs: int = 3, **sections: Any) -> RunConfig:
    train = {"epochs": epochs, "threads": 1}
    values = {"method": {"name": method}, "backbone": {"hidden": 8}, "train": train, "seeds": {"init": seed}}
    return RunConfig.from_values({**values, **sections})


QUICK = config("finetune")
SLOW = [config("ftf-er-prob", seed, epochs=600) for seed in (0, 1)]
ENDLESS = config(epochs=1_000_000)
BROKEN = config(dataset={"name": "nowhere/graph.npz"})


class Cluster:
    """Two nodes with a CPU each, on this machine and seen by nobody else."""

    def __init__(self, folder: Path) -> None:
        from ray.cluster_utils import Cluster as Nodes

        self.folder = folder
        quick = {
            "health_check_initial_delay_ms": 0,
            "health_check_period_ms": 500,
            "health_check_failure_threshold": 3,
            "worker_niceness": 0,
        }
        self.settings = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 80_000_000}
        head = {**self.settings, "include_dashboard": False, "include_log_monitor": False, "_system_config": quick}
        self.nodes = Nodes(initialize_head=True, head_node_args=head)
        self.second = self.add()
        self.address = str(self.nodes.address)

    def add(self) -> Any:
        return self.nodes.add_node(**self.settings)

    def kill_second(self) -> None:
        self.nodes.remove_node(self.second, allow_graceful=False)

    def workers(self, run: RunConfig) -> list[int]:
        """The processes that do a run here: they hold its lock."""
        ours, lock = f"{self.folder}/", f"/{run.label()}/lock"
        return [pid for pid in processes() if any(n.startswith(ours) and n.endswith(lock) for n in opened(pid))]

    def is_second(self, pid: int) -> bool:
        """Whether a worker belongs to the second node."""
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        return any(info.process.pid == parent for info in self.second.all_processes["raylet"])


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """What its processes leave behind when they are killed goes with it."""
    with (
        TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("TMPDIR", folder)
        cluster = Cluster(Path(folder))
        yield cluster
        cluster.nodes.shutdown()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[RunConfig, Outcome]:
    """What the local executor makes of all runs."""
    out = tmp_path_factory.mktemp("local")
    outcomes = run_local([*SLOW, QUICK, BROKEN], Job(out, None, 1), 2, lambda ended, running: None)
    return {outcome.config: outcome for outcome in outcomes}


@pytest.fixture(autouse=True)
def _looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is killed must be killed in the middle: the driver hears of a finished task at once."""
    monkeypatch.setattr(executor, "POLL_SECONDS", 0.1)


def patient(then: Callable[[], None] = lambda: None) -> Callable[[list[Outcome], int], None]:
    """What is called while runs go on: it looks after the time."""
    deadline = time.monotonic() + PATIENCE

    def looking(ended: list[Outcome], running: int) -> None:
        assert time.monotonic() < deadline, "the runs do not end"
        then()

    return looking


def until(found: Callable[[], Any]) -> Any:
    """What is found, once it is."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if answer := found():
            return answer
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def processes() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]


def opened(pid: int) -> list[str]:
    """The files and sockets that a process has open."""
    try:
        return [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return []


def meanwhile(deed: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=deed)
    thread.start()
    return thread


def numbers(folder: Path) -> dict[str, Any]:
    """All that a run has stored, but for the times and the memory of the process."""
    found: dict[str, Any] = {}
    for path in folder.iterdir():
        content = json.loads(path.read_text()) if path.suffix == ".json" else path.read_bytes()
        drop = VOLATILE if isinstance(content, dict) else ()
        found[path.name] = {key: content[key] for key in content if key not in drop} if drop else content
    return found


def assert_same(outcomes: list[Outcome], local: dict[RunConfig, Outcome]) -> None:
    for outcome in outcomes:
        expected = local[outcome.config]
        assert outcome.error == expected.error
        assert (outcome.folder is None) == (expected.folder is None)
        if outcome.folder is not None and expected.folder is not None:
            assert outcome.folder.name == expected.folder.name
            assert numbers(outcome.folder) == numbers(expected.folder)


def starts(folder: Path) -> list[int]:
    """The tasks with which a process began: it had to load the data."""
    tasks = [json.loads(path.read_text()) for path in sorted(folder.glob("task-*.json"))]
    return [index for index, task in enumerate(tasks) if "load" in task["seconds"]]


def test_a_grid_with_a_killed_process_and_a_failure_has_every_number_of_the_local_executor(
    cluster: Cluster, local: dict[RunConfig, Outcome], tmp_path: Path
) -> None:
    killed, times = SLOW[0], list[int]()
    first = tmp_path / killed.label() / "task-000.json"

    def kill() -> None:
        until(first.exists)
        times.append(first.stat().st_mtime_ns)
        (pid,) = cluster.workers(killed)
        os.kill(pid, signal.SIGKILL)

    killer = meanwhile(kill)
    configs = [killed, BROKEN, QUICK]
    heard = Heard()
    outcomes = run_ray(configs, Job(tmp_path, None, 1), 2, cluster.address, patient(), heard)
    killer.join()
    assert heard.events[BROKEN] == ["started", "failed"]
    assert heard.events[killed].count("started") == 2
    for config in (killed, QUICK):
        tasks = len(list((tmp_path / config.label()).glob("task-*.json")))
        learned = [event for event in heard.events[config] if event.startswith("task")]
        assert set(learned) == {f"task {at}/{tasks}" for at in range(1, tasks + 1)}
        assert heard.events[config][-1] == "finished"
    assert {outcome.config for outcome in outcomes} == set(configs)
    assert_same(outcomes, local)
    assert "nowhere/graph.npz" in str(local[BROKEN].error)
    assert first.stat().st_mtime_ns == times[0]
    assert len(starts(first.parent)) == 2  # it went on after a task and was not begun anew
    assert starts(tmp_path / QUICK.label()) == [0]


SLOW_GRID = """
[base]
backbone = { hidden = 8 }
train = { epochs = 600, threads = 1 }
method = { name = "ftf-er-prob" }
[[grid]]
"seeds.init" = [0, 1]
"""


def test_the_runs_of_a_node_that_dies_go_on_elsewhere_and_the_command_prints_one_object(
    cluster: Cluster, local: dict[RunConfig, Outcome], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    runs, moved = tmp_path / "runs", list[tuple[Path, int]]()
    (tmp_path / "slow.toml").write_text(SLOW_GRID)
    arguments = ["bench", str(tmp_path / "slow.toml"), "--out", str(runs), "--jobs", "2", "--json"]

    def kill() -> None:
        run = until(lambda: [run for run in SLOW for pid in cluster.workers(run) if cluster.is_second(pid)])[0]
        first = runs / run.label() / "task-000.json"
        until(first.exists)
        moved.append((first, first.stat().st_mtime_ns))
        cluster.kill_second()

    killer = meanwhile(kill)
    code = run_main([*arguments, "--executor", "ray", "--ray-address", cluster.address])
    killer.join()
    cluster.second = cluster.add()
    out, err = capfd.readouterr()
    assert code == 0, err
    assert out.count("\n") == 1
    answer = json.loads(out)
    assert answer["failed"] == {}
    assert_same([Outcome(run, Path(folder)) for run, folder in zip(SLOW, answer["done"], strict=True)], local)
    ((first, before),) = moved
    assert first.stat().st_mtime_ns == before
    assert {folder.name: len(starts(folder)) for folder in runs.iterdir()} == {
        run.label(): 2 if run.label() == first.parent.name else 1 for run in SLOW
    }
    assert run_main([*arguments, "--executor", "ray", "--ray-address", "nowhere:1"]) == 0  # nothing is to be done
    assert json.loads(capfd.readouterr().out) == answer


def test_a_run_that_dies_again_and_again_has_failed(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "DEATHS", 1)
    killer = meanwhile(lambda: os.kill(until(lambda: cluster.workers(ENDLESS))[0], signal.SIGKILL))
    (outcome,) = run_ray([ENDLESS], Job(tmp_path, None, 1), 1, cluster.address, patient())
    killer.join()
    assert outcome.folder is None
    assert "the process died" in str(outcome.error)


def test_an_interruption_leaves_nothing_running(cluster: Cluster, tmp_path: Path) -> None:
    def interrupt() -> None:
        if cluster.workers(ENDLESS):
            raise KeyboardInterrupt

    before = set(cluster.folder.glob("evergraph-run-*"))
    with pytest.raises(KeyboardInterrupt):
        pytest.fail(str(run_ray([ENDLESS], Job(tmp_path, None, 1), 1, cluster.address, patient(interrupt))))
    until(lambda: not cluster.workers(ENDLESS))
    until(lambda: set(cluster.folder.glob("evergraph-run-*")) == before)  # a worker lets its lock go first


QUICK_GRID = """
[base]
backbone = { hidden = 8 }
train = { epochs = 3, threads = 1 }
[[grid]]
"method.name" = "finetune"
"""


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:99999", "ray://127.0.0.1:1"])
def test_an_address_without_a_cluster_is_answered_in_one_sentence(
    address: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "quick.toml"
    file.write_text(QUICK_GRID)
    assert run_main(["bench", str(file), "--executor", "ray", "--ray-address", address]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"error: a running Ray cluster is wanted at --ray-address {address}, got none")
    assert err.count("\n") == 1


def test_without_an_address_a_ray_of_its_own_comes_and_goes(
    local: dict[RunConfig, Outcome], tmp_path: Path
) -> None:
    (tmp_path / "quick.toml").write_text(QUICK_GRID)
    mark = f"EVERGRAPH_TEST={tmp_path}"
    arguments = ["-m", "evergraph", "bench", "quick.toml", "--jobs", "2", "--executor", "ray", "--json"]
    with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "EVERGRAPH_TEST": str(tmp_path)},
            stdout=out,
            stderr=err,
        )
    until(lambda: list(tmp_path.glob("runs/*")) or process.poll() is not None)
    listening = listeners(marked(mark))
    assert process.wait(PATIENCE) == 0, (tmp_path / "err").read_text()
    assert listening
    assert all(host.endswith("0100007F") for host in listening)  # 127.0.0.1, also as an address of IPv6
    (folder,) = json.loads((tmp_path / "out").read_text())["done"]
    assert_same([Outcome(QUICK, tmp_path / folder)], local)
    until(lambda: not marked(mark))


def marked(mark: str) -> list[int]:
    """The processes that have something in their environment."""
    found = []
    for pid in processes():
        try:
            if mark.encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(pid)
        except OSError:
            continue
    return found


def listeners(pids: list[int]) -> list[str]:
    """The addresses, in hexadecimal, on which processes listen."""
    sockets = {name for pid in pids for name in opened(pid) if name.startswith("socket:")}
    tables = [Path(f"/proc/net/{table}").read_text().splitlines()[1:] for table in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table]
    return [row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]


PLUGIN = """
from evergraph.methods import MethodEntry, NoSettings
from evergraph.methods.finetune import FineTune

METHODS = {"finetune-again": MethodEntry("a plug-in", "nobody, 2026", NoSettings, FineTune)}
"""


def test_a_plugin_file_reaches_the_workers(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, grid = tmp_path / "again.py", tmp_path / "grid.toml"
    file.write_text(PLUGIN, encoding="utf-8")
    grid.write_text('[base.train]\nepochs = 2\nthreads = 1\n[[grid]]\n"method.name" = "finetune-again"\n')
    command = ["bench", str(grid), "--plugin", str(file), "--out", str(tmp_path / "runs"), "--json"]
    try:
        assert run_main([*command, "--executor", "ray", "--ray-address", cluster.address]) == 0
    finally:
        METHODS.remove("finetune-again")
    found = json.loads(capsys.readouterr().out)
    assert found["failed"] == {}
    (folder,) = found["done"]
    record = json.loads(Path(folder, "record.json").read_text())
    assert record["versions"]["method finetune-again"].startswith("again.py, code ")


def test_the_environment_is_as_it_was(cluster: Cluster, tmp_path: Path) -> None:
    before = dict(os.environ)
    run_ray([QUICK], Job(tmp_path / "runs", None, 1), 1, cluster.address, patient())
    assert {name: value for name, value in os.environ.items() if name.startswith("RAY_")} == {
        name: value for name, value in before.items() if name.startswith("RAY_")
    }
