"""Full or sampled batches of a run: chosen by the budget, printed, recorded, and kept when a run is resumed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergraph.backbones.size import GraphSize
from evergraph.data.graph import Graph
from evergraph.methods import METHODS
from evergraph.results.groups import data_sets
from evergraph.results.load import read_results
from evergraph.results.records import small_record, write_records
from evergraph.results.summary import summarise
from evergraph.runs.build import make_learner, open_stream
from evergraph.runs.config import RunConfig
from evergraph.runs.evaluate import Evaluator
from evergraph.runs.execute import run
from evergraph.testing.samples import small_method
from evergraph.training import batching
from evergraph.watch import Watch
from helpers import learn_tasks, run_config, tiny_graph

SAMPLED = "sampled (batch 8, neighbours 15, 10)"
LEARNERS = {name: make_learner(run_config(method={"name": name}), 5) for name in METHODS}
TRAINED = [name for name, learner in LEARNERS.items() if learner.trains_net and learner.in_batches]


@pytest.fixture
def tiny_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """No task fits, and a sampled batch has eight nodes."""
    monkeypatch.setattr(batching, "machine_memory", lambda: 2000)
    monkeypatch.setattr(batching, "AUTO_SIZE", 8)


def config_of(tmp_path: Path, method: str = "finetune", graph: Graph | None = None, **train: Any) -> RunConfig:
    graph = tiny_graph((9,) * 6, width=6) if graph is None else graph
    file = tmp_path / "tiny.npz"
    edges = np.stack(graph.adjacency.nonzero()).astype(np.int64)
    np.savez(file, edge_index=edges, x=np.asarray(graph.features), y=graph.labels)
    return run_config(
        dataset={"name": str(file)},
        method=small_method(method),
        backbone={"hidden": 8},
        train={"epochs": 3, **train},
    )


class Dies(Watch):
    """Stops the run when its second task begins."""

    def task(self, index: int, count: int) -> None:
        if index == 1:
            raise KeyboardInterrupt


def state(folder: Path) -> bytes:
    (file,) = folder.glob("state-*.safetensors")
    return file.read_bytes()


@pytest.mark.usefixtures("tiny_budget")
@pytest.mark.parametrize("method", TRAINED)
def test_every_method_that_trains_goes_on_in_sampled_batches(method: str, tmp_path: Path) -> None:
    config, said = config_of(tmp_path, method), list[str]()
    whole = run(config, tmp_path / "whole", on_message=said.append)
    assert str(whole.record.batches) == SAMPLED
    assert [text for text in said if text.startswith(f"batches: {SAMPLED}; a step with all nodes takes")]
    assert any("trained in " + SAMPLED in remark for remark in summarise(whole.record).remarks)
    with pytest.raises(KeyboardInterrupt):
        run(config, tmp_path / "parts", watch=Dies())
    again = run(config, tmp_path / "parts", resume=True)
    assert again.record.correct == whole.record.correct
    assert state(again.folder) == state(whole.folder)


@pytest.mark.usefixtures("tiny_budget")
def test_cat_is_always_full_and_its_record_says_nothing_of_batches(tmp_path: Path) -> None:
    said: list[str] = []
    found = run(config_of(tmp_path, "cat"), tmp_path / "cat", on_message=said.append)
    assert found.record.batches is None
    assert not any(text.startswith("batches:") for text in said)


def test_a_resumed_run_keeps_its_batches_whatever_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of(tmp_path, fanout=[1, 1])
    full = run(config, tmp_path / "full")
    assert str(full.record.batches) == "full"
    for folder, first in (("begun full", 10**12), ("begun sampled", 2000)):
        monkeypatch.setattr(batching, "machine_memory", lambda first=first: first)
        with pytest.raises(KeyboardInterrupt):
            run(config, tmp_path / folder, watch=Dies())
        monkeypatch.setattr(batching, "machine_memory", lambda first=first: 2000 if first > 2000 else 10**12)
        again = run(config, tmp_path / folder, resume=True)
        assert (str(again.record.batches) == "full") == (folder == "begun full")
        assert (state(again.folder) == state(full.folder)) == (folder == "begun full")


def test_what_is_learned_without_training_has_no_batches(tmp_path: Path) -> None:
    said: list[str] = []
    record = run(config_of(tmp_path, "slda"), tmp_path / "out", on_message=said.append).record
    assert record.batches is None
    assert not any(text.startswith("batches") for text in said)


@pytest.mark.parametrize("method", ["finetune", "joint"])
def test_tasks_that_fit_alone_are_full_though_the_whole_graph_is_not(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Joint trains on all of them together."""
    config = config_of(tmp_path, method, tiny_graph((30,) * 6, width=6))
    net = make_learner(config, 6).net
    stream = open_stream(config, None)
    sizes = [net.step_bytes([GraphSize.of(graph)], 6) for graph in (stream.graph, *(task.graph for task in stream))]
    assert max(sizes[1:]) < 0.6 * sizes[0]
    monkeypatch.setattr(batching, "machine_memory", lambda: 2 * max(sizes[1:]))
    record = run(config, tmp_path / "out").record
    assert record.batches is not None
    assert (record.batches.size is None) == (method == "finetune")
    assert record.batches.full_bytes == (max(sizes[1:]) if method == "finetune" else sizes[0])


def test_tables_do_not_mix_full_and_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_of(tmp_path)
    folders = [run(config, tmp_path / "runs").folder]
    monkeypatch.setattr(batching, "machine_memory", lambda: 2000)
    folders.append(run(config, tmp_path / "runs").folder)
    assert small_record(folders[0]).batches == "full"
    write_records(tmp_path / "records.json", "both", folders)
    rows = json.loads((tmp_path / "records.json").read_text())["runs"]
    assert sorted(str(row.get("batches")) for row in rows) == ["None", "sampled (batch 1,024, neighbours 15, 10)"]
    for paths in ([tmp_path / "runs"], [tmp_path / "records.json"]):
        results, notes = read_results(paths)
        assert notes == []
        (data,) = data_sets(results)
        assert (
            sorted(group.label for group in data.groups)
            == [
                "finetune",
                "finetune · batches sampled (batch 1,024, neighbours 15, 10)",
            ]
            or len({group.label for group in data.groups}) == 2
        )
        assert any("trained in sampled" in remark for remark in data.all_remarks)


@pytest.mark.parametrize("backbone", ["gcn", "gat", "gin"])
def test_evaluation_in_blocks_counts_the_same(
    backbone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of(tmp_path)
    config = RunConfig.from_values({**config.to_values(), "backbone": {"name": backbone, "hidden": 8}})
    stream = open_stream(config, None)
    learner = learn_tasks(make_learner(config, 6), config, stream, range(3))
    expected = Evaluator(stream, learner)(2)
    monkeypatch.setattr(batching, "machine_memory", lambda: 2000)
    assert learner.net.exceeds(stream.graph)
    found = Evaluator(stream, learner)(2)
    for protocol, correct in expected.items():
        assert found[protocol].test.tolist() == correct.test.tolist()
        assert found[protocol].val.tolist() == correct.val.tolist()
