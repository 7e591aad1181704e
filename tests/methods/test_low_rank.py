"""Low-rank statistics against the whole sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evergraph.errors import ConfigError, DataError
from evergraph.methods.hop_features import Codes
from evergraph.methods.low_rank import LowRankStatistics
from evergraph.methods.statistics import ClassStatistics
from evergraph.runs.config import RunConfig

MAPS, WIDTH, CLASSES = 2, 12, 3


def rows(n: int, seed: int, directions: int = WIDTH) -> tuple[Codes, NDArray[np.int64]]:
    """Rows of three classes that differ within a class along few directions."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, n)
    centres = np.random.default_rng(1).integers(30, 90, (MAPS, CLASSES, WIDTH))
    spread = np.random.default_rng(2).normal(0, 9, (MAPS, directions, WIDTH))
    values = centres[:, labels] + rng.normal(size=(MAPS, n, directions)) @ spread
    return np.clip(np.rint(values), 0, 127).astype(np.uint8), labels


def learned(parts: list[tuple[Codes, NDArray[np.int64]]], rank: int) -> LowRankStatistics:
    statistics = LowRankStatistics(MAPS, WIDTH, rank)
    for codes, labels in parts:
        statistics.add([(codes, labels)])
    return statistics


def whole(parts: list[tuple[Codes, NDArray[np.int64]]]) -> ClassStatistics:
    statistics = ClassStatistics(MAPS, WIDTH)
    for codes, labels in parts:
        statistics.add([(codes, labels)])
    return statistics


def assert_near(low: LowRankStatistics, exact: ClassStatistics, share: float) -> None:
    np.testing.assert_array_equal(low.counts, exact.counts)
    for index in range(MAPS):
        means, scatter = exact.means(index), exact.scatter(index)
        np.testing.assert_allclose(low.means(index), means, rtol=0, atol=share * means.max())
        np.testing.assert_allclose(low.scatter(index), scatter, rtol=0, atol=share * np.abs(scatter).max())


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_with_full_rank_only_rounding_differs(sizes: list[int], seed: int) -> None:
    """Whatever the batches, and though classes come back in each of them."""
    parts = [rows(size, seed + place) for place, size in enumerate(sizes)]
    assert_near(learned(parts, WIDTH), whole(parts), 0.05)


def test_more_rows_than_are_taken_in_at_a_time() -> None:
    parts = [rows(2500, 3)]
    assert_near(learned(parts, WIDTH), whole(parts), 0.03)


def test_few_directions_need_a_low_rank_only() -> None:
    parts = [rows(200, seed, directions=3) for seed in range(4)]
    assert_near(learned(parts, 3), whole(parts), 0.05)
    exact, low = whole(parts).scatter(0), learned(parts, 1).scatter(0)
    assert np.abs(exact - low).max() > 0.1 * np.abs(exact).max()


@given(rank=st.integers(1, WIDTH), seed=st.integers(0, 99))
def test_the_diagonal_is_never_lost(rank: int, seed: int) -> None:
    parts = [rows(50, seed), rows(30, seed + 1)]
    low, exact = learned(parts, rank), whole(parts)
    for index in range(MAPS):
        diagonal = exact.scatter(index).diagonal()
        np.testing.assert_allclose(low.scatter(index).diagonal(), diagonal, rtol=0, atol=0.05 * diagonal.max())


def test_the_first_features_are_a_corner_of_all() -> None:
    low = learned([rows(60, 0)], 4)
    np.testing.assert_array_equal(low.scatter(1, 5), low.scatter(1)[:5, :5])
    np.testing.assert_array_equal(low.means(1, 5), low.means(1)[:, :5])


def test_merged_statistics_are_near_those_of_one_learner() -> None:
    parts = [rows(120, 0), rows(80, 1)]
    one = learned(parts[:1], WIDTH)
    one.merge(learned(parts[1:], WIDTH))
    assert_near(one, whole(parts), 0.05)
    with pytest.raises(DataError, match="low-rank statistics of"):
        one.merge(learned(parts, 3))
    with pytest.raises(DataError, match="low-rank statistics of"):
        one.merge(whole(parts))
    with pytest.raises(DataError, match="got low-rank ones instead"):
        whole(parts).merge(one)


def test_bytes_do_not_grow_with_rows() -> None:
    few, many = learned([rows(60, 0)], 4), learned([rows(60, seed) for seed in range(5)], 4)
    assert few.memory() == many.memory()
    scales = 4 * (4 + CLASSES)
    assert few.memory().bytes == MAPS * ((4 + CLASSES + 4) * WIDTH + scales) + 8 * CLASSES


def test_state_and_back() -> None:
    parts = [rows(60, 0), rows(60, 1)]
    one, two = learned(parts[:1], 4), LowRankStatistics(MAPS, WIDTH, 4)
    two.load_state(one.state())
    one.add([parts[1]])
    two.add([parts[1]])
    for name, value in one.state().items():
        np.testing.assert_array_equal(two.state()[name].numpy(), value.numpy())


def test_rows_cannot_be_taken_out_again() -> None:
    codes, labels = rows(20, 0)
    with pytest.raises(DataError, match=r"method\.rank=0"):
        learned([(codes, labels)], 4).forget([(codes, labels)])


def test_rank_and_precision_exclude_each_other() -> None:
    with pytest.raises(ConfigError, match="set one of them"):
        RunConfig.from_values({"method": {"name": "analytic", "rank": 8, "precision": "int16"}})


def test_moved_classes_have_their_means_elsewhere() -> None:
    low = learned([rows(60, 0)], 4)
    moved = low.moved(np.array([1, 3, 0]))
    assert moved.counts.tolist() == [low.counts[2], low.counts[0], 0, low.counts[1]]
    np.testing.assert_array_equal(moved.means(1)[[1, 3, 0]], low.means(1))
    np.testing.assert_array_equal(moved.scatter(1), low.scatter(1))
