"""A budget of memory and what follows from it."""

import pytest

from evergraph.data.convert import Plan, parse_memory
from evergraph.errors import ConfigError
from evergraph.tables.reading import CHUNK


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2 * 10**9), ("1.5 gb", 15 * 10**8), ("500MB", 5 * 10**8), ("1GiB", 2**30), ("64M", 64 * 10**6)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1GB", "2 G B", "1e9", "inf"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ConfigError, match="must be a size such as 2GB or 500MB, got"):
        parse_memory(text)


def test_more_memory_lets_more_be_done_together() -> None:
    small, large = Plan.of(10**8), Plan.of(10**10)
    assert small.sort < large.sort
    assert small.lookup < large.lookup
    assert small.table_rows(1000) < large.table_rows(1000) <= CHUNK == large.table_rows(1)
    assert Plan.of(10**8).write_rows(10**9) == 1
    with pytest.raises(ConfigError, match="--memory must be at least 50 MB"):
        Plan.of(10**6)
