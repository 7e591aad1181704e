"""Broken archives: each is answered with one sentence that names the file."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from evergraph.data.datasets import load_dataset
from evergraph.errors import DataError

from .layouts import N, shchur_arrays

Break = Callable[[dict[str, Any]], None]


def without(key: str) -> Break:
    return lambda arrays: arrays.pop(key)


def having(**changes: Any) -> Break:
    return lambda arrays: arrays.update(changes)


BROKEN: dict[str, tuple[Break, str]] = {
    "no adjacency": (without("adj_data"), "none called 'adj_data'"),
    "no labels": (without("labels"), "none called 'labels'"),
    "half of the features": (without("attr_indptr"), "none called 'attr_indptr'"),
    "column too large": (having(adj_indices=np.full(N, N)), "valid CSR matrix"),
    "negative column": (having(adj_indices=np.full(N, -1)), "valid CSR matrix"),
    "short indptr": (having(adj_indptr=np.arange(N)), "valid CSR matrix"),
    "indptr past the end": (having(adj_indptr=np.arange(N + 1) * 2), "valid CSR matrix"),
    "fractional columns": (having(adj_indices=np.arange(N) / 2), "adj_indices must be one row of whole numbers"),
    "shape of three": (having(adj_shape=np.array([N, N, N])), "adj_shape must be two whole numbers"),
    "text as weights": (having(adj_data=np.array(["x"] * N)), "adj_data must be numbers"),
    "negative weight": (having(adj_data=-np.ones(N)), "finite and not negative"),
    "a wide adjacency": (having(adj_shape=np.array([N, N + 1])), "must be square"),
    "NaN feature": (having(attr_matrix=np.full((N, 2), np.nan)), "every feature must be finite"),
    "too few feature rows": (having(attr_matrix=np.ones((N - 1, 2))), "one row for each of the 12 nodes"),
    "negative label": (having(labels=np.full(N, -1)), "labels must not be negative"),
    "missing label": (having(labels=np.full(N, np.nan)), "every node needs a label"),
    "too few labels": (having(labels=np.zeros(N - 1)), "one label for each of the 12 nodes"),
    "pickled labels": (having(labels=np.array([None] * N, dtype=object)), "got pickled objects instead"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_archive_is_one_sentence(case: str, tmp_path: Path) -> None:
    damage, words = BROKEN[case]
    arrays = shchur_arrays()
    damage(arrays)
    np.savez(tmp_path / "mine.npz", allow_pickle=True, **arrays)
    with pytest.raises(DataError, match=words) as caught:
        load_dataset(str(tmp_path / "mine.npz"))
    message = str(caught.value)
    assert message.startswith("mine.npz")
    assert "got" in message
    assert "\n" not in message


def test_a_truncated_archive_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez(path, allow_pickle=False, **shchur_arrays())
    whole = path.read_bytes()
    for size in (0, 3, len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"mine.npz must .* instead"):
            load_dataset(str(path))


def test_flipped_bytes_are_found(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez_compressed(path, allow_pickle=False, **shchur_arrays())
    with ZipFile(path) as archive:  # not the first array: before numpy 2 allow_pickle becomes one
        start = archive.getinfo("adj_data.npy").header_offset + 60
    damaged = bytearray(path.read_bytes())
    damaged[start : start + 60] = bytes(255 - value for value in damaged[start : start + 60])
    path.write_bytes(damaged)
    with pytest.raises(DataError, match="got a broken one instead"):
        load_dataset(str(path))


def test_a_pickle_or_a_single_array_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    path.write_bytes(pickle.dumps({"labels": [1, 2]}))
    with pytest.raises(DataError, match="got pickled objects instead"):
        load_dataset(str(path))
    with path.open("wb") as stream:
        np.save(stream, np.arange(3))
    with pytest.raises(DataError, match="got a single array"):
        load_dataset(str(path))
