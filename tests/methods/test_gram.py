"""Gram matrices: bytes, floats and the plain product have the same bits; a wrong product of bytes is noticed."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evergraph.methods import gram

WAYS = [gram._by_bytes, gram._by_floats]
SIZES = {"PANEL": 7, "LARGE_BLOCK": 16, "BLOCK": 16}


def codes_of(rows: int, width: int, seed: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 128, (rows, width)).astype(np.uint8)


def lower(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    wide = rows.astype(np.int64)
    return np.asarray((wide.T @ wide)[np.tril_indices(rows.shape[1])])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [np.int64, np.float64])
@given(rows=st.integers(0, 40), width=st.integers(1, 40), seed=st.integers(0, 99), sign=st.sampled_from([1, -1]))
def test_both_ways_give_the_plain_product(
    way: Callable[..., Any], kind: type[Any], rows: int, width: int, seed: int, sign: int
) -> None:
    codes = codes_of(rows, width, seed)
    total = np.ones(width * (width + 1) // 2, dtype=kind)
    with pytest.MonkeyPatch.context() as patch:
        for name, size in SIZES.items():
            patch.setattr(gram, name, size)
        gram._add(total, way(codes), sign)
    np.testing.assert_array_equal(sign * (total - 1), lower(codes))


@pytest.mark.parametrize("way", WAYS)
def test_the_largest_entries_in_full_blocks_stay_exact(way: Callable[..., Any]) -> None:
    codes = np.full((gram.LARGE_BLOCK + gram.BLOCK, 3), 127, dtype=np.uint8)
    total = np.zeros(6, dtype=np.int64)
    gram._add(total, way(codes), 1)
    np.testing.assert_array_equal(total, lower(codes))


@pytest.mark.parametrize("faster", [True, False])
def test_every_map_has_its_own_sum(faster: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "_bytes_are_faster", lambda: faster)
    codes = np.stack([codes_of(30, gram.PANEL + 5, seed) for seed in range(3)])
    totals = [np.zeros(gram.ends(gram.PANEL + 5)[-1], dtype=np.int64) for _ in codes]
    gram.add_grams(totals, codes)
    for total, rows in zip(totals, codes, strict=True):
        np.testing.assert_array_equal(total, lower(rows))


def test_a_wrong_product_of_bytes_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    right = gram._product_of_bytes

    def wrong(*factors: Any) -> NDArray[np.int32]:
        product = right(*factors)
        product[0, 0] += 1
        return product

    monkeypatch.setattr(gram, "_product_of_bytes", wrong)
    codes, total = codes_of(20, 12, 0), np.zeros(78, dtype=np.int64)
    gram._add(total, gram._by_bytes(codes), 1)
    np.testing.assert_array_equal(total, lower(codes))


@pytest.mark.parametrize("way", [gram._class_sums_by_bytes, gram._class_sums_by_floats])
@given(rows=st.integers(0, 40), classes=st.integers(1, 20), seed=st.integers(0, 99), most=st.sampled_from([5, 50]))
def test_class_sums_are_the_plain_ones(
    way: Callable[..., Any], rows: int, classes: int, seed: int, most: int
) -> None:
    codes, labels = codes_of(rows, 12, seed), np.random.default_rng(seed).integers(0, classes, rows)
    wanted, total = np.zeros((classes, 12), dtype=np.int64), np.zeros((classes, 12), dtype=np.int64)
    np.add.at(wanted, labels, codes)
    with pytest.MonkeyPatch.context() as patch:
        for name, size in {**SIZES, "MOST_CLASSES": most}.items():
            patch.setattr(gram, name, size)
        for present, sums in way(codes, labels):
            total[present] += sums.astype(np.int64)
    np.testing.assert_array_equal(total, wanted)


@pytest.mark.parametrize("faster", [True, False])
def test_every_map_has_class_sums_of_its_own(faster: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "_bytes_are_faster", lambda: faster)
    codes, labels = np.stack([codes_of(30, gram.PANEL, seed) for seed in range(3)]), np.arange(30) % 4
    totals = np.zeros((3, 4, gram.PANEL), dtype=np.int64)
    gram.add_class_sums(totals, codes, labels)
    np.testing.assert_array_equal(totals, [[rows[c::4].sum(0, dtype=int) for c in range(4)] for rows in codes])


def test_a_wrong_class_sum_of_bytes_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    right = gram._product_of_bytes
    monkeypatch.setattr(gram, "_product_of_bytes", lambda *factors: right(*factors) + 1)
    codes, labels = codes_of(20, 12, 0), np.arange(20) % 2
    ((_, sums),) = gram._class_sums_by_bytes(codes, labels)
    np.testing.assert_array_equal(sums, [codes[c::2].sum(0, dtype=int) for c in range(2)])


def test_the_first_sums_of_a_process_do_not_wait_for_themselves() -> None:
    script = (
        "import numpy as np; from evergraph.methods import gram;"
        "gram.add_class_sums(np.zeros((1, 2, 256), int), np.ones((1, 2, 256), np.uint8), np.arange(2));"
        "gram.add_grams([np.zeros(gram.ends(256)[-1], int)], np.ones((1, 2, 256), np.uint8))"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


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


def test_what_waits_for_a_busy_processor_is_not_slower() -> None:
    def works() -> None:
        np.linalg.norm(np.ones((400, 400)), 2)

    def waits() -> None:
        time.sleep(0.05)

    waited, worked = gram._seconds([waits, works])
    assert waited < worked
