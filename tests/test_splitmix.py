"""SplitMix64: the same words as arithmetic on whole numbers without a limit."""

import numpy as np

from evergraph.splitmix import GOLDEN, finalised, mixed

FULL = 2**64 - 1


def plain(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & FULL
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & FULL
    return word ^ (word >> 31)


def test_words_are_those_of_whole_numbers() -> None:
    states = [0, 1, 2**63, FULL, *np.random.default_rng(0).integers(0, FULL, 50, dtype=np.uint64).tolist()]
    words = np.array(states, dtype=np.uint64)
    assert mixed(words).tolist() == [plain((state + GOLDEN) & FULL) for state in states]
    assert words.tolist() == states
    assert finalised(words).tolist() == [plain(state) for state in states]


def test_the_first_number_after_the_state_0_is_the_published_one() -> None:
    assert mixed(np.zeros(1, dtype=np.uint64)).tolist() == [0xE220A8397B1DCDAF]
