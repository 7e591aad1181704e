"""A budget of memory and what follows from it."""

import pytest

from evergraph.data.convert import Plan
from evergraph.errors import ConfigError
from evergraph.tables.reading import CHUNK


def test_more_memory_lets_more_be_done_together() -> None:
    small, large = Plan.of(10**8), Plan.of(10**10)
    assert small.sort < large.sort
    assert small.lookup < large.lookup
    assert small.table_rows(1000) < large.table_rows(1000) <= CHUNK == large.table_rows(1)
    assert Plan.of(10**8).write_rows(10**9) == 1
    with pytest.raises(ConfigError, match="--memory must be at least 50 MB"):
        Plan.of(10**6)
