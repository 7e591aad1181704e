"""Probabilities mean what they say."""

import numpy as np
import pytest

from evergraph import ContinualClassifier
from evergraph.estimator.calibration import fitted_temperature, probabilities
from evergraph.estimator.held_out import Outcome

from .growing import GRAPH, batch


def test_probabilities_are_calibrated(grown: ContinualClassifier) -> None:
    found = grown.predict_proba(batch(np.arange(GRAPH.n_nodes)))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    right = found.argmax(axis=1) == GRAPH.labels
    assert abs(found.max(axis=1).mean() - right.mean()) < 0.08
    assert np.array_equal(grown.classes_[found.argmax(axis=1)], grown.predict(batch(np.arange(GRAPH.n_nodes))))


def test_a_temperature_that_made_the_logits_is_found_again() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(4000, 5))
    labels = np.array([rng.choice(5, p=row) for row in probabilities(logits, 0.3)])
    found = fitted_temperature(Outcome(labels, logits))
    assert found == pytest.approx(0.3, rel=0.1)
    assert fitted_temperature(Outcome(labels[:5], logits[:5])) is None
    sure = fitted_temperature(Outcome(logits.argmax(axis=1)[:100], logits[:100]))
    assert sure is not None
    assert sure > 0.005
