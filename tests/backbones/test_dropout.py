"""Dropout: the share, the random bits, the gradient, from a given generator, with and without numba."""

import numpy as np
import pytest
import torch

from evergraph.backbones.dropout import BLOCK, CHUNK, Dropout, Mask, random_words
from evergraph.runs.process import torch_threads

from .references import WAYS, way


def seeded(share: float, seed: int = 0) -> Dropout:
    dropout = Dropout(share)
    dropout.generator = torch.Generator().manual_seed(seed)
    return dropout


def split_mix(key: int, count: int) -> list[int]:
    """SplitMix64 as published, one number after the other."""
    numbers, state = [], key
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        numbers.append(z ^ (z >> 31))
    return numbers


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("threads", [1, 2])
def test_words_are_those_of_split_mix_across_blocks(name: str, threads: int) -> None:
    key, count = 2**64 - 3, 2 * BLOCK + 7
    with way(name), torch_threads(threads):
        assert random_words(key, count).tolist() == split_mix(key, count)
        assert random_words(1234567, 1).tolist() == [6457827717110365317]  # of the author's own program
        assert random_words(0, 0).shape == (0,)


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_dropout_zeroes_a_share_and_scales_the_rest(name: str, share: float) -> None:
    with way(name):
        values = seeded(share)(torch.ones(CHUNK + 20_000))
    kept = values[values != 0]
    assert torch.allclose(kept, torch.tensor(1 / (1 - share)))
    assert abs(len(kept) / len(values) - (1 - share)) < 0.005


def test_every_lane_of_the_words_is_used_alike() -> None:
    mask = seeded(0.25).mask((50_000, 4), torch.device("cpu"))
    assert mask is not None
    assert np.abs((mask.factor() > 0).double().mean(dim=0).numpy() - 0.75).max() < 0.01


def test_the_share_is_rounded_to_sixteen_bits() -> None:
    every = torch.arange(-32_768, 32_768, dtype=torch.int16)
    for share, dropped in ((1 / 65_536, 1), (0.5, 32_768), (0.6, 39_322), (1 - 1e-9, 65_536)):
        assert int((Mask(every, share).factor() == 0).sum()) == dropped


@pytest.mark.parametrize("name", WAYS)
def test_nothing_is_kept_where_the_share_rounds_to_one(name: str) -> None:
    with way(name):
        assert not seeded(1 - 1e-9)(torch.ones(1000)).any()


@pytest.mark.parametrize("shape", [(0,), (5,), (3, 7), (CHUNK + 3,)])
def test_compiled_and_plain_dropout_have_the_same_bits(shape: tuple[int, ...]) -> None:
    x = torch.empty(shape).uniform_(-1, 1, generator=torch.Generator().manual_seed(1)).requires_grad_()
    found = []
    for name in WAYS:
        with way(name):
            out = seeded(0.3)(x)
            found.append((out.detach(), *torch.autograd.grad(out.square().sum(), x)))
    assert all(map(torch.equal, *found))


@pytest.mark.parametrize("name", WAYS)
def test_dropout_is_differentiable_twice(name: str) -> None:
    x = torch.linspace(-1, 1, 12).view(4, 3).t().requires_grad_()
    with way(name):
        mask = seeded(0.4).mask(x.shape, x.device)
        assert mask is not None
        factor = mask.factor()
        (once,) = torch.autograd.grad(mask.times(x).pow(3).sum(), x, create_graph=True)
        (twice,) = torch.autograd.grad(once.sum(), x)
    assert torch.allclose(once, 3 * x**2 * factor**3, atol=1e-5)
    assert torch.allclose(twice, 6 * x * factor**3, atol=1e-5)


def test_dropout_draws_anew_each_time() -> None:
    dropout = Dropout(0.5)
    dropout.generator = torch.Generator().manual_seed(0)
    assert not torch.equal(dropout(torch.ones(100)), dropout(torch.ones(100)))


def test_dropout_without_a_generator_refuses_to_train() -> None:
    with pytest.raises(RuntimeError, match="needs a generator"):
        Dropout(0.5)(torch.ones(3))
    assert torch.equal(Dropout(0.5).eval()(torch.ones(3)), torch.ones(3))
    assert torch.equal(Dropout(0.0)(torch.ones(3)), torch.ones(3))


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_that_are_apart_get_the_draws_of_rows_side_by_side(name: str, threads: int) -> None:
    wide = torch.randn(2 * CHUNK // 40 + 7, 48, generator=torch.Generator().manual_seed(0))
    apart, inside = wide[:, :40], wide[:, 3:43]
    with way(name), torch_threads(threads):
        for values in (apart, inside):
            assert torch.equal(seeded(0.5)(values), seeded(0.5)(values.contiguous()))
