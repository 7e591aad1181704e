"""fit, predict, save, load on one's own growing graph."""

import json
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from evergraph import ContinualClassifier, load_dataset
from evergraph.data.datasets import DATASETS
from evergraph.data.stream import StreamConfig
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.estimator.settings import run_config
from evergraph.files import write_atomically
from evergraph.methods import METHODS
from evergraph.models import read_model, write_model
from evergraph.runs.config import RunConfig
from evergraph.watch import Watch
from helpers import tiny_graph

Piece = tuple[tuple[sparse.csr_array, NDArray[np.float32]], NDArray[np.int64]]
SETTINGS: dict[str, Any] = {"method": "ftf-er-prob", "budget": 10, "epochs": 30, "holdout": 0.0}


def pieces() -> list[Piece]:
    graph = load_dataset("digits")
    result = []
    for first in (0, 2, 4):
        part = graph.subgraph(np.flatnonzero((graph.labels == first) | (graph.labels == first + 1)))
        assert isinstance(part.features, np.ndarray)
        result.append(((part.adjacency, part.features), part.labels + 100))
    return result


def accuracy(model: ContinualClassifier, piece: Piece) -> float:
    return model.score(*piece)


def test_learns_new_classes_and_remembers_the_old_ones() -> None:
    first, second, _ = pieces()
    model = ContinualClassifier(**SETTINGS).partial_fit(*first).partial_fit(*second)
    assert model.classes_.tolist() == [100, 101, 102, 103]
    assert min(accuracy(model, first), accuracy(model, second)) > 0.9


def test_unknown_labels_are_not_learned_but_predicted() -> None:
    graph, labels = pieces()[0]
    hidden = labels.copy()
    hidden[::2] = -1
    model = ContinualClassifier(**SETTINGS).partial_fit(graph, hidden)
    assert model.history_[-1].learned == (hidden >= 0).sum()
    assert (model.predict(graph) == labels).mean() > 0.9


@pytest.mark.parametrize("method", ["ftf-er-prob", "gem", "mas"])
@pytest.mark.parametrize("sparse_features", [False, True])
def test_an_interrupted_fit_leaves_everything_as_it_was(method: str, sparse_features: bool) -> None:
    settings: dict[str, Any] = {"method": method, "epochs": 5}
    parts = [((a, sparse.csr_array(x) if sparse_features else x), y) for (a, x), y in pieces()]

    class Impatient(Watch):
        def epoch(self, epoch: int, loss: float) -> None:
            if epoch == 3:
                raise KeyboardInterrupt

    undisturbed = ContinualClassifier(**settings).partial_fit(*parts[0]).partial_fit(*parts[1])
    model = ContinualClassifier(**settings)
    for part in parts[:2]:
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(*part, watch=Impatient())
        model.partial_fit(*part)
    assert model.classes_.tolist() == [100, 101, 102, 103]
    assert np.array_equal(model.decision_function(parts[0][0]), undisturbed.decision_function(parts[0][0]))


def test_a_loaded_classifier_learns_on_like_the_saved_one(tmp_path: Path) -> None:
    first, second, third = pieces()
    model = ContinualClassifier(**SETTINGS).partial_fit(*first).partial_fit(*second)
    model.save(tmp_path / "model")
    loaded = ContinualClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(first[0]), model.decision_function(first[0]))
    model.partial_fit(*third)
    loaded.partial_fit(*third)
    np.testing.assert_array_equal(loaded.decision_function(first[0]), model.decision_function(first[0]))


def test_bad_use_is_answered_in_one_sentence(tmp_path: Path) -> None:
    (graph, labels), _, _ = pieces()
    model = ContinualClassifier(**SETTINGS)
    with pytest.raises(ConfigError, match="call partial_fit first"):
        model.predict(graph)
    model.partial_fit(graph, labels)
    with pytest.raises(DataError, match="64 features"):
        model.predict((graph[0], graph[1][:, :5]))
    with pytest.raises(DataError, match="whole number"):
        model.partial_fit(graph, labels / 7)
    with pytest.raises(DataError, match="got -7 instead"):
        model.partial_fit(graph, np.full(len(labels), -7))
    with pytest.raises(DataError, match="got none; name their column"):
        model.partial_fit(graph)
    with pytest.raises(DataError, match="labels must be whole numbers as in the first batch, got 'a' instead"):
        model.partial_fit(graph, ["a"] * len(labels))
    with pytest.raises(StoreError, match="folder of a stored model is wanted"):
        ContinualClassifier.load(tmp_path)


# settings


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"dataset": {"name": "digits"}}, "got dataset instead; a classifier gets its graphs in partial_fit"),
        ({"dataset": {}}, "got dataset instead"),
        *(
            ({"stream": {name: value}}, f"got stream.{name} instead")
            for name, value in StreamConfig().model_dump(mode="json").items()
            if name not in ("setting", "preprocessing")
        ),
        ({"stream": {"speed": 3}}, "got stream.speed instead"),
        ({"method": {"scope": "full"}}, r"method.scope=task is wanted, got full instead"),
        ({"method": {"topology_score": "misread"}}, r"got misread instead"),
        ({"method": {"storage": "ids"}}, r"method.storage=ids reads kept nodes again"),
        ({"method": {"name": "ssm"}}, "got method.name as an argument and in settings"),
        ({"seeds": {"init": 1}}, "got seeds.init as an argument and in settings"),
        (3, "settings by section are wanted"),
        ({"stream": {"preprocessing": "standard"}}, "row by row is wanted .*, got standard instead"),
        ({"trian": {}}, "trian is not a section"),
        ({"stream": 3}, "stream must be a section of settings, got 3 instead"),
        ({"train": {"speed": 1}}, "train.speed is not a setting"),
    ],
    ids=str,
)
def test_settings_that_a_classifier_has_no_use_for_are_refused(settings: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        ContinualClassifier("ftf-er-det", settings=settings).partial_fit(*tiny_pieces()[0])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"method": "joint"}, "keeps its own memory is wanted, got joint instead"),
        ({"method": "no-such"}, "no-such"),
        ({"method": {"name": "ssm"}}, "method must be a name, got {'name': 'ssm'} instead"),
        ({"backbone": 3}, "backbone must be a name"),
        ({"holdout": 0.7}, "holdout must be a number from 0 to 0.5, got 0.7 instead"),
        ({"reject": "some"}, "reject must be a number from 0 to 0.9"),
        ({"reject": 0.1, "reject_below": 0.5}, "got both; set one of them"),
        ({"reject": 0.1, "holdout": 0}, "got holdout=0"),
        ({"epochs": -1}, "epochs"),
        ({"method": "analytic", "budget": 3}, "method.budget is not a setting"),
    ],
    ids=str,
)
def test_arguments_that_cannot_work_are_refused_when_they_are_used(arguments: dict[str, Any], says: str) -> None:
    model = ContinualClassifier(**arguments)
    with pytest.raises(ConfigError, match=says) as caught:
        model.partial_fit(*tiny_pieces()[0])
    assert "\n" not in str(caught.value)
    assert "nothing learned" in repr(model)


def test_settings_that_concern_a_classifier_are_taken() -> None:
    stream = {"setting": "task-il", "preprocessing": "none"}
    given: dict[str, dict[str, Any]] = {"stream": stream, "method": {"scope": "task"}, "train": {"lr": 0.02}}
    model = ContinualClassifier("ftf-er-det", backbone="gin", random_state=3, epochs=1, settings=given)
    config = model.partial_fit(*tiny_pieces()[0])._learned.config
    assert config.to_values()["stream"] == {**StreamConfig().model_dump(mode="json"), **stream}
    assert (config.backbone_name, config.seeds.init, config.train.lr) == ("gin", 3, 0.02)


@pytest.mark.parametrize(
    "method", [name for name, entry in METHODS.items() if "budget" in entry.config.model_fields]
)
def test_the_budget_is_the_methods_own_unless_it_is_given(method: str) -> None:
    """That of the default data set of a run, which a classifier does not have, is another one."""
    declared = METHODS[method].config.model_fields["budget"].default
    assert declared == 60 != DATASETS[RunConfig.from_values({}).dataset.name].budget
    for budget in (None, 7):
        config = run_config(method, "gcn", budget, None, 0, None)
        assert config.to_values()["method"]["budget"] == (budget or 60)


# folders

QUICK: dict[str, Any] = {
    "method": "ftf-er-det",
    "budget": 3,
    "epochs": 2,
    "settings": {"backbone": {"hidden": 8}},
}


def tiny_pieces() -> list[Piece]:
    """Three small graphs with two classes each."""
    result = []
    for index in range(3):
        graph = tiny_graph((8, 8), seed=index)
        assert isinstance(graph.features, np.ndarray)
        result.append(((graph.adjacency, graph.features), graph.labels + 2 * index))
    return result


@pytest.fixture
def model() -> ContinualClassifier:
    return ContinualClassifier(**QUICK).partial_fit(*tiny_pieces()[0])


def logits(model: ContinualClassifier) -> NDArray[np.float32]:
    return model.decision_function(tiny_pieces()[2][0])


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_tensors_have_the_name_of_their_content_and_model_json_has_their_checksum(
    model: ContinualClassifier, tmp_path: Path
) -> None:
    model.save(tmp_path)
    first = files(tmp_path)
    model.save(tmp_path)
    assert files(tmp_path) == first
    model.partial_fit(*tiny_pieces()[1]).save(tmp_path)
    second = files(tmp_path)
    for content in (first, second):
        (name,) = content.keys() - {"model.json"}
        digest = sha256(content[name]).hexdigest()
        assert name == f"tensors-{digest[:16]}.safetensors"
        assert json.loads(content["model.json"])["files"]["tensors.safetensors"]["sha256"] == digest
    assert first.keys() != second.keys()
    assert np.array_equal(logits(ContinualClassifier.load(tmp_path)), logits(model))


def test_a_classifier_that_has_learned_nothing_is_saved_too(tmp_path: Path) -> None:
    ContinualClassifier(**QUICK).save(tmp_path / "a" / "b")
    loaded = ContinualClassifier.load(tmp_path / "a" / "b").partial_fit(*tiny_pieces()[0])
    assert np.array_equal(logits(loaded), logits(ContinualClassifier(**QUICK).partial_fit(*tiny_pieces()[0])))


@pytest.mark.parametrize("moment", ["tensors", "model.json", "removal"])
def test_a_folder_holds_the_classifier_before_or_after_whenever_the_process_dies(
    model: ContinualClassifier, tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(path: Path, content: Any) -> None:
        if path.name.startswith(moment):
            raise KeyboardInterrupt
        write_atomically(path, content)

    def dying_at_the_removal(path: Path, missing_ok: bool = False) -> None:
        if path.name.startswith("tensors"):
            raise KeyboardInterrupt
        unlink(path, missing_ok)

    unlink = Path.unlink
    model.save(tmp_path)
    before = logits(model)
    model.partial_fit(*tiny_pieces()[1])
    with monkeypatch.context() as patch:
        if moment == "removal":
            patch.setattr(Path, "unlink", dying_at_the_removal)
        else:
            patch.setattr("evergraph.models.folder.write_atomically", dying)
        with pytest.raises(KeyboardInterrupt):
            model.save(tmp_path)
    found = logits(ContinualClassifier.load(tmp_path))
    assert np.array_equal(found, logits(model) if moment == "removal" else before)
    model.save(tmp_path)
    assert len(files(tmp_path)) == 2
    assert np.array_equal(logits(ContinualClassifier.load(tmp_path)), logits(model))


OLD = Path(__file__).parent.parent / "fixtures" / "models"


@pytest.mark.parametrize("name", ["format-1-ftf-er-det", "format-2-ftf-er-det", "format-2-analytic"])
def test_folders_of_every_past_format_predict_the_same_and_learn_on(name: str, tmp_path: Path) -> None:
    """They were saved by the code of their time; earlier ones lack settings that came later."""
    copytree(OLD / name, tmp_path / "model")
    loaded = ContinualClassifier.load(tmp_path / "model")
    np.testing.assert_allclose(logits(loaded), np.load(OLD / f"{name}.npy"), rtol=1e-5, atol=1e-6)
    assert loaded.classes_.tolist() == [0, 1, 2, 3]
    loaded.partial_fit(*tiny_pieces()[2]).save(tmp_path / "model")
    assert sorted(path.name.partition("-")[0] for path in (tmp_path / "model").iterdir()) == [
        "model.json",
        "tensors",
    ]
    assert np.array_equal(logits(ContinualClassifier.load(tmp_path / "model")), logits(loaded))


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "text", "flipped"])
@pytest.mark.parametrize("old", [False, True])
def test_broken_tensors_are_one_sentence(
    model: ContinualClassifier, tmp_path: Path, damage: str, old: bool
) -> None:
    if old:
        copytree(OLD / "format-2-ftf-er-det", tmp_path, dirs_exist_ok=True)
    else:
        model.save(tmp_path)
    (path,) = tmp_path.glob("*.safetensors")
    content = path.read_bytes()
    path.unlink()
    flipped = content[:-8] + bytes([content[-8] ^ 0xFF]) + content[-7:]
    if damage != "missing":
        damaged = {"empty": b"", "cut": content[:-5], "text": b"hello, this is no tensor", "flipped": flipped}
        path.write_bytes(damaged[damage])
    with pytest.raises(StoreError, match=r"safetensors .*(read|wanted|must be|must have)") as caught:
        ContinualClassifier.load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", "[]", "3", "{}", "\xff", "[" * 100_000),
        *({"config": value} for value in (3, None, {"method": {"name": "no-such"}}, {"train": {"epochs": -1}})),
        *({"state": value} for value in (3, None, "../state.safetensors", "/etc/passwd", "state-xyz.safetensors")),
        *({"classes": value} for value in (None, ["a"], [0, 0, 1, 2], [])),
        *({"n_tasks": value} for value in ("many", 0, -1)),
        *({"n_features": value} for value in (-3, 10**15, None)),
        {"plugins": {"method ftf-er-det": "elsewhere"}},
        {"surprise": 1},
    ],
    ids=lambda content: str(content)[:40],
)
def test_a_broken_classifier_json_of_before_is_one_sentence(tmp_path: Path, content: str | dict[str, Any]) -> None:
    copytree(OLD / "format-2-ftf-er-det", tmp_path, dirs_exist_ok=True)
    path = tmp_path / "classifier.json"
    if isinstance(content, dict):
        content = json.dumps({**json.loads(path.read_text()), **content})
    path.write_text(content, encoding="latin-1")
    with pytest.raises(StoreError) as caught:
        ContinualClassifier.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_model_of_another_kind_is_no_classifier(model: ContinualClassifier, tmp_path: Path) -> None:
    model.save(tmp_path)
    stored = read_model(tmp_path)
    write_model(tmp_path, {**stored.manifest, "kind": "table"}, stored.tensors)
    with pytest.raises(StoreError, match="holds another model"):
        ContinualClassifier.load(tmp_path)


def test_a_state_of_another_method_is_refused(model: ContinualClassifier, tmp_path: Path) -> None:
    model.save(tmp_path)
    stored = read_model(tmp_path)
    write_model(tmp_path, stored.manifest, {"buffer.labels": np.zeros(3, dtype=np.int64)})
    with pytest.raises(StoreError, match="must hold a classifier as it was saved, got another one") as caught:
        ContinualClassifier.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_place_that_cannot_be_written_is_one_sentence(model: ContinualClassifier, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot be made: .*; choose another folder") as caught:
        model.save(tmp_path / "file")
    assert "\n" not in str(caught.value)
