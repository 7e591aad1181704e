"""evergraph run: what it prints where, which settings win, interruption and resuming."""

import json
import math
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.cli import run_main
from evergraph.cli.console import ProgressWatch
from evergraph.errors import DataError
from evergraph.methods import METHODS
from evergraph.methods.ssm import SSM
from evergraph.watch import Watch

from .conftest import Call, write_tiny

QUICK = ("--epochs", 2, "--set", "train.threads=1", "--set", "backbone.hidden=8")


def config_of(call: Call, tmp_path: Path, *arguments: object) -> Any:
    data = write_tiny(tmp_path / "tiny.npz")
    return call("run", "--dataset", data, "--json", *arguments).json()["config"]


def test_json_is_one_object_with_what_was_measured(call: Call, tmp_path: Path) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    answer = call("run", "--dataset", data, "--method", "joint", "--seed", 4, "--out", "here", "--json", *QUICK)
    found = answer.json()
    matrix = found["matrix"]
    assert [[value is None for value in row] for row in matrix] == [
        [False, True, True],
        [False, False, True],
        [False, False, False],
    ]
    assert all(value is None or 0 <= value <= 100 for row in matrix for value in row)
    assert math.isclose(found["aa"], sum(matrix[2]) / 3)
    assert math.isclose(
        found["af"], ((matrix[2][0] - matrix[0][0]) + (matrix[2][1] - matrix[1][1])) / 2, abs_tol=1e-9
    )
    assert Path(found["run_dir"]).parent == Path("here")
    assert (Path(found["run_dir"]) / "record.json").exists()
    assert found["config"]["method"]["name"] == "joint"
    assert found["config"]["seeds"] == {"split": 4, "order": 4, "init": 4}
    assert "task 3/3" in answer.err
    assert {path.name for path in Path(found["run_dir"]).glob("*.png")} == {"matrix.png", "accuracy.png"}


def test_without_json_the_table_is_on_stdout_and_the_rest_on_stderr(call: Call, tmp_path: Path) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    answer = call("run", "--dataset", data, *QUICK)
    assert answer.code == 0
    assert "after task" in answer.out
    assert "AA" in answer.out
    assert "AF" in answer.out
    assert "task 1/3" not in answer.out
    assert "files: runs/tiny-ftf-er-det-gcn-seed0-" in answer.err


def test_set_wins_over_flags_and_flags_over_the_file(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        '[train]\nepochs = 5\nlr = 0.1\nweight_decay = 0.0\n[backbone]\nhidden = 4\n[method]\nname = "joint"\n'
    )
    config = config_of(
        call, tmp_path, "--config", file, "--epochs", 3, "--set", "train.epochs=2", "--set", "train.lr=0.2"
    )
    assert config["train"]["epochs"] == 2
    assert config["train"]["lr"] == 0.2
    assert config["train"]["weight_decay"] == 0
    assert config["backbone"]["hidden"] == 4
    assert config["method"]["name"] == "joint"
    assert config_of(call, tmp_path, "--config", file, "--epochs", 3)["train"]["epochs"] == 3
    assert config_of(call, tmp_path, "--config", file, "--method", "finetune")["method"]["name"] == "finetune"


def test_values_may_be_lists_words_and_switches(call: Call, tmp_path: Path) -> None:
    config = config_of(
        call,
        tmp_path,
        *QUICK,
        *("--set", "stream.class_order=[5, 0, 3, 1]"),
        *("--set", "stream.preprocessing=row-l1"),
        *("--set", "stream.inter_task_edges=true"),
        *("--set", "stream.setting='task-il'"),
        *("--set", "seeds.split=9"),
    )
    assert config["stream"]["class_order"] == [5, 0, 3, 1]
    assert config["stream"]["preprocessing"] == "row-l1"
    assert config["stream"]["inter_task_edges"] is True
    assert config["stream"]["setting"] == "task-il"
    assert config["seeds"] == {"split": 9, "order": 0, "init": 0}


@pytest.mark.parametrize(
    "how",
    [("--method", "finetune"), ("--method", "JOINT"), ("--set", "method.name=joint"), ("--config", "m.toml")],
)
def test_a_budget_without_a_memory_is_a_note(call: Call, tmp_path: Path, how: tuple[str, ...]) -> None:
    (tmp_path / "m.toml").write_text('[method]\nname = "joint"\n')
    answer = call("run", "--dataset", write_tiny(tmp_path / "tiny.npz"), "--budget", 7, "--json", *QUICK, *how)
    assert "--budget 7 has no effect" in answer.err
    assert "budget" not in answer.json()["config"]["method"]


@pytest.mark.parametrize("method", [name for name in METHODS if "budget" in METHODS[name].config.model_fields])
def test_a_budget_reaches_a_method_with_a_memory(call: Call, tmp_path: Path, method: str) -> None:
    config = config_of(call, tmp_path, "--method", method, "--budget", 2, *QUICK)
    assert config["method"]["budget"] == 2


def test_several_methods_run_side_by_side(call: Call, tmp_path: Path) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    runs = call("run", "--dataset", data, "--method", "finetune,joint", "--json", *QUICK).json()["runs"]
    assert [run["config"]["method"]["name"] for run in runs] == ["finetune", "joint"]
    assert len({run["run_dir"] for run in runs}) == 2
    plain = call("run", "--dataset", data, "--method", "finetune,joint", "--resume", *QUICK)
    assert plain.code == 0
    assert "finetune" in plain.out
    assert "joint" in plain.out


def test_all_methods_in_one_table(call: Call, tmp_path: Path) -> None:
    answer = call("run", "--dataset", write_tiny(tmp_path / "tiny.npz"), "--method", "all", "--budget", 2, *QUICK)
    assert answer.code == 0
    assert all(name in answer.out for name in METHODS)
    assert all(
        heading in answer.out for heading in ("AA, %", "AF, %", "local AA", "global AA", "time, s", "kept, MB")
    )


def test_several_seeds_are_run_each_and_averaged(call: Call, tmp_path: Path) -> None:
    arguments = ("run", "--dataset", write_tiny(tmp_path / "tiny.npz"), "--method", "finetune,ncm", *QUICK)
    single = call(*arguments, "--seed", 3, "--json").json()["runs"]
    found = call(*arguments, "--seed", "3, 1", "--resume", "--json")
    assert found.err.count("finished already") == 2
    found = found.json()
    shown = [(run["config"]["method"]["name"], *run["config"]["seeds"].values()) for run in found["runs"]]
    assert shown == [("finetune", 3, 3, 3), ("finetune", 1, 1, 1), ("ncm", 3, 3, 3), ("ncm", 1, 1, 1)]
    assert [found["runs"][at]["aa"] for at in (0, 2)] == [run["aa"] for run in single]
    first, second = found["means"]
    assert (first["method"], second["method"], first["seeds"]) == ("finetune", "ncm", [3, 1])
    values = [run["aa"] for run in found["runs"][:2]]
    assert first["aa"]["mean"] == pytest.approx(np.mean(values))
    assert first["aa"]["std"] == pytest.approx(np.std(values, ddof=1))
    plain = call(*arguments, "--seed", "3,1", "--resume")
    assert "seeds 3, 1" in plain.out
    assert f"{first['aa']['mean']:.1f} ± {first['aa']['std']:.1f}" in plain.out
    assert plain.err.count("files: ") == 4


@pytest.mark.parametrize("seeds", ["0,x", "", ",", "0,,1", "1,1", "01,1", "1.5", "²"])
def test_seeds_that_are_none_are_refused_in_one_sentence(call: Call, seeds: str) -> None:
    answer = call("run", "--dataset", "digits", "--seed", seeds)
    assert answer.code == 2
    wanted = "--seed must be a whole number, or different ones with commas such as 0,1,2"
    assert answer.err.strip() == f"error: {wanted}, got {seeds!r} instead"


def test_negative_seeds_and_seeds_that_settings_override_are_refused(call: Call) -> None:
    assert "seeds.split: input should be greater than or equal to 0, got -1" in call("run", "--seed", "0,-1").err
    fixed = [word for kind in ("split", "order", "init") for word in ("--set", f"seeds.{kind}=4")]
    answer = call("run", "--dataset", "digits", "--seed", "0,1", *fixed)
    assert answer.code == 2
    assert "--seed 0,1 must decide the runs" in answer.err


def test_a_seed_that_fails_does_not_hide_the_others(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn = SSM.learn

    def fail_once(self: SSM, *rest: Any) -> None:
        if self.net.seed == 1:
            raise DataError("other data are wanted, got these instead")
        learn(self, *rest)

    monkeypatch.setattr(SSM, "learn", fail_once)
    arguments = ("run", "--dataset", write_tiny(tmp_path / "tiny.npz"), *QUICK, "--method", "ssm")
    answer = call(*arguments, "--seed", "0,1,2")
    assert answer.code == 1
    assert "seeds 0, 2" in answer.out
    assert "3 finished runs were wanted, got 2; failed: tiny-ssm-gcn-seed1-" in answer.err


def test_where_classes_come_back_methods_are_compared_by_all_nodes_so_far(call: Call, tmp_path: Path) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    blurry = ("--set", "stream.arrival=blurry", "--method", "ncm,joint")
    answer = call("run", "--dataset", data, *QUICK, *blurry)
    assert answer.code == 0
    headings = ("so far, %", "area, %", "forgetting", "from best")
    assert all(heading in answer.out for heading in headings)
    (joint,) = (line for line in answer.out.splitlines() if "│ joint" in line)
    assert "all data" in joint
    assert "so far, %" not in call("run", "--dataset", data, *QUICK, "--method", "ncm,joint").out


def test_derived_features_are_named_wherever_a_result_is_shown(call: Call, tmp_path: Path) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    answer = call("run", "--dataset", data, "--features", "degree", *QUICK)
    assert answer.code == 0
    assert "derived features (degree)" in " ".join(answer.out.split())
    assert "features derived from the graph (degree)" in answer.out
    found = call("run", "--dataset", data, "--features", "degree", "--resume", "--json", *QUICK).json()
    assert found["remarks"][-1] == "features derived from the graph (degree), not the data set's own"


def test_a_finished_run_is_not_repeated(call: Call, tmp_path: Path) -> None:
    arguments = ("run", "--dataset", write_tiny(tmp_path / "tiny.npz"), "--json", *QUICK)
    first = call(*arguments).json()
    again = call(*arguments, "--resume")
    assert again.json() == first
    assert "finished already" in again.err
    assert "task 1/3" not in again.err
    assert call(*arguments).json()["run_dir"] == first["run_dir"] + "-2"


def test_a_loss_that_is_not_finite_is_a_failure_of_ours(call: Call, tmp_path: Path) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    answer = call("run", "--dataset", data, "--set", "train.lr=1e30", "--epochs", 30, "--set", "backbone.hidden=8")
    assert answer.code == 1
    assert answer.out == ""
    assert answer.err.splitlines()[-1].startswith("error: the loss must stay finite")


def test_a_bug_is_exit_code_1_and_one_line(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("evergraph.runs.execute.run", broken)
    answer = call("run")
    assert answer.code == 1
    assert answer.err.startswith("internal error: ZeroDivisionError: a bug")
    assert "Traceback" not in answer.err
    monkeypatch.setenv("EVERGRAPH_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        run_main(["run"])


class Interrupting(Watch):
    """Interrupts a run in its second task."""

    def task(self, index: int, count: int) -> None:
        if index == 1:
            raise KeyboardInterrupt


def test_an_interruption_prints_the_command_to_resume_with(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_tiny(tmp_path / "my graph.npz")
    arguments = ("run", "--dataset", data, "--json", *QUICK)
    whole = call(*arguments, "--out", "whole").json()
    with monkeypatch.context() as patch:
        patch.setattr(ProgressWatch, "task", Interrupting.task)
        answer = call(*arguments)
    assert answer.code == 130
    assert answer.out == ""
    last = answer.err.splitlines()[-1]
    assert last.startswith("finished tasks are kept; resume with: evergraph run ")
    command = shlex.split(last.partition("resume with: ")[2])
    assert command[-1] == "--resume"
    resumed = call(*command[1:])
    assert "task 1/3" not in resumed.err
    assert "task 2/3" in resumed.err
    assert resumed.json()["matrix"] == whole["matrix"]


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on POSIX")
def test_ctrl_c_ends_a_process_with_130_and_the_printed_command_works(call: Call, tmp_path: Path) -> None:
    arguments = [
        "run",
        "--dataset",
        "digits",
        "--epochs",
        "400",
        "--set",
        "train.threads=1",
        "--json",
        "--out",
        "out",
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "evergraph", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    ) as process:
        end = time.monotonic() + 300
        while not list(tmp_path.glob("out/*/task-000.json")):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    command = shlex.split(err.splitlines()[-1].partition("resume with: ")[2])
    assert command == ["evergraph", *arguments, "--resume"]
    answer = call(*command[1:])
    assert "task 1/5" not in answer.err
    assert len(answer.json()["matrix"]) == 5
    assert json.loads((tmp_path / answer.json()["run_dir"] / "record.json").read_text())["first_class"][-1] == 10


def test_a_stream_by_time_is_run_and_shown(call: Call, tmp_path: Path) -> None:
    data = write_tiny(tmp_path / "tiny.npz", time=np.arange(54) % 20)
    by_time = ("--set", "stream.arrival=time", "--set", "stream.steps=3")
    found = call("run", "--dataset", data, *QUICK, *by_time, "--json").json()
    assert len(found["so_far"]["plain"]) == len(found["matrix"]) == 3
    assert found["so_far"] == found["so_far_local"]
    assert found["so_far_global"]["area_plain"] == pytest.approx(sum(found["so_far_global"]["plain"]) / 3)
    answer = call("show", found["run_dir"])
    assert answer.code == 0, answer.err
    assert "all test nodes so far" in answer.out
    refused = call("run", "--dataset", data, *QUICK, *by_time, "--set", "stream.setting=task-il")
    assert refused.code == 2
    assert "setting=class-il is wanted with arrival=time, got task-il instead" in refused.err


def test_a_preset_says_why_and_all_other_settings_win(call: Call, tmp_path: Path) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    (tmp_path / "more.toml").write_text("[method]\nbeta = 0.25\n", encoding="utf-8")
    more = ("--config", tmp_path / "more.toml", "--set", "method.topology_score=hps", "--budget", 4)
    answer = call("run", "--dataset", data, "--json", "--preset", "as-published", *QUICK, *more)
    config = answer.json()["config"]
    assert "mistake" in answer.err
    assert (config["backbone"]["norm"], config["backbone"]["bias"]) == ("sum", False)
    assert config["method"]["feature_score"] == "grand-l1"
    assert (config["method"]["topology_score"], config["method"]["beta"]) == ("hps", 0.25)
    assert config["method"]["budget"] == 4


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        (("--method", "slda"), "--method ftf-er-det or ftf-er-prob, got slda instead"),
        (("--method", "ftf-er-det,ncm"), "--method ftf-er-det or ftf-er-prob, got ncm instead"),
        (("--backbone", "gat"), "--backbone gcn, got gat instead"),
    ],
)
def test_a_preset_refuses_what_it_does_not_go_with(
    call: Call, tmp_path: Path, more: tuple[str, ...], wanted: str
) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    answer = call("run", "--dataset", data, "--preset", "as-published", *more, *QUICK)
    assert answer.code == 2
    assert f"--preset as-published goes with {wanted}" in " ".join(answer.err.split())
    assert "published for Amazon Computers" not in " ".join(answer.err.split())


def test_an_unknown_preset_is_one_sentence(call: Call, tmp_path: Path) -> None:
    answer = call("run", "--dataset", write_tiny(tmp_path / "tiny.npz"), "--preset", "published", *QUICK)
    assert answer.code != 0
    assert "preset must be one of as-published" in answer.err


def test_a_protocol_given_twice_is_refused(call: Call, tmp_path: Path) -> None:
    twice = ("--protocol", "whole-graph", "--set", "stream.inter_task_edges=false")
    answer = call("run", "--dataset", write_tiny(tmp_path / "tiny.npz"), *QUICK, *twice)
    assert answer.code == 2
    assert "--protocol or --set stream.inter_task_edges is wanted, got both" in answer.err


def test_bad_data_are_reported_once_for_several_methods(call: Call, tmp_path: Path) -> None:
    answer = call("run", "--dataset", tmp_path / "none.npz", "--method", "finetune,ssm,joint")
    assert answer.code == 2
    assert answer.err.count("none.npz") == 1


def test_data_that_only_a_later_method_cannot_use_do_not_hide_the_finished_ones(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: SSM, *rest: object) -> None:
        raise DataError("other data are wanted, got these instead")

    monkeypatch.setattr(SSM, "learn", refuse)
    answer = call("run", "--dataset", write_tiny(tmp_path / "tiny.npz"), *QUICK, "--method", "finetune,ssm")
    assert answer.code == 1
    assert "finetune" in answer.out
    assert "failed: ssm: DataError: other data are wanted" in answer.err


# the budget of memory


def test_a_budget_that_a_task_exceeds_is_said_and_shown(call: Call) -> None:
    sbm = ("--dataset", "sbm", "--set", "dataset.options.nodes=30000", "--set", "dataset.options.classes=2")
    answer = call("run", *sbm, "--method", "finetune", "--epochs", 1, "--memory", "50MB", "--json")
    assert answer.json()["batches"] == "sampled (batch 1,024, neighbours 15, 10)"
    assert "more than the budget of 50 MB" in " ".join(answer.err.split())


@pytest.mark.parametrize(
    ("size", "message"), [("much", "must be a size such as 2GB or 500MB"), ("1MB", "must be at least 50 MB")]
)
def test_a_budget_that_is_none_is_one_sentence(call: Call, tmp_path: Path, size: str, message: str) -> None:
    data = write_tiny(tmp_path / "tiny.npz")
    answer = call("run", "--dataset", data, "--memory", size)
    assert answer.code != 0
    assert message in " ".join(answer.err.split())
