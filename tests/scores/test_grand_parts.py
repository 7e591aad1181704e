"""The parts of the gradient norms: neighbourhoods as rectangles, neighbours alike, norms of outer products."""

import numpy as np
import pytest
import torch
from scipy import sparse

from evergraph.backbones.input_product import InputProduct
from evergraph.backbones.products import SparseMatrix
from evergraph.scores.grand.alike import Alike
from evergraph.scores.grand.neighbourhoods import neighbourhoods
from evergraph.scores.grand.outer import feature_blocks, outer_squares, with_bias
from helpers import CPU


def random_operator(rows: int, nodes: int, seed: int = 0) -> SparseMatrix:
    """Rows of very different lengths, one of them empty."""
    rng = np.random.default_rng(seed)
    kept = rng.random((rows, nodes)) < rng.random((rows, 1)) ** 3
    kept[0] = False
    return SparseMatrix.of(sparse.csr_array(kept * rng.standard_normal((rows, nodes))), CPU)


@pytest.mark.parametrize("memory", [1, 2000, 1 << 20])
def test_neighbourhoods_hold_every_entry_once(memory: int) -> None:
    operator = random_operator(30, 50)
    found = torch.zeros(30, 50)
    for hoods in neighbourhoods(operator.pattern, 3, memory):
        assert len(hoods.rows) == 1 or hoods.inside.numel() * 3 * 4 <= memory
        rows = hoods.rows[:, None].expand_as(hoods.nodes)
        found.index_put_((rows, hoods.nodes), operator.values[hoods.entries] * hoods.inside, accumulate=True)
    assert torch.equal(found, operator.tensor.to_dense())


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
    found = outer_squares(lambda part: p[:, part], 6, t, memory)
    assert torch.allclose(found, (p.mT @ t).square().sum(dim=(1, 2)), rtol=1e-5)


@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_blocks_of_features_and_a_bias(memory: int) -> None:
    dense = torch.arange(120.0).view(3, 40)
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
