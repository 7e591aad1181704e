"""The choice between full and sampled batches, and the settings behind it."""

import subprocess
import sys
from typing import Any

import pytest

from evergraph.budget import memory_budget
from evergraph.errors import ConfigError
from evergraph.runs.config import RunConfig
from evergraph.training import batching
from evergraph.training.batching import Batching, make_plan, size_text, training_budget

MB = 10**6


def test_what_fits_is_full_and_what_does_not_is_sampled() -> None:
    with memory_budget(100 * MB):
        assert make_plan("auto", (15, 10), 100 * MB).batching is None
        plan = make_plan("auto", (15, 10), 101 * MB)
    assert plan.batching == Batching(1024, (15, 10))
    assert plan.described() == (
        "batches: sampled (batch 1,024, neighbours 15, 10); a step with all nodes takes at most about 101 MB, "
        "more than the budget of 100 MB; results differ from those of full batches (train.batch=full)"
    )


def test_what_is_set_wins_over_the_budget() -> None:
    with memory_budget(100 * MB):
        assert make_plan("full", (15, 10), 10**12).batching is None
        plan = make_plan(64, (4, 3), 1)
    assert plan.batching == Batching(64, (4, 3))
    assert "as set with train.batch" in plan.described()


def test_without_a_budget_half_of_the_machine_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "machine_memory", lambda: 1000 * MB)
    assert training_budget() == 500 * MB
    with memory_budget(70 * MB):
        assert training_budget() == 70 * MB


def test_existing_runs_keep_their_names() -> None:
    """The settings at their defaults are no part of a run's identity; others are."""
    usual = RunConfig.from_values({})
    assert "train.batch" not in usual.changed()
    same = RunConfig.from_values({"train": {"batch": "auto", "fanout": [15, 10]}})
    assert same.digest() == usual.digest()
    assert RunConfig.from_values({"train": {"batch": "full"}}).digest() != usual.digest()
    other = RunConfig.from_values({"train": {"batch": 256, "fanout": [5, 5]}})
    assert RunConfig.from_values(other.to_values()) == other
    assert other.changed()["train.fanout"] == [5, 5]


@pytest.mark.parametrize("value", [0, -1, True, 2.5, "half", None, [1]])
def test_a_batch_that_is_none_is_one_sentence(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"train.batch: auto, full or a number of nodes from 1 is wanted, got"):
        RunConfig.from_values({"train": {"batch": value}})


@pytest.mark.parametrize("value", [[], [5], [5, 0], [5, 5, 5], [True, 1], "10,10", 7])
def test_a_fanout_that_is_none_is_one_sentence(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"train.fanout: two numbers of neighbours from 1, such as \[15, 10\]"):
        RunConfig.from_values({"train": {"fanout": value}})


@pytest.mark.parametrize(
    ("size", "text"), [(5, "5 bytes"), (2_000, "2.0 kB"), (35 * MB, "35 MB"), (1.26e9, "1.3 GB"), (2e12, "2.0 TB")]
)
def test_sizes_as_text(size: float, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
@pytest.mark.parametrize("backbone", ["gcn", "gat", "gin"])
def test_the_estimate_is_about_the_memory_that_a_step_takes(backbone: str) -> None:
    """Within a factor of two of the measured peak; benchmarks/batch_memory.py has more cases."""
    command = [sys.executable, "-c", MEASURE, backbone]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    estimate, peak = (int(number) for number in done.stdout.split())
    assert 0.5 < estimate / peak < 2, (estimate, peak)


MEASURE = """
import sys
from evergraph.backbones.size import GraphSize
from evergraph.data.datasets.sbm import SbmOptions, generate
from evergraph.runs.build import make_learner
from evergraph.runs.config import RunConfig
from evergraph.runs.scoring import one_task
from evergraph.watch import Watch

def status(name):
    with open("/proc/self/status") as lines:
        return int(dict(line.split(":", 1) for line in lines)[name].split()[0]) * 1024

def learner(hidden):
    values = {"method": {"name": "finetune"}, "train": {"epochs": 2, "batch": "full", "threads": 1}}
    config = RunConfig.from_values({**values, "backbone": {"name": sys.argv[1], "hidden": hidden}})
    return config, make_learner(config, 64)

for nodes, hidden in ((100, 8), (20_000, 256)):  # the first learner loads what the program itself needs
    graph = generate(SbmOptions(nodes=nodes, features=64, mean_degree=10))
    config, made = learner(hidden)
    task = one_task(graph, config)
    before = status("VmRSS")
    made.learn(task, [], Watch())
print(made.net.step_bytes([GraphSize.of(graph)]), status("VmHWM") - before)
"""
