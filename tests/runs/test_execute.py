"""run(): what it stores, going on after a death at any moment, and two processes at once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from safetensors.torch import load_file

from evergraph.cli import run_main
from evergraph.data.datasets import DatasetConfig, source_digest
from evergraph.data.graph import Graph
from evergraph.data.stream import StreamConfig, make_stream
from evergraph.errors import StoreError
from evergraph.methods import METHODS
from evergraph.results.records import read_records, small_record, write_records
from evergraph.runs.build import open_stream
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import RunResult, data_record, find_run, run
from evergraph.runs.metrics import average_accuracy
from evergraph.runs.record import Record
from evergraph.runs.store import RunStore
from evergraph.testing.samples import COMING_BACK
from evergraph.watch import Watch
from helpers import command_line, run_config, tiny_graph

QUICK: dict[str, Any] = {"train": {"epochs": 2, "threads": 1}, "backbone": {"hidden": 8}}


def write_graph(path: Path, graph: Graph) -> Path:
    """A graph as an .npz file in the edge_index layout."""
    edges = np.stack(graph.adjacency.nonzero()).astype(np.int64)
    times = {} if graph.times is None else {"time": graph.times}
    np.savez(path, edge_index=edges, x=np.asarray(graph.features), y=graph.labels, **times)  # type: ignore[arg-type]
    return path


def quick(tmp_path: Path, graph: Graph | None = None, **sections: dict[str, Any]) -> RunConfig:
    file = write_graph(tmp_path / "tiny.npz", graph or tiny_graph((9,) * 6, width=6))
    return run_config(**{**QUICK, "dataset": {"name": str(file)}, **sections})


def results(folder: Path) -> tuple[Any, list[bytes]]:
    """What must be the same however often a run was interrupted: the counts and the bytes of the state."""
    record = json.loads((folder / "record.json").read_text())
    states = sorted(folder.glob("state-*.safetensors"))
    return record["correct"], [path.read_bytes() for path in states]


# what a run stores


def test_a_record_tells_everything(tmp_path: Path) -> None:
    config = quick(tmp_path)
    result = run(config, tmp_path / "out")
    record = result.record
    assert RunConfig.from_values(record.config) == config
    assert record.schema_version == 3
    assert record.cells is None
    assert record.changed == sorted(config.changed())
    assert {"dataset.name", "train.epochs", "backbone.hidden"} <= set(record.changed)
    assert set(record.versions) == {"evergraph", "python", "torch", "numpy", "scipy", "numba", "threads"}
    assert record.first_class == [0, 2, 4, 6]
    assert record.data == data_record(open_stream(config, None), source_digest(config.dataset))
    assert record.data.source is not None
    assert [len(row) for row in record.correct["test"]] == [2, 4, 6]
    assert [len(row) for row in record.correct["val"]] == [2, 4, 6]
    assert all(task["train"] > 0 and task["evaluate"] > 0 for task in record.seconds)
    assert record.seconds[0]["load"] > 0
    assert record.peak_bytes > 10**7
    assert [usage.nodes for usage in record.memory] == sorted(usage.nodes for usage in record.memory)
    assert len(record.memory) == 3
    for split in ("val", "test"):
        found = record.counts(split)
        assert found.balanced().shape == (3, 3)
        assert 0 <= average_accuracy(found.balanced()) <= 1
        assert np.isnan(found.plain()[0, 1])
    values = json.loads((result.folder / "record.json").read_text())
    assert values == record.model_dump(mode="json")
    assert Record.model_validate(values) == record


@pytest.mark.parametrize("kind", list(COMING_BACK))
def test_where_classes_come_back_a_record_counts_by_task_and_class(tmp_path: Path, kind: str) -> None:
    config = quick(tmp_path, stream={**COMING_BACK[kind], "inductive": True}, method={"name": "ssm", "budget": 2})
    result = run(config, tmp_path / "out")
    record, stream = result.record, open_stream(config, None)
    assert record.classes_return
    assert record.cells == list(zip(stream.cells.task.tolist(), stream.cells.label.tolist(), strict=True))
    assert record.first_class == [0, *(stream.known(index) for index in range(3))]
    assert record.total["test"] == stream.cells.sizes[:, 2].tolist()
    for now, row in enumerate(record.correct["test"]):
        assert len(row) == sum(task <= now for task, _ in record.cells)
    for protocol in ("task-graphs", "whole-graph"):
        found = record.counts("test", protocol)
        assert np.isfinite(found.balanced()[-1]).all()
        assert found.per_class().shape == (3, stream.n_classes)
    with_death(config, tmp_path / "dead", "task-001.json")
    again = run(config, tmp_path / "dead", resume=True)
    assert results(again.folder) == results(result.folder)
    assert again.record.cells == record.cells
    small = small_record(result.folder)
    assert small.so_far_local is not None
    assert small.so_far_global is not None
    assert len(small.so_far_global.plain) == 3
    write_records(tmp_path / "records.json", "test", [result.folder])
    (read,) = read_records(tmp_path / "records.json")
    assert read.so_far_global is not None
    assert read.so_far_global.plain == pytest.approx(small.so_far_global.plain, abs=1e-4)
    values = record.model_dump(mode="json")
    with pytest.raises(ValidationError, match="cells are wanted"):
        Record.model_validate({**values, "cells": values["cells"][:-1]})


def test_the_same_configuration_gives_the_same_results_twice(tmp_path: Path) -> None:
    config = quick(tmp_path)
    one, other = (run(config, tmp_path / "out") for _ in range(2))
    assert one.folder != other.folder
    assert results(one.folder) == results(other.folder)


def test_what_was_dropped_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    result = run(quick(tmp_path, tiny_graph((9,) * 5)), tmp_path / "out", on_message=said.append)
    assert any(message.startswith("dropped the last of 5 classes (4)") for message in said)
    assert any(
        message.startswith("1 of 45 nodes are outside of the largest connected component") for message in said
    )
    *before, last = said
    assert [*result.record.data.remarks, *result.record.data.messages] == before
    assert last.startswith("batches: full; a step with all nodes takes at most about ")


def test_the_fingerprint_sees_every_part_of_the_data() -> None:
    graph = tiny_graph((9,) * 4)

    def fingerprint(changed: Graph) -> str:
        stream = make_stream(changed, StreamConfig(preprocessing="none"), split_seed=0, order_seed=0)
        return str(data_record(stream).fingerprint)

    def variant(**options: Any) -> Graph:
        return tiny_graph((9,) * 4, **options)

    later = replace(graph, times=np.asarray(graph.times) + 1)
    others = (variant(seed=1), variant(share=0.3), variant(sparse_features=True), later, replace(graph, times=None))
    assert len({fingerprint(g) for g in (graph, *others)}) == 6
    assert fingerprint(graph) == fingerprint(variant())


# resuming


def test_a_finished_run_is_not_repeated(tmp_path: Path) -> None:
    config = quick(tmp_path)
    first = run(config, tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in first.folder.iterdir()}
    said: list[str] = []
    again = run(config, tmp_path / "out", resume=True, on_message=said.append)
    assert again.folder == first.folder
    assert again.record == first.record
    assert {path: path.stat().st_mtime_ns for path in first.folder.iterdir()} == before
    assert "finished already" in said[0]


def older(folder: Path) -> None:
    """Make a folder as version 1 left it: no versions, all settings in its name, some that came later missing."""
    for name in ("config.json", "record.json"):
        if (folder / name).exists():
            values = json.loads((folder / name).read_text())
            for key in ("schema_version", "changed"):
                values.pop(key, None)
            config = values.get("config", values)
            del config["train"]["weight_decay"], config["dataset"]["standardise"]
            (folder / name).write_text(json.dumps(values))
    folder.rename(folder.with_name(folder.name[:-8] + "01234567"))


def test_a_run_of_the_first_version_is_finished_or_resumed(tmp_path: Path) -> None:
    config = quick(tmp_path)
    whole = run(config, tmp_path / "whole")
    expected = results(whole.folder)
    with_death(config, tmp_path / "out", "task-001.json", before=False)
    for out in (tmp_path / "whole", tmp_path / "out"):
        (folder,) = out.iterdir()
        older(folder)
        again = run(config, out, resume=True)
        assert [path.name for path in out.iterdir()] == [again.folder.name]
        assert results(again.folder) == expected
    found = find_run(tmp_path / "whole", config)
    assert found is not None
    assert (found.record().schema_version, found.record().changed) == (1, None)
    assert found.record().correct == whole.record.correct


def test_resuming_nothing_is_a_new_run(tmp_path: Path) -> None:
    result = run(quick(tmp_path), tmp_path / "out", resume=True)
    assert RunStore(result.folder).finished


def without_source(folder: Path) -> None:
    """A run of before files had a digest."""
    for path in (*folder.glob("task-*.json"), *folder.glob("record.json")):
        content = json.loads(path.read_text())
        del content["data"]["source"]
        path.write_text(json.dumps(content))


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("finished", [False, True])
def test_a_run_of_other_data_is_neither_shown_again_nor_resumed(
    tmp_path: Path, finished: bool, earlier: bool
) -> None:
    config = quick(tmp_path)
    if finished:
        run(config, tmp_path / "out")
    else:
        with_death(config, tmp_path / "out", "task-001.json")
    (before,) = (tmp_path / "out").iterdir()
    if earlier:
        without_source(before)
    graph = tiny_graph((9,) * 6, width=6, seed=1)
    write_graph(tmp_path / "tiny.npz", graph)
    said: list[str] = []
    result = run(config, tmp_path / "out", resume=True, on_message=said.append)
    assert result.folder != before
    assert RunStore(before).finished is finished
    assert said[0] == f"{before} is of other data: {tmp_path / 'tiny.npz'} has changed since"
    again = run(config, tmp_path / "out", resume=True)
    assert again.folder == result.folder
    write_graph(tmp_path / "tiny.npz", tiny_graph((9,) * 6, width=6))
    assert run(config, tmp_path / "out", resume=True).folder == before


@pytest.mark.parametrize("earlier", [False, True])
def test_the_same_data_in_a_file_of_other_bytes_are_not_learned_again(tmp_path: Path, earlier: bool) -> None:
    config = quick(tmp_path)
    result = run(config, tmp_path / "out")
    if earlier:
        without_source(result.folder)
    with np.load(tmp_path / "tiny.npz") as arrays:
        np.savez_compressed(tmp_path / "tiny.npz", **dict(arrays))
    assert source_digest(config.dataset) != result.record.data.source
    assert run(config, tmp_path / "out", resume=True).folder == result.folder


def test_a_finished_run_is_shown_again_where_nothing_can_be_compared(
    tmp_path: Path,
) -> None:
    config = quick(tmp_path)
    result = run(config, tmp_path / "out")
    (tmp_path / "tiny.npz").unlink()
    assert run(config, tmp_path / "out", resume=True).folder == result.folder
    content = json.loads((result.folder / "record.json").read_text())
    del content["data"]["fingerprint"], content["data"]["source"]
    (result.folder / "record.json").write_text(json.dumps(content))
    write_graph(tmp_path / "tiny.npz", tiny_graph((9,) * 6, width=6, seed=1))
    assert run(config, tmp_path / "out", resume=True).folder == result.folder


def test_the_node_table_of_an_edge_list_counts_too(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    (tmp_path / "nodes.csv").write_text("id,label,f\na,0,1\nb,1,2\n")
    config = DatasetConfig(name=str(tmp_path / "edges.csv"))
    first = source_digest(config)
    (tmp_path / "nodes.csv").write_text("id,label,f\na,0,1\nb,1,3\n")
    assert None not in (first, source_digest(config))
    assert first != source_digest(config)
    (tmp_path / "nodes.csv").unlink()
    assert source_digest(config) is None
    assert source_digest(DatasetConfig(name="digits")) is None


def test_a_run_that_another_process_works_on_is_left_alone(tmp_path: Path) -> None:
    config = quick(tmp_path)
    folder = with_death(config, tmp_path / "out", "task-001.json")
    with RunStore(folder).locked(), pytest.raises(StoreError, match="another process is working on"):
        run(config, tmp_path / "out", resume=True)
    assert not RunStore(folder).finished
    assert RunStore(run(config, tmp_path / "out", resume=True).folder).folder == folder


class Death(BaseException):
    """The process ends here, as far as the files can tell."""


def with_death(config: RunConfig, out: Path, name: str, *, before: bool = True) -> Path:
    """Run until a JSON file is about to be written, or has just been, and die; the folder of the run."""
    write = RunStore._write_json

    def dying(self: RunStore, file: str, content: Mapping[str, Any]) -> None:
        if file == name and before:
            raise Death
        write(self, file, content)
        if file == name:
            raise Death

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunStore, "_write_json", dying)
        with pytest.raises(Death):
            run(config, out)
    (folder,) = out.iterdir()
    return folder


FILES = ("config.json", "task-000.json", "task-001.json", "task-002.json", "record.json")


@pytest.mark.parametrize(
    ("method", "name", "before"),
    [("finetune", name, before) for name in FILES for before in (True, False)]
    + [(method, "task-001.json", True) for method in METHODS if method != "finetune"],
)
def test_a_death_between_any_two_files_changes_nothing(
    tmp_path: Path, method: str, name: str, before: bool
) -> None:
    config = quick(tmp_path, method={"name": method})
    whole = run(config, tmp_path / "whole")
    folder = with_death(config, tmp_path / "out", name, before=before)
    left = list(folder.glob("state-*.safetensors"))
    assert len(left) == (0 if name == "config.json" else 1 if name in ("task-000.json", "record.json") else 2)
    resumed = run(config, tmp_path / "out", resume=True)
    assert (resumed.folder == folder) == (name != "config.json" or not before)
    assert results(resumed.folder) == results(whole.folder)


def test_a_death_in_the_middle_of_a_task_changes_nothing(tmp_path: Path) -> None:
    class Dying(Watch):
        epochs = 0

        def epoch(self, epoch: int, loss: float) -> None:
            self.epochs += 1
            if self.epochs == 4:
                raise Death

    config = quick(tmp_path, train={"epochs": 3, "threads": 1})
    whole = run(config, tmp_path / "whole")
    with pytest.raises(Death):
        run(config, tmp_path / "out", watch=Dying())
    (folder,) = (tmp_path / "out").iterdir()
    assert RunStore(folder).tasks_done == 1
    resumed = run(config, tmp_path / "out", resume=True)
    assert resumed.folder == folder
    assert results(folder) == results(whole.folder)


def test_a_death_after_every_task_changes_nothing(tmp_path: Path) -> None:
    config = quick(tmp_path, backbone={"name": "gat", "hidden": 8, "heads": 2})
    whole = run(config, tmp_path / "whole")
    folder = with_death(config, tmp_path / "out", "task-000.json", before=False)
    for index in (1, 2):
        write = RunStore._write_json

        def dying(
            self: RunStore, file: str, content: Mapping[str, Any], index: int = index, write: Any = write
        ) -> None:
            write(self, file, content)
            if file == f"task-{index:03d}.json":
                raise Death

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RunStore, "_write_json", dying)
            with pytest.raises(Death):
                run(config, tmp_path / "out", resume=True)
        assert RunStore(folder).tasks_done == index + 1
    assert results(run(config, tmp_path / "out", resume=True).folder) == results(whole.folder)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [folder.name]


def test_halves_of_files_from_a_killed_process_are_passed_over(tmp_path: Path) -> None:
    config = quick(tmp_path)
    whole = run(config, tmp_path / "whole")
    folder = with_death(config, tmp_path / "out", "task-001.json")
    for name in (".task-001.json.123", ".state-001.safetensors.123", ".record.json.123", ".config.json.123"):
        (folder / name).write_bytes(b'{"half')
    (folder / "state-001.safetensors").write_bytes(b"half of a state that no task file speaks of")
    assert results(run(config, tmp_path / "out", resume=True).folder) == results(whole.folder)


# kill -9

DIGITS = ["run", "--dataset", "digits", "--epochs", "60", "--seed", "3", "--set", "train.threads=1", "--json"]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    config = run_config(train={"epochs": 60, "threads": 1}, seeds=dict.fromkeys(("split", "order", "init"), 3))
    return run(config, tmp_path_factory.mktemp("uninterrupted"))


def until(condition: Callable[[], bool], seconds: float = 300) -> None:
    """Wait for a condition, looking every half millisecond."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.0005)


def names(out: Path) -> set[str]:
    """The files of the only run below a folder, temporary ones too."""
    return {path.name for path in out.glob("*/*")} | {path.name for path in out.glob("*/.*")}


MOMENTS: dict[str, Callable[[Path], bool]] = {
    "the folder is there": lambda out: any(out.glob("*")),
    "the work has begun": lambda out: "lock" in names(out),
    "the first task is done": lambda out: "task-000.json" in names(out),
    "a state is being written": lambda out: any(
        name.startswith(".state-") or (name.startswith("state-") and f"task-{name[6:9]}.json" not in names(out))
        for name in names(out)
    ),
    "the third task is done": lambda out: "task-002.json" in names(out),
    "the last task is done": lambda out: "task-004.json" in names(out),
}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
@pytest.mark.parametrize(
    ("moment", "delay"),
    [*((moment, 0.0) for moment in MOMENTS), ("the work has begun", 0.05), ("the third task is done", 0.05)],
)
def test_a_run_killed_at_any_moment_ends_like_an_uninterrupted_one(
    tmp_path: Path, uninterrupted: RunResult, moment: str, delay: float
) -> None:
    out = tmp_path / "out"
    process = command_line([*DIGITS, "--out", str(out)], tmp_path)
    until(lambda: MOMENTS[moment](out) or "record.json" in names(out) or not process.is_alive())
    time.sleep(delay)
    process.kill()
    process.join()
    if moment in ("the folder is there", "the work has begun"):  # at later ones a busy machine may be too late
        assert process.exitcode == -signal.SIGKILL
        assert "record.json" not in names(out)
    config = RunConfig.from_values(uninterrupted.record.config)
    assert results(run(config, out, resume=True).folder) == results(uninterrupted.folder)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_a_process_of_the_command_line_is_killed_and_resumed(
    tmp_path: Path, uninterrupted: RunResult, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole way once: python -m evergraph, kill -9 between two tasks, --resume."""
    out = tmp_path / "out"
    arguments = [*DIGITS, "--out", str(out)]
    surroundings = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "evergraph", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=surroundings,
    ) as process:
        until(lambda: "task-000.json" in names(out) or process.poll() is not None)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert "record.json" not in names(out)
    assert run_main([*arguments, "--resume"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert results(Path(answer["run_dir"])) == results(uninterrupted.folder)
    assert len(list(out.iterdir())) == 1


# two processes at once


def test_processes_that_share_a_results_folder_lose_nothing(tmp_path: Path) -> None:
    write_graph(tmp_path / "tiny.npz", tiny_graph((9,) * 6, width=6))
    out = tmp_path / "out"
    processes = []
    for index, seed in enumerate(("0", "0", "0", "1")):
        folder = tmp_path / f"process-{index}"
        folder.mkdir()
        arguments = ["run", "--dataset", str(tmp_path / "tiny.npz"), "--epochs", "5", "--seed", seed, "--json"]
        processes.append((command_line([*arguments, "--out", str(out)], folder), folder))
    answers = []
    for process, folder in processes:
        process.join(300)
        assert process.exitcode == 0, (folder / "stderr").read_text()
        answers.append(json.loads((folder / "stdout").read_text()))
    assert len({answer["run_dir"] for answer in answers}) == 4
    assert {Path(answer["run_dir"]) for answer in answers} == set(out.iterdir())
    found = [results(Path(answer["run_dir"])) for answer in answers]
    assert found[0] == found[1] == found[2] != found[3]
    for answer in answers:
        folder = Path(answer["run_dir"])
        assert RunStore(folder).record().config == answer["config"]
        assert load_file(folder / "state-002.safetensors")
