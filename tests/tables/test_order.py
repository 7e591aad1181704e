"""Columns on disk: their medians and sums are those of the same columns in memory."""

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evergraph.tables.number_column import NumberColumn
from evergraph.tables.order import blocks, median
from evergraph.tables.spill import Spill


@settings(max_examples=200, deadline=None)
@given(
    numbers=arrays(
        np.float64, st.integers(1, 40), elements=st.one_of(st.floats(0, 1e300), st.sampled_from([0, 2.5]))
    ),
    size=st.integers(1, 9),
    block=st.integers(0, 9),
)
def test_the_median_is_that_of_numpy(numbers: np.ndarray, size: int, block: int) -> None:
    with patch("evergraph.tables.order.BLOCK", block):
        assert median(lambda: blocks(numbers, size)) == np.median(numbers)


@settings(max_examples=100, deadline=None)
@given(
    numbers=arrays(
        np.float64, st.integers(2, 40), elements=st.one_of(st.floats(-1e30, 1e30), st.just(float("nan")))
    ),
    size=st.integers(1, 50),
    scaled=st.booleans(),
)
def test_a_column_on_disk_is_the_same_number(numbers: np.ndarray, size: int, scaled: bool) -> None:
    numbers[0] = 1.0  # one at least is present
    with tempfile.TemporaryDirectory() as name, patch("evergraph.tables.order.BLOCK", size):
        spill = Spill(Path(name) / "numbers", np.float64)
        spill.append(numbers[:1])
        spill.append(numbers[1:])
        on_disk = NumberColumn.fit("x", spill, gaps=True, scaled=scaled)
        in_memory = NumberColumn.fit("x", numbers, gaps=True, scaled=scaled)
    assert on_disk == in_memory.model_copy(update={"quantiles": None})
    present = numbers[~np.isnan(numbers)]
    if on_disk.unit is None:
        assert on_disk.mean == pytest.approx(present.mean(), rel=1e-9, abs=1e-9 * np.abs(present).max())


def test_a_spill_is_read_and_written_in_parts(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "spill", np.int64)
    assert spill[0:5].tolist() == []
    spill.append(np.arange(5))
    spill.append(np.arange(3))
    spill.put(1, np.array([7, 8]))
    assert len(spill) == 8
    assert spill[0:4].tolist() == [0, 7, 8, 3]
    assert spill[6:99].tolist() == [1, 2]
    with pytest.raises(FileExistsError):
        Spill(tmp_path / "spill", np.int64)
    spill.remove()
    assert not list(tmp_path.iterdir())
