"""Arguments that change after learning, copies, scores of masked graphs, and columns that tell the labels."""

import copy
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse

from evergraph import ContinualClassifier
from evergraph.errors import ConfigError, DataError, GraphWarning
from evergraph.methods import METHODS

Given = tuple[tuple[sparse.csr_array, NDArray[np.float64]], NDArray[np.int64]]


def ring(n: int = 120, *, classes: int = 3, noise: float = 2.0) -> Given:
    """Nodes on a ring, whose features tell their class less than fully."""
    rng, labels = np.random.default_rng(0), np.arange(n) % classes
    places = (np.arange(n), np.roll(np.arange(n), -classes))
    adjacency = sparse.csr_array((np.ones(n), places), shape=(n, n))
    features = np.eye(classes)[labels] + noise * rng.random((n, classes))
    return (sparse.csr_array(adjacency + adjacency.T), features), labels


def test_reject_and_reject_below_count_when_they_are_set_after_learning() -> None:
    graph, labels = ring()
    model = ContinualClassifier(holdout=0.3).partial_fit(graph, labels)
    assert -1 not in model.predict(graph)
    assert set(model.set_params(reject_below=1.0).predict(graph)) == {-1}
    assert -1 not in model.set_params(reject_below=None).predict(graph)
    early = ContinualClassifier(holdout=0.3, reject=0.4).partial_fit(graph, labels)
    later = model.set_params(reject=0.4)
    assert 0 < np.mean(later.predict(graph) == -1) < 1
    np.testing.assert_array_equal(later.predict(graph), early.predict(graph))
    with pytest.raises(ConfigError, match=r"reject must be a number from 0 to 0\.9, got 7"):
        model.set_params(reject=7).predict(graph)


def test_reject_needs_held_out_nodes_that_can_be_tested() -> None:
    graph, labels = ring()
    model = ContinualClassifier("finetune", epochs=1).partial_fit(graph, labels).set_params(reject=0.1)
    with pytest.raises(ConfigError, match="set reject before learning, or reject_below"):
        model.predict(graph)


@pytest.mark.parametrize(("name", "value"), [("method", "ncm"), ("random_state", 3), ("settings", {"train": {}})])
def test_other_arguments_that_changed_are_neither_ignored_nor_stored(name: str, value: Any, tmp_path: Path) -> None:
    graph, labels = ring()
    model = ContinualClassifier().partial_fit(graph, labels)
    before = model.predict_proba(graph)
    model.set_params(**{name: value})
    uses = (
        lambda: model.predict(graph),
        lambda: model.partial_fit(graph, labels + 3),
        lambda: model.save(tmp_path / "m"),
    )
    for use in uses:
        with pytest.raises(ConfigError, match=f"got {name}=.* set it back, or learn anew with fit"):
            use()
    assert not (tmp_path / "m").exists()
    assert f"changed since it has learned: {name}" in repr(model)
    original = ContinualClassifier().get_params()[name]
    np.testing.assert_array_equal(model.set_params(**{name: original}).predict_proba(graph), before)
    assert model.set_params(**{name: value}).fit(graph, labels).score(graph, labels) > 0.3


def test_a_copy_learns_by_itself() -> None:
    graph, labels = ring()
    model = ContinualClassifier("ncm").partial_fit(graph, labels)
    copied = copy.copy(model).partial_fit(graph, labels + 3)
    assert (len(model.classes_), len(copied.classes_)) == (3, 6)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "joint"])
def test_a_pickled_classifier_predicts_and_learns_on_alike(method: str) -> None:
    graph, labels = ring()
    settings = {"method": {"width": 64}} if method in ("analytic", "slda", "ncm") else None
    model = ContinualClassifier(method, epochs=2, settings=settings).partial_fit(graph, labels)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict_proba(graph), model.predict_proba(graph))
    for each in (model, twin):
        each.partial_fit(graph, labels + 3)
    np.testing.assert_array_equal(twin.predict_proba(graph), model.predict_proba(graph))


def pyg_like(**more: Any) -> Any:
    (adjacency, features), labels = ring(noise=20.0)
    tensors = {"x": torch.tensor(features), "y": torch.tensor(labels)}
    ends = torch.tensor(np.stack(adjacency.nonzero()))
    return SimpleNamespace(edge_index=ends, num_nodes=len(labels), **tensors, **more)


def test_the_score_of_a_masked_graph_is_that_of_its_test_nodes() -> None:
    train = torch.arange(120) < 60
    data = pyg_like(train_mask=train, test_mask=~train, val_mask=torch.arange(120) > 100)
    model = ContinualClassifier(holdout=0).partial_fit(data)
    assert model.history_[-1].learned == 60
    right = model.predict(data) == data.y.numpy()
    assert right[:60].mean() != pytest.approx(right[60:].mean())
    assert model.score(data) == pytest.approx(right[60:].mean())
    assert model.score(data, mask="val_mask") == pytest.approx(right[101:].mean())
    assert model.score(data, mask="train_mask") == pytest.approx(right[:60].mean())
    assert model.score(data, mask=None) == pytest.approx(right.mean())
    assert model.score(data, data.y) == pytest.approx(right[60:].mean())
    assert model.score(data, mask=data.val_mask) == pytest.approx(right[101:].mean())
    assert ContinualClassifier("ncm", holdout=0).partial_fit(data, data.y).history_[-1].learned == 60
    nobody = torch.zeros(120, dtype=torch.bool)
    for empty, mask in ((pyg_like(test_mask=nobody), {}), (data, {"mask": nobody})):
        with pytest.raises(DataError, match="to score, got none; all labels are outside of the mask; name another"):
            model.score(empty, **mask)
    del data.test_mask
    assert model.score(data) == pytest.approx(right.mean())
    with pytest.raises(DataError, match="a mask called 'no_mask' is wanted"):
        model.score(data, mask="no_mask")


def test_weights_that_were_not_learned_are_remarked_on() -> None:
    (adjacency, features), labels = ring()
    model = ContinualClassifier("ncm").partial_fit((adjacency, features), labels)
    with pytest.warns(GraphWarning, match="these edges have weights, though the model has learned without"):
        model.predict((adjacency * 2, features), weighted=True)


def test_a_column_that_tells_every_label_is_asked_about() -> None:
    rng = np.random.default_rng(0)
    topic = np.where(rng.random(60) < 0.5, "red", "blue")
    nodes = pd.DataFrame({"id": range(60), "x": rng.random(60), "topic": topic, "other": topic[::-1]})
    with pytest.warns(GraphWarning, match=r"the column 'topic' tells nearly every label.* ignore=\['topic'\]"):
        ContinualClassifier("ncm").partial_fit((nodes, None), topic)
    corrected = nodes.assign(topic=[None, "green", *topic[2:]])
    with pytest.warns(GraphWarning, match="the column 'topic' tells nearly every label"):
        ContinualClassifier("ncm").partial_fit((corrected, None), topic)
    model = ContinualClassifier("ncm").partial_fit((nodes, None), topic, ignore=["topic"])
    assert model.history_[-1].remarks == ()


def test_labels_that_are_given_twice_and_differ_are_remarked_on() -> None:
    rng = np.random.default_rng(0)
    nodes = pd.DataFrame({"id": range(20), "x": rng.random(20), "topic": ["red", "blue"] * 10})
    same = ContinualClassifier("ncm").partial_fit((nodes, None), nodes["topic"].to_numpy(), label_column="topic")
    assert same.history_[-1].remarks == ()
    with pytest.warns(GraphWarning, match="10 nodes have another label in y than in the graph; y is taken"):
        ContinualClassifier("ncm").partial_fit((nodes, None), ["red", "green"] * 10, label_column="topic")


def test_bad_arguments_are_named_as_they_are_called() -> None:
    graph, labels = ring()
    for seed in (None, -1, 2**70, True):
        with pytest.raises(ConfigError, match=r"random_state must be a whole number from 0 to 2\^32 - 1, got"):
            ContinualClassifier(random_state=seed).partial_fit(graph, labels)  # type: ignore[arg-type]
    model = ContinualClassifier("ncm").partial_fit(graph, labels)
    for below in (2, float("nan"), -1, "x"):
        with pytest.raises(ConfigError, match="below must be a probability from 0 to 1"):
            model.answers(graph, below=below)  # type: ignore[arg-type]


def test_a_merge_says_which_classes_both_know() -> None:
    graph, labels = ring()
    model = ContinualClassifier("ncm").partial_fit(graph, labels)
    other = model.sibling().partial_fit((graph[0], graph[1] + 1), labels + 1)
    step = model.merge(other).history_[-1]
    assert (step.new_classes, step.returning_classes) == ((3,), (1, 2))
