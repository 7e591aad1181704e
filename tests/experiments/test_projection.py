"""Making projections: every test node once, the model's hidden layer, the same bits, figures checked by hand."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from backbones.references import REFERENCES, attention_weights, dense_features, hears
from evergraph.backbones import BACKBONES, Backbone, BackboneEntry, MessageGraph, NodeFeatures, model_input
from evergraph.backbones.gcn import GCN, GCNConfig
from evergraph.data.graph import Graph
from evergraph.errors import ConfigError, StoreError
from evergraph.experiments import projection
from evergraph.experiments.projection import (
    neighbour_agreement,
    project,
    representations,
    silhouette,
    stratified,
)
from evergraph.results.projection import read_projection
from evergraph.runs.build import open_stream
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import run
from evergraph.runs.store import RunStore
from helpers import CPU, one_sentence, quick_config, tiny_graph


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that learns the digits in random order."""
    config = quick_config("ftf-er-det", stream={"class_order": "random"}, train={"epochs": 5})
    return run(config, tmp_path_factory.mktemp("runs")).folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A copy of it to do anything with."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def content(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "projection.json").read_text(encoding="utf-8"))
    return found


def test_every_test_node_has_a_place_and_its_class(folder: Path) -> None:
    found = project(folder, data_dir=None)
    record = RunStore(folder).record()
    order = record.data.class_order
    assert order != sorted(order)
    sizes = dict(zip(order, record.total["test"], strict=True))
    assert {label: found.labels.count(label) for label in order} == sizes
    assert found.test_nodes == len(found.x) == sum(sizes.values())
    assert found.nodes == "359 test nodes"
    assert record.data.class_names is not None
    assert found.classes == tuple(zip(order, record.data.class_names, strict=True))
    assert (found.method, found.backbone) == ("ftf-er-det", "gcn")
    assert np.ptp(found.x) > 1
    assert all(round(value, 2) == value for value in (*found.x, *found.y))


def test_it_is_kept_and_read_back_unless_the_settings_are_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = project(folder, data_dir=None, perplexity=5.0)
    assert read_projection(folder) == found
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    with monkeypatch.context() as patch:
        patch.setattr(projection, "tsne", lambda *arguments: pytest.fail("it is there already"))
        assert project(folder, data_dir=None, perplexity=5.0) == found
    other = project(folder, data_dir=None, perplexity=6.0)
    assert other.settings.perplexity == 6.0
    assert other.x != found.x
    assert other.agreement == found.agreement
    assert read_projection(folder) == other


def test_the_same_seed_gives_the_same_bits_whatever_the_number_of_threads(folder: Path) -> None:
    files = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        project(folder, data_dir=None, perplexity=10.0)
        assert torch.get_num_threads() == threads
        files.append((folder / "projection.json").read_bytes())
        (folder / "projection.json").unlink()
    assert files[0] == files[1]


Layer = Callable[[dict[str, Tensor], Tensor, Tensor, Any], Tensor]


def gcn(p: dict[str, Tensor], heard: Tensor, x: Tensor, config: Any) -> Tensor:
    operator = torch.diag(heard.sum(1) ** -0.5) @ heard @ torch.diag(heard.sum(0) ** -0.5)
    return torch.relu(operator @ x @ p["first.weight"] + p["first.bias"])


def gin(p: dict[str, Tensor], heard: Tensor, x: Tensor, config: Any) -> Tensor:
    inner = torch.relu(heard @ x @ p["first.weight"] + p["first.bias"])
    return torch.relu(inner @ p["second.weight"] + p["second.bias"])


def gat(p: dict[str, Tensor], heard: Tensor, x: Tensor, config: Any) -> Tensor:
    parts = []
    for head, z in enumerate((x @ p["first.weight"]).chunk(config.heads, dim=1)):
        to, sent = z @ p["attend_to"][head], z @ p["attend_from"][head]
        parts.append(attention_weights(heard, to, sent, config.slope) @ z)
    return nn.functional.elu(torch.cat(parts, dim=1) + p["first.bias"])


LAYERS: dict[str, Layer] = {"gcn": gcn, "gin": gin, "gat": gat}


@pytest.mark.parametrize("backbone", REFERENCES)
@pytest.mark.parametrize("between", [False, True], ids=["apart", "inter-task edges"])
def test_representations_are_the_first_layer_on_the_graph_of_the_evaluator(
    tmp_path: Path, backbone: str, between: bool
) -> None:
    config = quick_config("ftf-er-prob", backbone, stream={"inter_task_edges": between}, train={"epochs": 3})
    result = run(config, tmp_path)
    stream = open_stream(config, None)
    values, labels = representations(result.folder, stream)
    state = RunStore(result.folder).state()
    weights = {name.removeprefix("model."): value.double() for name, value in state.items() if "model." in name}
    expected, right = [], np.zeros(stream.n_classes, dtype=np.int64)
    for task in stream.seen(len(stream) - 1):
        given = (weights, hears(task.graph), dense_features(task.graph), config.backbone)
        expected.append(LAYERS[backbone](*given)[task.test])
        predicted = REFERENCES[backbone](*given)[task.test].argmax(dim=1).numpy()
        own = task.graph.labels[task.test]
        right += np.bincount(own[predicted == own], minlength=len(right))
    assert np.allclose(values, torch.cat(expected), rtol=1e-3, atol=1e-4)
    assert values.std() > 1e-3
    assert right.tolist() == result.record.correct["test"][-1]
    assert np.bincount(labels).tolist() == result.record.total["test"]


def test_another_backbone_shows_what_its_head_sees() -> None:
    class Other(Backbone):
        def embed(self, x: NodeFeatures, graph: MessageGraph) -> Tensor:
            return torch.as_tensor(graph.rows) + x.n_features

    inputs = model_input(tiny_graph(), np.array([3, 1]), CPU)
    assert Other().hidden_layer(inputs).tolist() == [8, 6]


def test_a_run_with_a_backbone_from_a_plug_in_is_shown(tmp_path: Path) -> None:
    """The configuration of such a run says which code it had."""
    entry = BackboneEntry("a GCN of somebody else", "none", GCNConfig, GCN)
    BACKBONES.add_foreign("other-gcn", entry, "elsewhere")
    try:
        folder = run(quick_config("finetune", "other-gcn"), tmp_path).folder
        assert "elsewhere" in str(RunStore(folder).config()["plugins"])
        found = project(folder, data_dir=None, perplexity=5.0)
    finally:
        BACKBONES.remove("other-gcn")
    assert (found.backbone, found.test_nodes) == ("other-gcn", 359)


def test_of_many_nodes_a_sample_is_shown_and_said(folder: Path) -> None:
    found = project(folder, data_dir=None, perplexity=5.0, most_nodes=100)
    assert (len(found.x), found.test_nodes) == (100, 359)
    assert found.nodes == "100 of 359 test nodes"
    assert content(folder)["settings"]["most_nodes"] == 100
    sizes = RunStore(folder).record().total["test"]
    for (label, _), size in zip(found.classes, sizes, strict=True):
        assert abs(found.labels.count(label) - size * 100 / 359) <= 1


@pytest.mark.parametrize("most", [10, 57, 500])
def test_a_sample_gives_every_class_its_share(most: int) -> None:
    labels = np.random.default_rng(0).choice(5, size=500, p=[0.5, 0.3, 0.1, 0.06, 0.04])
    chosen = stratified(labels, most, seed=3)
    assert len(chosen) == len(set(chosen.tolist())) == most
    assert (np.diff(chosen) > 0).all()
    share = np.bincount(labels[chosen], minlength=5) - np.bincount(labels) * most / 500
    assert np.abs(share).max() <= 1
    assert np.array_equal(stratified(labels, most, seed=3), chosen)
    assert (most == 500) == np.array_equal(stratified(labels, most, seed=4), chosen)


def blobs(distance: float) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), (12, 20, 25))
    return (rng.normal(size=(57, 4)) + distance * labels[:, None]).astype(np.float32), labels


@pytest.mark.parametrize("distance", [0.0, 1.0, 50.0])
def test_both_figures_are_those_of_brute_force(distance: float) -> None:
    values, labels = blobs(distance)
    apart = np.linalg.norm(values[:, None].astype(np.float64) - values[None], axis=2)
    scores, alike = [], []
    for node, label in enumerate(labels):
        own = apart[node, labels == label].sum() / ((labels == label).sum() - 1)
        other = min(apart[node, labels == rival].mean() for rival in range(3) if rival != label)
        scores.append((other - own) / max(own, other))
        nearest = [at for at in np.argsort(apart[node]) if at != node][:10]
        alike.append(np.mean(labels[nearest] == label))
    assert silhouette(values, labels, 0) == pytest.approx(np.mean(scores), abs=1e-4)
    assert neighbour_agreement(values, labels) == pytest.approx(np.mean(alike))
    if distance == 50.0:
        assert neighbour_agreement(values, labels) == 1.0


def test_a_single_class_has_no_silhouette() -> None:
    values, labels = blobs(1.0)
    assert silhouette(values, np.zeros_like(labels), 0) is None


def test_the_silhouette_of_many_nodes_takes_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    values, labels = blobs(2.0)
    monkeypatch.setattr(projection, "SILHOUETTE_NODES", 30)
    chosen = stratified(labels, 30, 7)
    assert silhouette(values, labels, 7) == silhouette(values[chosen], labels[chosen], 0)


def test_unfinished_runs_and_missing_states_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="which is none"):
        project(tmp_path / "nothing", data_dir=None)
    (state,) = folder.glob("state-*.safetensors")
    state.unlink()
    with pytest.raises(StoreError, match=state.name) as missing:
        project(folder, data_dir=None)
    assert "\n" not in str(missing.value)
    (folder / "record.json").unlink()
    with pytest.raises(StoreError, match="unfinished"):
        project(folder, data_dir=None)
    assert not (folder / "projection.json").exists()


def test_other_data_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(config: RunConfig, data_dir: Path | None) -> Any:
        stream = open_stream(config, data_dir)
        graph: Graph = stream.graph
        assert isinstance(graph.features, np.ndarray)
        graph.features[0, 0] += 1
        return stream

    monkeypatch.setattr(projection, "open_stream", changed)
    with pytest.raises(StoreError, match="the data that") as error:
        project(folder, data_dir=None)
    one_sentence(error.value)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"perplexity": 0.0}, "perplexity"),
        ({"perplexity": float("nan")}, "perplexity"),
        ({"perplexity": 359.0}, "below the number of test nodes"),
        ({"seed": -1}, "seed"),
        ({"most_nodes": 1}, "most_nodes"),
    ],
)
def test_settings_that_cannot_work_are_refused(folder: Path, settings: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word) as error:
        project(folder, data_dir=None, **settings)
    one_sentence(error.value)


def test_a_layer_that_shows_nothing_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dead(*arguments: Any) -> Any:
        values, labels = representations(*arguments)
        return 0 * values, labels

    monkeypatch.setattr(projection, "representations", dead)
    with pytest.raises(StoreError, match="separates nodes") as error:
        project(folder, data_dir=None)
    one_sentence(error.value)


def test_a_broken_file_is_told_in_one_sentence_and_left_alone(folder: Path) -> None:
    (folder / "projection.json").write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match=r"projection.json must hold a projection.*delete it") as error:
        project(folder, data_dir=None, perplexity=5.0)
    one_sentence(error.value)
    assert (folder / "projection.json").read_text(encoding="utf-8") == "{"
