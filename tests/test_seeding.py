"""Generators: the same for the same purpose, different for any other."""

import itertools

import numpy as np
import torch

from evergraph.seeding import Purpose, numpy_generator, torch_generator

KEYS = list(itertools.product((0, 1, 2**40), Purpose, (0, 1, 7)))


def test_generators_repeat_themselves_and_differ_from_each_other() -> None:
    for make in (
        lambda *key: torch.rand(3, generator=torch_generator(*key)).numpy(),
        lambda *key: numpy_generator(*key).random(3),
    ):
        draws = [make(*key) for key in KEYS]
        assert all(np.array_equal(draw, make(*key)) for draw, key in zip(draws, KEYS, strict=True))
        assert len({draw.tobytes() for draw in draws}) == len(KEYS)


def test_making_generators_leaves_the_global_state_alone() -> None:
    before = torch.random.get_rng_state()
    torch_generator(3, Purpose.TRAINING, 1)
    assert torch.equal(torch.random.get_rng_state(), before)
