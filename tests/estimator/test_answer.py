"""Answers: unknown where a node is unlike what was learned, and not mixed up with a class of that name."""

import numpy as np
import pytest

from evergraph import ContinualClassifier
from evergraph.errors import ConfigError, DataError
from helpers import tiny_graph

from .growing import FAST, GRAPH, batch, noisy


def test_nodes_of_a_class_that_was_never_learned_are_unknown() -> None:
    model = ContinualClassifier(reject=0.1, holdout=0.3, **FAST).partial_fit(
        batch(np.flatnonzero(GRAPH.labels < 8))
    )
    unlike = np.flatnonzero(GRAPH.labels >= 8)
    known = model.predict(batch(np.flatnonzero(GRAPH.labels < 8)))
    strange = model.predict(batch(unlike))
    assert (known == "unknown").mean() < 0.3
    assert (strange == "unknown").mean() > (known == "unknown").mean() + 0.2
    rejection = model.partial_fit(batch(unlike)).history_[-1].rejection
    assert rejection is not None
    assert rejection.novel_share is not None
    assert rejection.novel_share > 0.2
    assert 0 < rejection.share < 0.2
    assert rejection.accuracy > 0.9


def test_numbers_get_minus_one_for_unknown() -> None:
    graph = tiny_graph((20, 20))
    model = ContinualClassifier(reject_below=1.0, **FAST).partial_fit(
        (graph.adjacency, graph.features), graph.labels
    )
    assert set(model.predict((graph.adjacency, graph.features)).tolist()) == {-1}


def test_a_class_called_unknown_cannot_be_told_from_no_answer() -> None:
    graph = tiny_graph((20, 20))
    model = ContinualClassifier(reject_below=0.5, **FAST)
    with pytest.raises(DataError, match="rename the class"):
        model.partial_fit((graph.adjacency, graph.features), ["unknown", "known"] * 20)


def test_a_class_called_unknown_is_not_mixed_up_with_no_answer() -> None:
    model = ContinualClassifier(**FAST).partial_fit(noisy(), ["unknown", "b"] * 30)
    assert not model.answers(noisy()).unknown.any()
    with pytest.raises(ConfigError, match="cannot be told from no answer"):
        model.answers(noisy(), 0.9)
