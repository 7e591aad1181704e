"""fit, predict, save, load on one's own growing graph."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse

from evergraph import ContinualClassifier, load_dataset
from evergraph.errors import ConfigError, DataError, StoreError
from evergraph.estimator.classifier import from_pyg
from evergraph.watch import Watch

Piece = tuple[sparse.csr_array, NDArray[np.float32], NDArray[np.int64]]
SETTINGS = {"method": {"name": "ftf-er-prob", "budget": 10}, "train": {"epochs": 30}}


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
    settings = {"method": {"name": method}, "train": {"epochs": 5}}
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


def test_a_loaded_classifier_goes_on_like_the_saved_one(tmp_path: Path) -> None:
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
    with pytest.raises(ConfigError, match="joint"):
        ContinualClassifier(method={"name": "joint"})
    with pytest.raises(StoreError, match="saved classifier"):
        ContinualClassifier.load(tmp_path)


def test_takes_the_data_of_torch_geometric() -> None:
    data = SimpleNamespace(
        num_nodes=3,
        edge_index=torch.tensor([[0, 1, 1], [1, 0, 2]]),
        x=torch.eye(3),
        y=torch.tensor([5, 6, 7]),
        train_mask=torch.tensor([True, True, False]),
    )
    adjacency, features, labels = from_pyg(data)
    np.testing.assert_array_equal(adjacency.toarray(), [[0, 1, 0], [1, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(features, np.eye(3))
    assert labels.tolist() == [5, 6, -1]
