"""What workers share at an address: written in parts, read as one array, gone with the one that made it."""

import gc
import pickle
from collections.abc import Iterator

import fsspec
import numpy as np
import pytest

from evergraph.data.on_disk.shared import StoredArray, forget_brought, shared_array
from evergraph.errors import ConfigError, StoreError


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    """fsspec's memory, with nothing left in it."""
    system = fsspec.filesystem("memory")
    yield system
    forget_brought()
    assert system.find("/scratch") == []


def made(values: np.ndarray, starts: list[int]) -> StoredArray:
    """An array of rows, written in parts as workers do."""
    array = shared_array("memory://scratch/", values.shape)
    assert isinstance(array, StoredArray)
    for first, last in zip(starts, [*starts[1:], len(values)], strict=True):
        pickle.loads(pickle.dumps(array)).write(first, values[first:last])
    array.written(starts)
    return array


def test_rows_are_those_of_all_parts(memory: fsspec.AbstractFileSystem) -> None:
    values = np.arange(60, dtype=np.float32).reshape(12, 5)
    array = made(values, [0, 5, 11])
    for one in (array, pickle.loads(pickle.dumps(array))):
        np.testing.assert_array_equal(one[2:12], values[2:12])
        np.testing.assert_array_equal(one[np.array([11, 0, 5])], values[[11, 0, 5]])
        assert len(one) == 12
    assert len(memory.find("/scratch")) == 3
    del array, one
    gc.collect()


@pytest.mark.parametrize("content", [b"", b"1234" * 24, b"1234" * 26, b"1234" * 99])
def test_a_part_of_another_size_is_refused(memory: fsspec.AbstractFileSystem, content: bytes) -> None:
    array = made(np.zeros((12, 5), dtype=np.float32), [0, 5, 10])
    (path,) = [path for path in memory.find("/scratch") if path.endswith("/5")]
    memory.pipe_file(path, content)
    with pytest.raises(StoreError, match="/5 must have 100 bytes, got others"):
        array[0:1]
    del array
    gc.collect()


def test_what_cannot_be_written_is_said_in_one_sentence() -> None:
    with pytest.raises(StoreError, match=r"cannot be written: .*; choose another address"):
        StoredArray("http://127.0.0.1:9/x", (1, 1)).write(0, np.zeros((1, 1), dtype=np.float32))
    with pytest.raises(ConfigError, match="without password"):
        StoredArray("ftp://ann:geheim@host/x", (1, 1)).write(0, np.zeros((1, 1), dtype=np.float32))
