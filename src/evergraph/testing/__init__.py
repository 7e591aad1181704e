"""The contract tests that every method, backbone, score and data set passes, ours and other people's.

In the tests of a package with a method of its own (pytest is needed):

    import pytest
    from evergraph.testing import MethodContract

    @pytest.mark.parametrize("name", ["my-method"])
    class TestMyMethod(MethodContract):
        pass

The name must be in its table: by an entry point of the installed package, or through `evergraph.load_plugin`.
"""

import pytest

for _module in ("methods", "backbones", "scores", "datasets", "samples"):
    pytest.register_assert_rewrite(f"evergraph.testing.{_module}")  # so that a failure shows the values compared

from evergraph.testing.backbones import BackboneContract  # noqa: E402
from evergraph.testing.datasets import DatasetContract  # noqa: E402
from evergraph.testing.methods import MethodContract  # noqa: E402
from evergraph.testing.scores import ScoreContract  # noqa: E402

__all__ = ["BackboneContract", "DatasetContract", "MethodContract", "ScoreContract"]
