"""SplitMix64 (Steele, Lea and Flood, 2014): words of 64 bits, each bit of which depends on every bit of a state."""

import numpy as np
from numpy.typing import NDArray

GOLDEN, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
STEPS = ((30, MIX_1), (27, MIX_2), (31, None))
"""Shift and factor of each step; the last one has none."""


def finalised(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser, modulo 2^64, in the place of the words."""
    spare = np.empty_like(words)
    for shift, factor in STEPS:
        words ^= np.right_shift(words, np.uint64(shift), out=spare)
        if factor is not None:
            words *= np.uint64(factor)
    return words


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The number of SplitMix64 after each of these states."""
    return finalised(values + np.uint64(GOLDEN))
