"""Sums: any order, any batching, forgetting and merging give the same bits; they equal the dense formulas."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evergraph.errors import DataError
from evergraph.methods.hop_features import TOP, Codes
from evergraph.methods.statistics import ClassStatistics, Precision
from helpers import assert_same_bits

WIDTH = 7
Rows = tuple[Codes, NDArray[np.int64]]


def rows(seed: int, count: int = 40, classes: int = 4) -> Rows:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, TOP + 1, (2, count, WIDTH), dtype=np.uint8)
    return codes, rng.integers(0, classes, count)


def summed(*batches: Rows, precision: Precision = Precision.EXACT) -> ClassStatistics:
    statistics = ClassStatistics(2, WIDTH, precision=precision)
    for codes, labels in batches:
        statistics.add([(codes, labels)])
    return statistics


def part(given: Rows, chosen: NDArray[np.int64]) -> Rows:
    return given[0][:, chosen], given[1][chosen]


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(1, 8))
def test_any_order_and_any_batching_give_the_same_bits(seed: int, pieces: int) -> None:
    given = rows(seed)
    order = np.random.default_rng(seed).permutation(40)
    batches = [part(given, piece) for piece in np.array_split(order, pieces)]
    whole, other = summed(given), summed(*batches)
    other.widen(4)
    whole.widen(4)
    assert_same_bits(whole.state(), other.state())


def test_they_are_the_dense_sums() -> None:
    codes, labels = rows(1)
    statistics = summed((codes, labels))
    dense = codes.astype(np.float64)
    for index in (0, 1):
        means = np.stack([dense[index, labels == label].mean(axis=0) for label in range(4)])
        off = dense[index] - means[labels]
        np.testing.assert_allclose(statistics.gram(index), dense[index].T @ dense[index], rtol=1e-12)
        np.testing.assert_allclose(statistics.means(index), means, rtol=1e-12)
        np.testing.assert_allclose(statistics.scatter(index), off.T @ off / 40, rtol=1e-8)
        np.testing.assert_allclose(statistics.scatter(index, 3), (off.T @ off / 40)[:3, :3], rtol=1e-8)


def test_products_of_many_large_rows_are_exact() -> None:
    codes = np.full((2, 3000, WIDTH), TOP, dtype=np.uint8)
    codes[:, ::7, 0] = TOP - 1
    exact = codes[0].astype(np.int64).T @ codes[0].astype(np.int64)
    assert np.array_equal(summed((codes, np.zeros(3000, dtype=np.int64))).gram(0).round().astype(np.int64), exact)


def test_what_was_forgotten_was_never_seen() -> None:
    kept, gone = rows(1), rows(2)
    statistics = summed(kept, gone)
    statistics.forget([gone])
    assert_same_bits(statistics.state(), summed(kept).state())


@pytest.mark.parametrize("precision", list(Precision))
def test_rows_in_blocks_are_rounded_once(precision: Precision) -> None:
    blocks = [rows(1, classes=2), rows(2), (np.zeros((2, 0, WIDTH), dtype=np.uint8), np.zeros(0, dtype=np.int64))]
    whole = np.concatenate([codes for codes, _ in blocks], axis=1), np.concatenate([at for _, at in blocks])
    statistics = ClassStatistics(2, WIDTH, precision=precision)
    statistics.add(iter(blocks))
    assert_same_bits(statistics.state(), summed(whole, precision=precision).state())


def test_a_fault_between_blocks_leaves_the_sums() -> None:
    def broken() -> Iterator[Rows]:
        yield rows(2)
        raise KeyError

    statistics = summed(rows(1))
    with pytest.raises(KeyError):
        statistics.add(broken())
    assert_same_bits(statistics.state(), summed(rows(1)).state())


def test_two_that_merge_saw_everything() -> None:
    one, more = rows(1, classes=2), rows(2)
    for first, second in ((one, more), (more, one)):
        merged = summed(first)
        merged.merge(summed(second))
        assert_same_bits(merged.state(), summed(one, more).state())


def test_sums_beyond_32_bits_are_kept_in_64() -> None:
    statistics = summed(rows(1))
    for _ in range(14):
        twice = ClassStatistics(2, WIDTH)
        twice.load_state(statistics.state())
        statistics.merge(twice)
    gram = statistics.state()["statistics.gram"].numpy()
    assert gram.dtype == np.int64
    assert gram.max() > np.iinfo(np.int32).max


def test_sixteen_bits_keep_the_scatter_nearly() -> None:
    batches = [rows(seed) for seed in range(3)]
    exact, rough = (summed(*batches, precision=kind) for kind in (Precision.EXACT, Precision.INT16))
    for index in (0, 1):
        scale = np.sqrt(np.diagonal(exact.scatter(index)))
        off = np.abs(rough.scatter(index) - exact.scatter(index)) / scale[:, None] / scale
        assert 0 < off.max() < 1e-4


@pytest.mark.parametrize("precision", list(Precision))
def test_the_state_is_whole_and_its_bytes_are_counted(precision: Precision) -> None:
    statistics = summed(rows(1), precision=precision)
    again = ClassStatistics(2, WIDTH, precision=precision)
    again.load_state(statistics.state())
    assert_same_bits(again.state(), statistics.state())
    assert statistics.memory().bytes == sum(value.numpy().nbytes for value in statistics.state().values())


def test_only_rows_that_were_learned_can_be_forgotten() -> None:
    statistics = summed(rows(1))
    with pytest.raises(DataError, match=r"got 1 of class 4, which has 0"):
        statistics.forget([(np.zeros((2, 1, WIDTH), dtype=np.uint8), np.array([4]))])


def test_statistics_of_other_maps_do_not_merge() -> None:
    with pytest.raises(DataError, match=r"\(2, 7, .exact.\) are wanted, got \(1, 7, .exact.\)"):
        summed(rows(1)).merge(ClassStatistics(1, WIDTH))


def test_moved_classes_merge_as_those_of_the_other() -> None:
    codes, labels = rows(1)
    places = np.array([2, 0, 1, 4, 3])[: labels.max() + 1]
    mine, other, wanted = (ClassStatistics(2, WIDTH) for _ in range(3))
    mine.add([(codes, labels)])
    other.add([(codes, labels)])
    before = other.state()
    mine.merge(other.moved(places))
    wanted.add([(codes, labels)])
    wanted.add([(codes, places[labels])])
    assert_same_bits(mine.state(), wanted.state())
    assert_same_bits(other.state(), before)


@pytest.mark.parametrize("width", [None, 3])
def test_the_moment_is_made_of_scatter_and_means(width: int | None) -> None:
    statistics = summed(rows(2))
    means = statistics.means(1, width)
    dense = 3 * statistics.scatter(1, width) + means.T @ means
    np.testing.assert_allclose(np.tril(statistics.moment(1, 3, width)), np.tril(dense), rtol=1e-10)
