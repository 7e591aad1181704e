"""What the tests of classifiers share."""

import pytest

from evergraph import ContinualClassifier

from .growing import FAST, months


@pytest.fixture(scope="module")
def grown() -> ContinualClassifier:
    model = ContinualClassifier(**FAST)
    for part in months():
        model.partial_fit(part)
    return model
