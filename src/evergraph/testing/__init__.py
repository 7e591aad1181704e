"""Contract tests for every method, backbone, score and data set, built-in or custom.

In the tests of a package with a custom method (pytest is needed):

    import pytest
    from evergraph.testing import MethodContract

    @pytest.mark.parametrize("name", ["my-method"])
    class TestMyMethod(MethodContract):
        pass

The name must be registered: by an entry point of the installed package, or by `evergraph.load_plugin`.
"""

import pytest

for _module in ("methods", "backbones", "scores", "datasets", "samples"):
    pytest.register_assert_rewrite(f"evergraph.testing.{_module}")  # a failure shows the compared values

from evergraph.testing.backbones import BackboneContract  # noqa: E402
from evergraph.testing.datasets import DatasetContract  # noqa: E402
from evergraph.testing.methods import MethodContract  # noqa: E402
from evergraph.testing.scores import ScoreContract  # noqa: E402

__all__ = ["BackboneContract", "DatasetContract", "MethodContract", "ScoreContract"]
