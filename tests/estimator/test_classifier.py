"""fit, predict, save, load on one's own growing graph."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from evergraph import ContinualClassifier, load_dataset
from evergraph.data.datasets import DATASETS
from evergraph.data.stream import StreamConfig
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.files import write_atomically
from evergraph.methods import METHODS
from evergraph.runs.config import RunConfig
from evergraph.watch import Watch
from helpers import tiny_graph

Piece = tuple[sparse.csr_array, NDArray[np.float32], NDArray[np.int64]]
SETTINGS: dict[str, dict[str, Any]] = {"method": {"name": "ftf-er-prob", "budget": 10}, "train": {"epochs": 30}}


def pieces() -> list[Piece]:
    graph = load_dataset("digits")
    result = []
    for first in (0, 2, 4):
        part = graph.subgraph(np.flatnonzero((graph.labels == first) | (graph.labels == first + 1)))
        assert isinstance(part.features, np.ndarray)
        result.append((part.adjacency, part.features, part.labels + 100))
    return result


def accuracy(model: ContinualClassifier, piece: Piece) -> float:
    adjacency, features, labels = piece
    return float((model.predict(adjacency, features) == labels).mean())


def test_learns_new_classes_and_remembers_the_old_ones() -> None:
    first, second, _ = pieces()
    model = ContinualClassifier(**SETTINGS).fit(*first).fit(*second)
    assert model.classes == [100, 101, 102, 103]
    assert min(accuracy(model, first), accuracy(model, second)) > 0.9


def test_unknown_labels_are_not_learned_but_predicted() -> None:
    adjacency, features, labels = pieces()[0]
    hidden = labels.copy()
    hidden[::2] = -1
    model = ContinualClassifier(**SETTINGS).fit(adjacency, features, hidden)
    assert model.learner.memory().nodes == 20
    assert (model.predict(adjacency, features) == labels).mean() > 0.9


@pytest.mark.parametrize("method", ["ftf-er-prob", "gem", "mas"])
@pytest.mark.parametrize("sparse_features", [False, True])
def test_an_interrupted_fit_leaves_everything_as_it_was(method: str, sparse_features: bool) -> None:
    settings: dict[str, dict[str, Any]] = {"method": {"name": method}, "train": {"epochs": 5}}
    parts = [(a, sparse.csr_array(x) if sparse_features else x, y) for a, x, y in pieces()]

    class Impatient(Watch):
        def epoch(self, epoch: int, loss: float) -> None:
            if epoch == 3:
                raise KeyboardInterrupt

    undisturbed = ContinualClassifier(**settings).fit(*parts[0]).fit(*parts[1])
    model = ContinualClassifier(**settings)
    for part in parts[:2]:
        with pytest.raises(KeyboardInterrupt):
            model.fit(*part, watch=Impatient())
        model.fit(*part)
    assert model.classes == [100, 101, 102, 103]
    assert np.array_equal(model.predict_logits(*parts[0][:2]), undisturbed.predict_logits(*parts[0][:2]))


def test_a_loaded_classifier_learns_on_like_the_saved_one(tmp_path: Path) -> None:
    first, second, third = pieces()
    model = ContinualClassifier(**SETTINGS).fit(*first).fit(*second)
    model.save(tmp_path / "model")
    loaded = ContinualClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_logits(*first[:2]), model.predict_logits(*first[:2]))
    model.fit(*third)
    loaded.fit(*third)
    np.testing.assert_array_equal(loaded.predict_logits(*first[:2]), model.predict_logits(*first[:2]))


def test_bad_use_is_answered_in_one_sentence(tmp_path: Path) -> None:
    first, _, _ = pieces()
    model = ContinualClassifier(**SETTINGS)
    with pytest.raises(ConfigError, match="call fit first"):
        model.predict(*first[:2])
    model.fit(*first)
    with pytest.raises(DataError, match=r"learned before: \[100, 101\]"):
        model.fit(*first)
    with pytest.raises(DataError, match="64 features"):
        model.predict(first[0], first[1][:, :5])
    with pytest.raises(DataError, match="whole numbers"):
        model.fit(first[0], first[1], first[2] / 7)
    with pytest.raises(DataError, match="0 or more, or -1 for unknown, got -7 instead"):
        model.fit(first[0], first[1], np.full(len(first[2]), -7))
    with pytest.raises(ConfigError, match="joint"):
        ContinualClassifier(method={"name": "joint"})
    with pytest.raises(StoreError, match="saved classifier"):
        ContinualClassifier.load(tmp_path)


# settings


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"dataset": {"name": "digits"}}, "got dataset instead; a classifier gets its graphs in fit"),
        ({"dataset": {}}, "got dataset instead"),
        *(
            ({"stream": {name: value}}, f"got stream.{name} instead")
            for name, value in StreamConfig().model_dump(mode="json").items()
            if name not in ("setting", "preprocessing")
        ),
        ({"stream": {"speed": 3}}, "got stream.speed instead"),
        ({"method": {"name": "ftf-er-det", "scope": "full"}}, r"method.scope=task is wanted, got full instead"),
        ({"method": {"name": "ftf-er-det", "topology_score": "misread"}}, r"got misread instead"),
        ({"method": {"name": "ftf-er-det", "storage": "ids"}}, r"method.storage=ids reads kept nodes again"),
        ({"stream": {"preprocessing": "standard"}}, "row by row is wanted .*, got standard instead"),
        ({"method": {"name": "joint"}}, "keeps its own memory is wanted, got joint instead"),
        ({"trian": {}}, "trian is not a section"),
        ({"stream": 3}, "stream must be a section of settings, got 3 instead"),
        ({"train": {"speed": 1}}, "train.speed is not a setting"),
    ],
    ids=str,
)
def test_settings_that_a_classifier_has_no_use_for_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        ContinualClassifier(**settings)
    assert "\n" not in str(caught.value)


def test_settings_that_concern_a_classifier_are_taken() -> None:
    stream = {"setting": "task-il", "preprocessing": "none"}
    method = {"name": "ftf-er-det", "scope": "task"}
    config = ContinualClassifier(stream=stream, method=method, seeds={"init": 3}, backbone={"name": "gin"}).config
    assert config.to_values()["stream"] == {**StreamConfig().model_dump(mode="json"), **stream}
    assert (config.backbone_name, config.seeds.init) == ("gin", 3)


@pytest.mark.parametrize(
    "method", [name for name, entry in METHODS.items() if "budget" in entry.config.model_fields]
)
def test_the_budget_is_the_methods_own_unless_it_is_given(method: str) -> None:
    """That of the default data set of a run, which a classifier does not have, is another one."""
    declared = METHODS[method].config.model_fields["budget"].default
    assert declared == 60 != DATASETS[RunConfig.from_values({}).dataset.name].budget
    assert ContinualClassifier(method={"name": method}).config.to_values()["method"]["budget"] == 60
    assert ContinualClassifier(method={"name": method, "budget": 7}).config.to_values()["method"]["budget"] == 7


# folders

QUICK: dict[str, dict[str, Any]] = {
    "method": {"name": "ftf-er-det", "budget": 3},
    "backbone": {"hidden": 8},
    "train": {"epochs": 2},
}


def tiny_pieces() -> list[Piece]:
    """Three small graphs with two classes each."""
    result = []
    for index in range(3):
        graph = tiny_graph((8, 8), seed=index)
        assert isinstance(graph.features, np.ndarray)
        result.append((graph.adjacency, graph.features, graph.labels + 2 * index))
    return result


@pytest.fixture
def model() -> ContinualClassifier:
    return ContinualClassifier(**QUICK).fit(*tiny_pieces()[0])


def logits(model: ContinualClassifier) -> NDArray[np.float32]:
    return model.predict_logits(*tiny_pieces()[2][:2])


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_state_has_the_name_of_its_content_and_classifier_json_names_it(
    model: ContinualClassifier, tmp_path: Path
) -> None:
    model.save(tmp_path)
    first = files(tmp_path)
    model.save(tmp_path)
    assert files(tmp_path) == first
    model.fit(*tiny_pieces()[1]).save(tmp_path)
    second = files(tmp_path)
    for content in (first, second):
        (state,) = content.keys() - {"classifier.json"}
        assert state == f"state-{sha256(content[state]).hexdigest()[:16]}.safetensors"
        assert json.loads(content["classifier.json"])["state"] == state
    assert first.keys() != second.keys()
    assert np.array_equal(logits(ContinualClassifier.load(tmp_path)), logits(model))


def test_a_classifier_that_has_learned_nothing_is_saved_too(tmp_path: Path) -> None:
    ContinualClassifier(**QUICK).save(tmp_path / "a" / "b")
    loaded = ContinualClassifier.load(tmp_path / "a" / "b").fit(*tiny_pieces()[0])
    assert np.array_equal(logits(loaded), logits(ContinualClassifier(**QUICK).fit(*tiny_pieces()[0])))


@pytest.mark.parametrize("moment", ["state", "classifier.json", "removal"])
def test_a_folder_holds_the_classifier_before_or_after_whenever_the_process_dies(
    model: ContinualClassifier, tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(path: Path, content: Any) -> None:
        if path.name.startswith(moment):
            raise KeyboardInterrupt
        write_atomically(path, content)

    def dying_at_the_removal(path: Path, missing_ok: bool = False) -> None:
        if path.name.startswith("state"):
            raise KeyboardInterrupt
        unlink(path, missing_ok)

    unlink = Path.unlink
    model.save(tmp_path)
    before = logits(model)
    model.fit(*tiny_pieces()[1])
    with monkeypatch.context() as patch:
        if moment == "removal":
            patch.setattr(Path, "unlink", dying_at_the_removal)
        else:
            patch.setattr("evergraph.estimator.classifier.write_atomically", dying)
        with pytest.raises(KeyboardInterrupt):
            model.save(tmp_path)
    found = logits(ContinualClassifier.load(tmp_path))
    assert np.array_equal(found, logits(model) if moment == "removal" else before)
    model.save(tmp_path)
    assert len(files(tmp_path)) == 2
    assert np.array_equal(logits(ContinualClassifier.load(tmp_path)), logits(model))


def test_a_folder_of_an_earlier_version_is_read(model: ContinualClassifier, tmp_path: Path) -> None:
    """It had one name for every state, all settings of a run, and none that came later."""
    model.save(tmp_path)
    about = json.loads((tmp_path / "classifier.json").read_text())
    (tmp_path / about.pop("state")).rename(tmp_path / "state.safetensors")
    assert about["config"]["dataset"]["name"] == "digits"
    del about["config"]["train"]["weight_decay"]
    (tmp_path / "classifier.json").write_text(json.dumps(about))
    loaded = ContinualClassifier.load(tmp_path)
    assert np.array_equal(logits(loaded), logits(model))
    second = tiny_pieces()[1]
    assert np.array_equal(logits(loaded.fit(*second)), logits(model.fit(*second)))
    loaded.save(tmp_path)
    assert "state.safetensors" not in files(tmp_path)
    assert np.array_equal(logits(ContinualClassifier.load(tmp_path)), logits(model))


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "text"])
def test_a_broken_state_is_one_sentence(model: ContinualClassifier, tmp_path: Path, damage: str) -> None:
    model.save(tmp_path)
    (path,) = tmp_path.glob("state-*.safetensors")
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes({"empty": b"", "cut": content[:-5], "text": b"hello, this is no tensor"}[damage])
    with pytest.raises(
        StoreError, match=r"state-\w+.safetensors cannot be read .*; save the classifier again"
    ) as caught:
        ContinualClassifier.load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "3",
        "{}",
        "\xff",
        {"config": 3},
        {"config": None},
        {"state": 3},
        {"state": None},
        {"classes": None},
        {"n_tasks": "many"},
    ],
    ids=str,
)
def test_a_broken_classifier_json_is_one_sentence(
    model: ContinualClassifier, tmp_path: Path, content: str | dict[str, Any]
) -> None:
    model.save(tmp_path)
    path = tmp_path / "classifier.json"
    if isinstance(content, dict):
        content = json.dumps({**json.loads(path.read_text()), **content})
    path.write_text(content, encoding="latin-1")
    with pytest.raises(StoreError, match=r"folder of a saved classifier is wanted, got .* instead") as caught:
        ContinualClassifier.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_place_that_cannot_be_written_is_one_sentence(model: ContinualClassifier, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot be made: .*; choose another folder") as caught:
        model.save(tmp_path / "file")
    assert "\n" not in str(caught.value)


def test_a_state_of_other_bytes_is_refused(tmp_path: Path) -> None:
    """A damaged file may still be a valid one; its name has a digest of what was saved."""
    graph = tiny_graph()
    model = ContinualClassifier(
        method={"name": "finetune"}, backbone={"hidden": 4}, train={"epochs": 1, "threads": 1}
    )
    model.fit(graph.adjacency, graph.features, graph.labels)
    model.save(tmp_path / "model")
    (state,) = (tmp_path / "model").glob("state-*.safetensors")
    content = bytearray(state.read_bytes())
    content[-8] ^= 0xFF
    state.write_bytes(content)
    with pytest.raises(StoreError, match="must be as it was saved, got other bytes instead"):
        ContinualClassifier.load(tmp_path / "model")


def test_direction_weights_and_loops_mean_the_same_as_in_a_run() -> None:
    """By default none of them counts; with the settings of a run each can be kept."""
    adjacency, features, labels = pieces()[0]
    upper = sparse.csr_array(sparse.triu(adjacency, 1))
    odd = sparse.csr_array(upper * 3 + sparse.eye_array(upper.shape[0]))
    plain = ContinualClassifier(**SETTINGS).fit(adjacency, features, labels)
    same = ContinualClassifier(**SETTINGS).fit(odd, features, labels)
    wanted = plain.predict_logits(adjacency, features)
    assert np.array_equal(same.predict_logits(odd, features), wanted)
    steps = {"undirected": False, "unweighted": False}
    kept = ContinualClassifier(**SETTINGS, dataset={"standardise": steps}).fit(odd, features, labels)
    assert not np.allclose(kept.predict_logits(odd, features), wanted)


def test_a_classifier_keeps_how_it_takes_graphs(tmp_path: Path) -> None:
    adjacency, features, labels = pieces()[0]
    weighted = adjacency * 2.5
    settings: dict[str, Any] = {**SETTINGS, "dataset": {"standardise": {"unweighted": False}}}
    model = ContinualClassifier(**settings).fit(weighted, features, labels)
    model.save(tmp_path / "model")
    loaded = ContinualClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_logits(weighted, features), model.predict_logits(weighted, features))
    about = json.loads((tmp_path / "model" / "classifier.json").read_text())
    del about["standardised"]  # saved before graphs were standardised: they stay as they come
    (tmp_path / "model" / "classifier.json").write_text(json.dumps(about))
    assert not any(ContinualClassifier.load(tmp_path / "model").config.dataset.standardise.model_dump().values())
