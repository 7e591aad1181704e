"""Remarks on what is allowed and seldom meant."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from evergraph import ContinualClassifier
from evergraph.errors import GraphWarning
from evergraph.estimator.doubts import LENGTHS_UNSEEN
from helpers import tiny_graph

from .growing import FAST, noisy


def test_what_is_allowed_and_seldom_meant_is_remarked_on() -> None:
    graph = tiny_graph((40, 40))
    pair = (graph.adjacency, graph.features)
    model = ContinualClassifier(**FAST).partial_fit(pair, np.arange(80) // 2)
    assert "is this the column of labels?" in model.history_[-1].remarks[-1]
    assert "taken as new ones" in model.partial_fit(pair, np.arange(80) // 2).history_[-1].remarks[-1]
    lonely = (sparse.csr_array((80, 80)), graph.features)
    assert "no edges were given" in model.answers(lonely).remarks[-1]
    assert not any("no edges" in remark for remark in model.answers(pair).remarks)


def test_edges_unlike_those_learned_are_remarked_on() -> None:
    adjacency, features = noisy()
    weighted = sparse.csr_array(adjacency * 3.0)
    labels = ["a", "b"] * 30
    model = ContinualClassifier(**FAST).partial_fit((weighted, features), labels, weighted=True)
    assert model.answers((weighted, features), weighted=True).remarks == ()
    assert "these edges have no weights, though the model has learned with weights" in (
        model.answers((adjacency, features)).remarks
    )
    model = ContinualClassifier(**FAST).partial_fit((adjacency, features), labels, directed=True)
    assert "these edges have no directions, though the model has learned with them" in (
        model.answers((adjacency, features)).remarks
    )
    model = ContinualClassifier(**FAST).partial_fit((adjacency, features), labels)
    assert "these edges have directions, though the model has learned without them" in (
        model.answers((adjacency, features), directed=True).remarks
    )


def test_numbers_that_are_seen_by_their_direction_alone_are_remarked_on_once() -> None:
    adjacency, features = noisy()
    labels = ["a", "b"] * 30
    model = ContinualClassifier(**FAST)
    with pytest.warns(
        GraphWarning, match=r"seen by their direction alone, not by their length; .* add a column of ones"
    ):
        model.partial_fit((adjacency, features), labels)
    assert LENGTHS_UNSEEN in model.history_[0].remarks
    assert LENGTHS_UNSEEN not in model.answers((adjacency, features)).remarks
    network: dict[str, Any] = {"method": "finetune", "epochs": 1, "settings": {"stream": {"preprocessing": "none"}}}
    assert (
        LENGTHS_UNSEEN
        not in ContinualClassifier(**network).partial_fit((adjacency, features), labels).history_[0].remarks
    )


@pytest.mark.parametrize(("column", "seen"), [(False, False), (True, True)])
def test_a_column_of_ones_shows_lengths(column: bool, seen: bool) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(90) % 3
    size = (10.0**labels * rng.uniform(0.9, 1.1, 90))[:, None].astype(np.float32)
    features = np.hstack([size, np.ones_like(size)]) if column else size
    model = ContinualClassifier(**{**FAST, "method": "slda"}).partial_fit(
        (sparse.csr_array((90, 90)), features), labels
    )
    right = float((model.predict((sparse.csr_array((90, 90)), features)) == labels).mean())
    assert (right > 0.9) == seen
