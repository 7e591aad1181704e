"""Remarks on what is allowed and seldom meant."""

import numpy as np
from scipy import sparse

from evergraph import ContinualClassifier
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
