"""External sorting against sorting in memory."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evergraph.data.convert.sorting import UNCOUNTED, ExternalSort


@settings(max_examples=150, deadline=None)
@given(
    keys=st.lists(st.integers(-6, 12), max_size=60),
    size=st.integers(1, 12),
    step=st.integers(1, 9),
    uncounted=st.booleans(),
)
def test_every_key_once_in_order(keys: list[int], size: int, step: int, uncounted: bool) -> None:
    given_keys = np.array(keys, dtype=np.int64)
    numbers = np.arange(len(keys))
    weights = (1 + numbers % 3).astype(np.float32)
    with tempfile.TemporaryDirectory() as name:
        sorter = ExternalSort(Path(name), "test", size)
        for start in range(0, len(keys), step):
            place = slice(start, start + step)
            marks = np.where(given_keys[place] < 0, UNCOUNTED, numbers[place]) if uncounted else numbers[place]
            sorter.add(given_keys[place], marks, weights[place])
        parts = list(sorter.merged())
        sorter.remove()
        assert not list(Path(name).iterdir())
    found = np.concatenate([part[0] for part in parts]) if parts else given_keys
    wanted, first = np.unique(given_keys, return_index=True)
    assert found.tolist() == wanted.tolist()
    sums = np.concatenate([part[2] for part in parts]) if parts else weights
    assert sums.tolist() == [weights[given_keys == key].sum() for key in wanted]
    again = sorted(set(range(len(keys))) - set(first.tolist()))
    again = [number for number in again if not uncounted or given_keys[number] >= 0]
    assert sorter.repeated == len(again)
    assert sorter.again == (again[0] if again else -1)
