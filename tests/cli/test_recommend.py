"""evergraph recommend as a user calls it."""

from pathlib import Path

import pytest

from evergraph.methods.ssm import SSM

from .conftest import Call, write_tiny


def arguments(tmp_path: Path) -> tuple[object, ...]:
    data = write_tiny(tmp_path / "tiny.npz")
    return ("recommend", "--dataset", data, "--features", "degree", "--epochs", "2", "--out", tmp_path / "runs")


def test_methods_are_compared_on_validation_nodes_and_one_is_named(call: Call, tmp_path: Path) -> None:
    answer = call(*arguments(tmp_path), "--method", "finetune,ssm,joint", "--json").json()
    assert [row["method"] for row in answer["methods"]] == ["finetune", "ssm", "joint"]
    assert answer["recommended"] in ("finetune", "ssm")
    assert answer["left_out"] == {}
    assert Path(answer["picture"]).stat().st_size > 10_000
    for row in answer["methods"]:
        shown = call("show", row["run_dir"], "--json").json()
        assert shown["val"]["aa"] == row["aa"]
        assert shown["protocol"] == "whole-graph"


def test_the_table_marks_the_bound_and_names_the_choice(call: Call, tmp_path: Path) -> None:
    answer = call(*arguments(tmp_path), "--method", "ssm,joint")
    (joint,) = (line for line in answer.out.splitlines() if "joint" in line)
    assert "all data" in joint
    assert "0.00" not in joint
    assert "recommended: ssm" in answer.out


def test_what_the_data_lost_is_said_as_run_says_it(call: Call, tmp_path: Path) -> None:
    more = ("--set", "stream.class_order=[2, 0, 1]")
    shown = call(*arguments(tmp_path), "--method", "ncm", *more)
    answer = call(*arguments(tmp_path), "--method", "ncm", "--json", *more).json()
    remarks = answer["methods"][0]["remarks"]
    assert any("dropped the last of" in remark for remark in remarks)
    assert any("derived from the graph" in remark for remark in remarks)
    for remark in remarks:
        assert " ".join(f"note: {remark}".split()) in " ".join(shown.err.split())


def test_where_nothing_can_be_recommended_it_says_why(call: Call, tmp_path: Path) -> None:
    answer = call(*arguments(tmp_path), "--method", "joint")
    assert "a method that keeps less than all data is wanted, got none" in " ".join(answer.err.split())


def test_when_the_time_is_over_the_rest_is_left_out_with_a_word(call: Call, tmp_path: Path) -> None:
    answer = call(*arguments(tmp_path), "--method", "ssm,finetune", "--minutes", "0", "--json").json()
    assert [row["method"] for row in answer["methods"]] == ["ssm"]
    assert "--minutes" in answer["left_out"]["finetune"]


def test_bad_input_is_one_sentence(call: Call, tmp_path: Path) -> None:
    answer = call(*arguments(tmp_path), "--method", "smm")
    assert answer.code == 2
    assert "did you mean 'ssm'" in answer.err


@pytest.mark.parametrize("setting", ["method.budget=3", "stream.inter_task_edges=false"])
def test_settings_of_one_method_or_of_the_protocol_are_refused(call: Call, tmp_path: Path, setting: str) -> None:
    answer = call(*arguments(tmp_path), "--set", setting)
    assert answer.code == 2
    assert f"settings that all methods share are wanted, got {setting.partition('=')[0]}" in answer.err


def test_a_method_that_fails_is_left_out_and_the_others_are_compared(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: SSM, *rest: object) -> None:
        raise ValueError("boom")

    monkeypatch.setattr(SSM, "learn", broken)
    answer = call(*arguments(tmp_path), "--method", "ssm,finetune", "--json").json()
    assert [row["method"] for row in answer["methods"]] == ["finetune"]
    assert answer["left_out"] == {"ssm": "ValueError: boom"}


def test_methods_are_compared_on_a_graph_that_stays_on_disk(call: Call, on_disk: str, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    budget = ("--memory", "50MB", "--scratch", "scratch")
    answer = call("recommend", "--dataset", on_disk, "--epochs", 1, "--method", "ncm,slda,finetune", *budget)
    assert answer.code == 0
    assert not any(f"{name} left out" in answer.err for name in ("ncm", "slda", "finetune"))
    assert answer.err.count("note: read from disk in blocks (memory 0.05 GB)") == 1
    assert "propagated features go to scratch, " in answer.err
    assert answer.err.count("note: the graph stays on disk") == 1
