"""Pages say what benchmarks/measured says."""

import copy
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import write_tables  # noqa: E402
from benchmarks.write_tables import TABLES, measured, rendered  # noqa: E402


def page(name: str) -> str:
    return (ROOT / TABLES[name].page).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TABLES)
def test_the_page_agrees_with_what_was_measured(name: str) -> None:
    text = page(name)
    assert text.count(f"<!-- measured {name} -->\n") == text.count(f"<!-- end of {name} -->") == 1
    assert rendered(text) == text, "run python benchmarks/write_tables.py"


def test_nothing_is_measured_that_no_page_shows() -> None:
    assert {path.stem for path in write_tables.MEASURED.iterdir()} == set(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_a_change_in_a_table_is_undone(name: str) -> None:
    text = page(name)
    row = next(line for line in TABLES[name].text(measured(name)).splitlines()[2:] if line.startswith("|"))
    assert text.count(row) == 1
    assert rendered(text.replace(row, row.replace(".", ","))) == text


def lower(values: Any) -> Any:
    """The same with other fractions; whole numbers stay."""
    if isinstance(values, dict):
        return {key: lower(value) for key, value in values.items()}
    if isinstance(values, list):
        return [lower(value) for value in values]
    return values * 0.7 if isinstance(values, float) else values


@pytest.mark.parametrize("name", TABLES)
def test_other_measurements_make_other_rows(name: str) -> None:
    found = measured(name)
    before, after = (set(TABLES[name].text(one).splitlines()[2:]) for one in (found, lower(copy.deepcopy(found))))
    assert before
    assert before & after == set()
