"""What holds for every registered method."""

import pytest

from evergraph.methods import METHODS
from evergraph.testing import MethodContract


@pytest.mark.parametrize("name", list(METHODS))
class TestEveryMethod(MethodContract):
    pass
