"""One graph on a real cluster of two nodes: what one process computes, also where workers are killed on the way."""

import json
import os
import re
import shlex
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.budget import memory_budget
from evergraph.cli import run_main
from evergraph.data.convert import Plan, convert_tables
from evergraph.data.datasets.files import FileOptions
from evergraph.data.graph_folder import check_folder
from evergraph.errors import RunError
from evergraph.experiments.ray_workers import DEATHS, RayWorkers, ray_workers
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import run
from evergraph.runs.store import RunStore
from evergraph.workers import working
from helpers import assert_same_bits
from served import served

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorials" / "clusters.md"

pytestmark = pytest.mark.skipif(
    find_spec("ray") is None, reason='Ray is not here; pip install "evergraph[ray]" brings it'
)
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # read when Ray is imported: 127.0.0.1 stays what it is


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The caches of the nodes, which have no other folder in common than those that a test names."""
    return [tmp_path_factory.mktemp(f"node-{number}") for number in (1, 2)]


@pytest.fixture(scope="module")
def address(caches: list[Path]) -> Iterator[str]:
    from ray.cluster_utils import Cluster

    settings: dict[str, Any] = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 80_000_000}
    settings["env_vars"] = {"EVERGRAPH_CACHE": str(caches[0])}
    head = {**settings, "include_dashboard": False, "include_log_monitor": False}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    nodes.add_node(**{**settings, "env_vars": {"EVERGRAPH_CACHE": str(caches[1])}})
    yield str(nodes.address)
    nodes.shutdown()


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("graph")
    rng = np.random.default_rng(0)
    n, labels = 600, rng.integers(0, 4, 600)
    numbers = rng.standard_normal((4, 6))[labels] + rng.standard_normal((n, 6))
    rows = [f"n{row},{labels[row]}," + ",".join(f"{x:.4f}" for x in numbers[row]) for row in range(n)]
    (where / "nodes.csv").write_text("id,label,a,b,c,d,e,f\n" + "\n".join(rows) + "\n")
    ends = sorted({tuple(sorted(rng.integers(0, n, 2).tolist())) for _ in range(2400)})
    (where / "edges.csv").write_text("source,target\n" + "\n".join(f"n{a},n{b}" for a, b in ends if a != b) + "\n")
    options = FileOptions.model_validate({"directed": False})
    convert_tables(where / "edges.csv", where / "nodes.csv", where / "graph", options, Plan.of(10**8))
    return where / "graph"


KILLED = {(1, 1), (3, 0)}
"""Call and part whose processes die: of the first hop, and of the sums."""
LATE = {(1, 1)}
"""Those that die when their part is done and not yet told."""


class Killing(RayWorkers):
    """Lets the process of a part of some calls die at first, and counts how often each part is begun."""

    def __init__(self, folder: Path, marks: Path, dies: set[tuple[int, int]]):
        super().__init__(folder)
        self.marks, self.dies, self.calls = marks, dies, 0

    def _sent(self, function: Callable[[Any, Any], Any], common: Any, items: Sequence[Any]) -> list[Any]:
        call, marks, dies = self.calls, self.marks, self.dies
        self.calls += 1

        def marked(common: Any, numbered: tuple[int, Any]) -> Any:
            at, item = numbered
            before = len(list(marks.glob(f"{call}-{at}-*")))
            (marks / f"{call}-{at}-{before}").touch()
            dying = (call, at) in dies and not before
            if dying and (call, at) not in LATE:
                os.kill(os.getpid(), signal.SIGKILL)
            found = function(common, item)
            if dying:
                os.kill(os.getpid(), signal.SIGKILL)
            return found

        return super()._sent(marked, common, list(enumerate(items)))

    def done(self) -> Counter[tuple[int, int]]:
        """How often each part of each call was begun."""
        names = (path.name.split("-") for path in self.marks.iterdir())
        return Counter((int(call), int(at)) for call, at, _ in names)


def test_a_run_whose_workers_are_killed_is_that_of_one_process(
    address: str, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evergraph.data.on_disk.blocks.MOST_ENTRIES", 500)
    monkeypatch.setattr("evergraph.methods.statistics_learner.PORTION", 50)
    config = RunConfig.from_values(
        {
            "dataset": {"name": f"{graph}/"},
            "method": {"name": "analytic", "width": 64},
            "stream": {"inter_task_edges": True},
        }
    )
    marks, scratch = tmp_path / "marks", tmp_path / "scratch"
    marks.mkdir()
    scratch.mkdir()
    with memory_budget(10**8):
        one = run(config, tmp_path / "alone")
        with ray_workers(address, 2, scratch):
            workers = Killing(scratch, marks, KILLED)
            with working(workers):
                both = run(config, tmp_path / "shared")
    alone, shared = one.record, both.record
    assert shared.data == alone.data
    assert (shared.correct, shared.correct_in) == (alone.correct, alone.correct_in)
    assert shared.memory == alone.memory
    assert_same_bits(RunStore(both.folder).state(), RunStore(one.folder).state())
    done = workers.done()
    assert {part for part, count in done.items() if count == 2} == KILLED
    assert set(done.values()) == {1, 2}
    assert workers.calls >= 8  # degrees, two hops and sums of two tasks
    assert list(scratch.iterdir()) == []


def test_sums_are_added_in_the_order_of_their_parts(address: str, tmp_path: Path) -> None:
    with ray_workers(address, 2, tmp_path) as workers:
        assert workers.total(lambda common, item: [common, item], lambda a, b: a + b, 7, range(5)) == [
            value for item in range(5) for value in (7, item)
        ]
        with pytest.raises(ZeroDivisionError):
            workers.map(lambda common, item: common / item, 1, [1, 0])
        with pytest.raises(RunError, match=f"died {DEATHS + 1} times"):
            workers.map(lambda common, item: os.kill(os.getpid(), signal.SIGKILL), None, [0])


def test_the_commands_of_the_documentation_share_a_folder(
    address: str, graph: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = ["--executor", "ray", "--ray-address", address, "--scratch", str(tmp_path), "--memory", "100MB"]
    found = []
    for name, more in (("alone", []), ("shared", cluster)):
        words = [
            "learn",
            "--model",
            str(tmp_path / name),
            "--nodes",
            str(graph),
            "--set",
            "method.width=64",
            "--json",
        ]
        assert run_main([*words, *more]) == 0
        found.append(json.loads(capsys.readouterr().out))
        out = tmp_path / f"{name}.csv"
        assert run_main(["predict", "--model", str(tmp_path / name), "--nodes", str(graph), "--out", str(out)]) == 0
        capsys.readouterr()
    assert (tmp_path / "alone.csv").read_text() == (tmp_path / "shared.csv").read_text()
    assert found[0]["classes"] == found[1]["classes"]
    sums = ["run", "--method", "ncm", "--executor", "ray"]
    assert run_main([*sums, "--dataset", f"{graph}/", "--ray-address", address]) == 2
    assert "--scratch, a folder that every node reaches" in " ".join(capsys.readouterr().err.split())


def test_the_local_command_of_the_tutorial_gives_the_bits_of_one_process(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables, conversion and command are those of docs/tutorials/clusters.md; only the address is added."""
    page = TUTORIAL.read_text(encoding="utf-8").replace("\\\n", " ")
    (make,) = re.findall(r'title="make_large.py"\n(.*?)^```', page, flags=re.DOTALL | re.MULTILINE)
    (convert,) = re.findall(r"^evergraph (data convert .*)$", page, flags=re.MULTILINE)
    (shared,) = re.findall(r"^evergraph (run .* --executor ray(?! --ray-address).*)$", page, flags=re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    exec(compile(make, "make_large.py", "exec"), {})
    assert run_main(shlex.split(convert)) == 0
    more = ["--set", "method.width=64"]
    assert run_main([*shlex.split(shared), *more, "--ray-address", address, "--scratch", str(tmp_path)]) == 0
    assert run_main([*shlex.split(shared.partition(" --executor")[0]), *more, "--out", "alone"]) == 0
    alone, on_ray = (
        [json.loads(path.read_text())["correct"] for path in (tmp_path / name).glob("*/record.json")]
        for name in ("alone", "on-ray")
    )
    assert alone == on_ray != []


def test_nodes_that_share_no_file_system_bring_the_graph_and_what_others_propagated(
    address: str, graph: Path, caches: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("evergraph.data.on_disk.blocks.MOST_ENTRIES", 500)
    monkeypatch.setattr("evergraph.methods.statistics_learner.PORTION", 50)
    values = {"method": {"name": "analytic", "width": 64}, "stream": {"inter_task_edges": True}}
    (tmp_path / "scratch").mkdir()
    with served(graph.parent) as server, memory_budget(10**8):
        names = f"{graph}/", f"{server.address}/graph/"
        alone, shared = (RunConfig.from_values({**values, "dataset": {"name": name}}) for name in names)
        one = run(alone, tmp_path / "alone").record
        with ray_workers(address, 2, f"file://{tmp_path}/scratch"):  # any address will do
            other = run(shared, tmp_path / "shared").record
    assert other.data == one.data  # also the checksum of the manifest
    assert (other.correct, other.correct_in, other.memory) == (one.correct, one.correct_in, one.memory)
    brought = [folder for cache in caches for folder in cache.glob("graphs/*/graph")]
    assert brought
    for folder in [*brought, *(tmp_path / "cache").glob("graphs/*/graph")]:
        assert check_folder(folder).n_nodes == 600
    assert sum(line == "/graph/indices.npy" for line in server.asked) == len(brought) + 1
    assert list((tmp_path / "scratch").iterdir()) == []


def test_only_graph_folders_are_shared(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    sums = ["run", "--method", "ncm", "--executor", "ray"]
    assert run_main([*sums, "--dataset", "digits", "--out", str(tmp_path)]) == 2
    assert "--executor ray is for a graph folder here, got digits" in " ".join(capsys.readouterr().err.split())
