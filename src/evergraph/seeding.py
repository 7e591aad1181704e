"""Random generators from a seed, a purpose and an index: a resumed run draws what an uninterrupted one draws."""

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


class Purpose(IntEnum):
    """What random numbers are drawn for; each purpose has a stream of its own."""

    PARAMETERS = 0
    TRAINING = 1
    SELECTION = 2
    SAMPLING = 3
    IMPORTANCE = 4


def torch_generator(seed: int, purpose: Purpose, index: int) -> "torch.Generator":
    import torch  # here, because this module belongs to the ground that needs no torch

    state = np.random.SeedSequence([seed, purpose, index]).generate_state(2, np.uint32)
    return torch.Generator().manual_seed(int(state[0]) << 31 ^ int(state[1]))


def numpy_generator(seed: int, purpose: Purpose, index: int) -> np.random.Generator:
    return np.random.default_rng([seed, purpose, index])
