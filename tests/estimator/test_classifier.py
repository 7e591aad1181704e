"""fit, predict, save, load on one's own growing graph."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from evergraph import ContinualClassifier
from evergraph.errors import ConfigError, DataError, GraphWarning, StoreError
from evergraph.watch import Watch

from .growing import FAST, batch, months, noisy
from .pieces import SETTINGS, Piece, pieces


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


def test_arguments_are_stored_copied_and_set(grown: ContinualClassifier) -> None:
    model = ContinualClassifier("ssm", budget=3)
    assert model.get_params()["budget"] == 3
    copied = clone(model.set_params(budget=4))
    assert copied.get_params() == model.get_params()
    assert "nothing learned" in repr(copied)
    assert "10 classes" in repr(grown)
    assert "nothing learned" in repr(clone(grown))


def test_fit_begins_anew(grown: ContinualClassifier) -> None:
    model = deepcopy(grown).fit(months()[0])
    assert len(model.history_) == 1
    assert len(model.classes_) == 4
    with pytest.raises(AttributeError):
        model.feature_names_in_  # noqa: B018
    assert model.n_features_in_ == 64


def test_embeddings_have_a_row_for_each_node(grown: ContinualClassifier) -> None:
    assert grown.embed(batch(np.arange(50))).shape == (50, 96)
    model = ContinualClassifier("finetune", epochs=2, settings={"backbone": {"hidden": 8}})
    assert model.partial_fit(months()[0]).embed(batch(np.arange(50))).shape[0] == 50


def test_python_is_warned_as_the_command_line_is() -> None:
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    frame = pandas.DataFrame({"id": np.arange(60) + 7, "age": noisy()[1][:, 0], "topic": ["a", "b"] * 30})
    model = ContinualClassifier(**FAST).partial_fit(frame, label_column="topic")
    with pytest.warns(GraphWarning, match="'age' is unlike the first batch's"):
        model.predict(frame.assign(age=frame.age * 1000), label_column="topic")
    with pytest.warns(GraphWarning, match="'age' is unlike the first batch's"):
        model.predict_proba(frame.assign(age=frame.age * 1000), label_column="topic")
