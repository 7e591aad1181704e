"""Model folders of classifiers: of every format, broken ones, and when a process dies."""

import json
from hashlib import sha256
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evergraph import ContinualClassifier
from evergraph.errors import StoreError
from evergraph.files import write_atomically
from evergraph.models import read_model, write_model

from .pieces import QUICK, tiny_pieces


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
