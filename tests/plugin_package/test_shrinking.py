"""The second package's own tests: the contracts of evergraph."""

import pytest

from evergraph.testing import BackboneContract, DatasetContract, MethodContract, ScoreContract


@pytest.mark.parametrize("name", ["shrink"])
class TestMethod(MethodContract):
    pass


@pytest.mark.parametrize("name", ["mlp"])
class TestBackbone(BackboneContract):
    pass


@pytest.mark.parametrize("name", ["label-rank"])
class TestScore(ScoreContract):
    pass


@pytest.mark.parametrize("name", ["rings"])
class TestDataset(DatasetContract):
    pass
