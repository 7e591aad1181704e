"""The budget of memory: sizes as text, what holds inside and afterwards."""

from pathlib import Path

import pytest

from evergraph.budget import LEAST, current_budget, free_memory, memory_budget, parse_memory
from evergraph.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2 * 10**9), ("500 MB", 5 * 10**8), ("1.5GiB", 3 * 2**29), ("64kib", 2**16), ("7", 7)]
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "much", "2 PB", "-1GB", "1e9"])
def test_other_text_is_one_sentence(text: str) -> None:
    with pytest.raises(ConfigError, match="must be a size such as 2GB or 500MB"):
        parse_memory(text)


def test_a_budget_holds_inside_only(tmp_path: Path) -> None:
    assert not current_budget().given
    with memory_budget(10**9, tmp_path) as outer:
        assert current_budget() == outer
        with memory_budget(2 * 10**9):
            assert (current_budget().memory, current_budget().scratch) == (2 * 10**9, tmp_path)
        with memory_budget(None):
            assert current_budget() == outer
    assert not current_budget().given


def test_without_one_it_is_half_of_what_is_free() -> None:
    assert 0 < current_budget().memory <= free_memory()


def test_too_little_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 50 MB"), memory_budget(LEAST - 1):
        pass
