"""Gram matrices: bytes, floats and the plain product have the same bits; a wrong product of bytes is noticed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evergraph.methods import gram

WAYS = [gram._add_by_bytes, gram._add_by_floats]


def codes_of(rows: int, width: int, seed: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 128, (rows, width)).astype(np.uint8)


def lower(rows: NDArray[np.uint8]) -> NDArray[np.float64]:
    wide = rows.astype(np.float64)
    return np.asarray(np.tril(wide.T @ wide))


@pytest.mark.parametrize("way", WAYS)
@given(rows=st.integers(0, 40), width=st.integers(1, 40), seed=st.integers(0, 99))
def test_both_ways_give_the_plain_product(way: Callable[..., None], rows: int, width: int, seed: int) -> None:
    codes = codes_of(rows, width, seed)
    total = np.ones((width, width))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gram, "PANEL", 7)
        patch.setattr(gram, "LARGE_BLOCK", 16)
        patch.setattr(gram, "BLOCK", 16)
        way(total, codes)
    np.testing.assert_array_equal(np.tril(total - 1), lower(codes))


@pytest.mark.parametrize("way", WAYS)
def test_the_largest_entries_in_full_blocks_stay_exact(way: Callable[..., None]) -> None:
    codes = np.full((gram.LARGE_BLOCK + gram.BLOCK, 3), 127, dtype=np.uint8)
    total = np.zeros((3, 3))
    way(total, codes)
    np.testing.assert_array_equal(np.tril(total), lower(codes))


@pytest.mark.parametrize("faster", [True, False])
def test_every_map_has_its_own_sum(faster: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "_bytes_are_faster", lambda: faster)
    codes = np.stack([codes_of(30, gram.PANEL + 5, seed) for seed in range(3)])
    totals = [np.zeros((gram.PANEL + 5, gram.PANEL + 5)) for _ in codes]
    gram.add_grams(totals, codes)
    for total, rows in zip(totals, codes, strict=True):
        np.testing.assert_array_equal(np.tril(total), lower(rows))


def test_a_wrong_product_of_bytes_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    right = gram._product_of_bytes

    def wrong(*factors: Any) -> NDArray[np.int32]:
        product = right(*factors)
        product[0, 0] += 1
        return product

    monkeypatch.setattr(gram, "_product_of_bytes", wrong)
    codes, total = codes_of(20, 12, 0), np.zeros((12, 12))
    gram._add_by_bytes(total, codes)
    np.testing.assert_array_equal(np.tril(total), lower(codes))


def test_without_the_product_of_bytes_floats_do_it(monkeypatch: pytest.MonkeyPatch) -> None:
    gram._bytes_are_faster.cache_clear()
    monkeypatch.delattr("torch._int_mm")
    assert not gram._bytes_are_faster()
    gram._bytes_are_faster.cache_clear()


def test_a_processor_that_refuses_bytes_gets_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*factors: Any) -> NDArray[np.int32]:
        raise RuntimeError("no such product")

    gram._bytes_are_faster.cache_clear()
    monkeypatch.setattr(gram, "_product_of_bytes", refuses)
    assert not gram._bytes_are_faster()
    gram._bytes_are_faster.cache_clear()
