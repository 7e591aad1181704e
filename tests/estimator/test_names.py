"""Names of classes: one label in any spelling, and what is not mixed."""

from typing import Any

import numpy as np
import pytest
import torch

from evergraph import ContinualClassifier
from evergraph.errors import DataError

from .growing import FAST, noisy


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (["3", "7"], [3, 7]),
        ([3, 7], ["3", "7"]),
        (["3", "7"], ["3.0", "7.0"]),
        (["True", "False"], [True, False]),
        ([True, False], ["True", "False"]),
    ],
)
def test_one_label_written_in_two_ways_is_one_class(first: list[Any], later: list[Any]) -> None:
    pair = noisy()
    model = ContinualClassifier(**FAST).partial_fit(pair, first * 30, ids=np.arange(60))
    right = model.score(pair, first * 30)
    assert model.score(pair, later * 30) == right
    model.partial_fit(pair, later * 30, ids=np.arange(100, 160))
    assert model.classes_.tolist() == sorted(first)


def test_new_classes_are_numbers_where_all_classes_are() -> None:
    pair = noisy()
    model = ContinualClassifier(**FAST).partial_fit(pair, [0, 1] * 30, ids=np.arange(60))
    model.partial_fit(pair, ["0", "2.0"] * 30, ids=np.arange(100, 160))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict(pair).dtype.kind == "i"
    with pytest.raises(DataError, match="labels must be whole numbers as in the first batch, got '007' instead"):
        model.partial_fit(pair, ["0", "007"] * 30, ids=np.arange(200, 260))


def test_one_batch_with_two_ways_to_write_a_label_has_one_class() -> None:
    labels = ["1", "1.0", "other"] * 20
    model = ContinualClassifier(**FAST).partial_fit(noisy(), labels)
    assert model.classes_.tolist() == ["1", "other"]


@pytest.mark.parametrize(("first", "later"), [([0, 1], [True, False]), ([True, False], [0, 2]), ([0, True], None)])
def test_numbers_and_truth_values_are_not_mixed(first: list[Any], later: list[Any] | None) -> None:
    model = ContinualClassifier(**FAST)
    if later is not None:
        model.partial_fit(noisy(), first * 30, ids=np.arange(60))
    with pytest.raises(DataError, match="labels must be"):
        model.partial_fit(noisy(), (later or first) * 30, ids=np.arange(100, 160))


def test_labels_may_be_a_tensor() -> None:
    pair, labels = noisy(), torch.tensor([0, 1] * 30)
    model = ContinualClassifier(**FAST).partial_fit(pair, labels)
    assert model.score(pair, labels) == model.score(pair, labels.tolist())
    assert model.spelled(labels).tolist() == labels.tolist()
