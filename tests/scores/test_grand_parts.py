"""The parts of the gradient norms: neighbourhoods as rectangles, neighbours alike, norms of outer products."""

import numpy as np
import pytest
import torch
from scipy import sparse

from evergraph.backbones.input_product import InputProduct
from evergraph.backbones.products import SparseMatrix
from evergraph.scores.grand.alike import Alike
from evergraph.scores.grand.losses import loss_gradient
from evergraph.scores.grand.neighbourhoods import PADDING, neighbourhoods
from evergraph.scores.grand.outer import feature_blocks, outer_squares, with_bias
from helpers import CPU


def random_operator(rows: int, nodes: int, seed: int = 0) -> SparseMatrix:
    """Rows of very different lengths, one of them empty."""
    rng = np.random.default_rng(seed)
    kept = rng.random((rows, nodes)) < rng.random((rows, 1)) ** 3
    kept[0] = False
    return SparseMatrix.of(sparse.csr_array(kept * rng.standard_normal((rows, nodes))), CPU)


@pytest.mark.parametrize("memory", [1, *range(150, 4000, 350), 1 << 20])
@pytest.mark.parametrize("seed", range(3))
def test_neighbourhoods_hold_every_entry_once(memory: int, seed: int) -> None:
    """At most `memory` bytes at a time or one row, and those of a chunk have about the same size."""
    operator = random_operator(30, 50, seed)
    found = torch.zeros(30, 50)
    for hoods in neighbourhoods(operator.pattern, 3, memory):
        assert len(hoods.rows) == 1 or hoods.inside.numel() * 3 * 4 <= memory
        sizes = hoods.inside.sum(dim=1)
        assert hoods.nodes.shape[1] == sizes.max() <= max(PADDING * sizes.min(), sizes.min() + 2)
        rows = hoods.rows[:, None].expand_as(hoods.nodes)
        found.index_put_((rows, hoods.nodes), operator.values[hoods.entries] * hoods.inside, accumulate=True)
    assert torch.equal(found, operator.tensor.to_dense())


def test_padding_stays_inside_a_pattern_with_a_single_entry() -> None:
    operator = SparseMatrix.of(sparse.csr_array(np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 0.0]])), CPU)
    (hoods,) = neighbourhoods(operator.pattern, 1, 1 << 20)
    assert hoods.rows.tolist() == [0, 2, 1]
    assert hoods.inside.tolist() == [[0.0], [0.0], [1.0]]
    assert hoods.nodes[2].tolist() == [1]


@pytest.mark.parametrize("units", [1, 3, 20])
@pytest.mark.parametrize("memory", [1, 2000, 1 << 20])
def test_neighbours_alike_are_summed(units: int, memory: int) -> None:
    operator = random_operator(30, 50)
    generator = torch.Generator().manual_seed(0)
    active = torch.rand(50, units, generator=generator) < 0.5
    block = torch.rand(50, 4, generator=generator)
    alike = Alike(operator, active)
    assert len(alike.example) == len(torch.unique(active, dim=0))
    found = torch.zeros(30, 4, units)
    for hoods in neighbourhoods(alike.pattern, 3, memory):
        sums = alike.sums(block, hoods, slice(0, hoods.nodes.shape[1]))
        found[hoods.rows] = sums.mT @ active[alike.example[hoods.nodes]].float()
    wanted = torch.einsum("iu,uf,uc->ifc", operator.tensor.to_dense(), block, active.float())
    assert torch.allclose(alike.unsorted(found), wanted, atol=1e-4)


def test_one_row_of_sums_in_parts() -> None:
    operator = SparseMatrix.of(sparse.csr_array(np.arange(1.0, 10.0)[None]), CPU)
    alike = Alike(operator, torch.arange(9)[:, None] % 4 == torch.arange(4))
    block = torch.eye(9)
    (hoods,) = neighbourhoods(alike.pattern, 1, 1)
    whole = alike.sums(block, hoods, slice(0, 4))
    parts = [alike.sums(block, hoods, slice(start, start + 3)) for start in (0, 3)]
    assert torch.equal(torch.cat(parts, dim=1), whole)
    assert torch.equal(whole.sum(dim=1), torch.arange(1.0, 10.0)[None])


@pytest.mark.parametrize("count", [2, 40])
@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_both_ways_to_an_outer_product(count: int, memory: int) -> None:
    generator = torch.Generator().manual_seed(0)
    p, t = (torch.randn(1, count, width, generator=generator) for width in (6, 5))
    asked: list[slice] = []

    def part_of(part: slice) -> torch.Tensor:
        asked.append(part)
        return p[:, part]

    found = outer_squares(part_of, 6, t, memory)
    assert torch.allclose(found, (p.mT @ t).square().sum(dim=(1, 2)), rtol=1e-5)
    # Products of pairs need all of p; the sum itself, which is cheaper for many, takes as much as memory allows.
    assert len(asked) == (count if (count, memory) == (40, 1) else 1)


@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_blocks_of_features_and_a_bias(memory: int) -> None:
    dense = torch.arange(120.0).view(3, 40)
    dense[:, [0, 39]] = 0
    factors = [random_operator(5, 3), SparseMatrix.of(sparse.csr_array(dense.numpy()), CPU)]
    for product, wanted in (
        (InputProduct(dense, [], None), dense),
        (InputProduct(None, factors, torch.arange(40)), factors[0].tensor.to_dense() @ dense),
    ):
        blocks = list(with_bias(feature_blocks(product, memory)))
        assert (len(blocks) > 1) == (memory == 1)
        found = torch.cat(blocks, dim=1)
        assert torch.allclose(found.sum(dim=1), wanted.sum(dim=1) + 1, rtol=1e-4)
        assert found.shape == (len(wanted), 41)


@pytest.mark.parametrize("task_only", [False, True])
def test_the_gradient_of_a_loss_comes_as_its_largest_element_and_what_is_left(task_only: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = 10 * torch.randn(40, 5, generator=generator)
    labels = torch.randint(5, (40,), generator=generator)
    allowed = (labels[:, None] < 2) == (torch.arange(5) < 2) if task_only else None
    masked = logits if allowed is None else logits.masked_fill(~allowed, -torch.inf)
    wanted = masked.double().softmax(dim=1) - torch.eye(5, dtype=torch.float64)[labels]
    unit, scale = loss_gradient(labels, allowed)(logits)
    assert torch.allclose(unit * scale[:, None], wanted.float(), rtol=1e-4, atol=1e-6)
    assert torch.equal(unit.abs().amax(dim=1), torch.ones(40))


def test_no_gradient_is_no_division_by_zero() -> None:
    unit, scale = loss_gradient(torch.zeros(2, dtype=torch.int64), None)(torch.zeros(2, 1))
    assert torch.equal(unit, torch.zeros(2, 1))
    assert torch.equal(scale, torch.zeros(2))
