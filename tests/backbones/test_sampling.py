"""Parts of a graph for some nodes: exact with all neighbours, unbiased with a sample of them."""

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from evergraph.backbones import CustomBackbone, MessageGraph, Norm, model_input
from evergraph.backbones.sampling import Links, LocalGraph, draw_without_replacement, local_input
from evergraph.data.graph import Graph, make_graph
from evergraph.testing.backbones import built
from helpers import CPU, random_adjacency, tiny_graph

from .references import hears
from .test_custom import Mean

NORMS = [Norm.SYMMETRIC, Norm.SUM]
ALL = 1000


def weighted_graph(seed: int, n: int = 30) -> Graph:
    """Directed, with weights and self-loops."""
    rng = np.random.default_rng(seed)
    dense = random_adjacency(n, seed, 0.4, directed=True, loops=True) * rng.uniform(0.5, 2, (n, n))
    features = rng.standard_normal((n, 4)).astype(np.float32)
    return make_graph(sparse.csr_array(dense.astype(np.float32)), features, np.arange(n) % 2, directed=True)


def placed(graph: LocalGraph, norm: Norm, step: int, n: int) -> np.ndarray:
    """The matrix of a step in the nodes of the whole graph."""
    dense = np.zeros((n, n))
    rows, columns = graph.nodes[graph.frontier[step]], graph.nodes[graph.frontier[step - 1]]
    dense[np.ix_(rows, columns)] = graph.step_matrix(norm, step).toarray()
    return dense


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 30), directed=st.booleans(), rows=st.sets(st.integers(0, 23), min_size=1))
def test_all_neighbours_make_the_same_steps_as_the_whole_graph(seed: int, directed: bool, rows: set[int]) -> None:
    graph, wanted = tiny_graph(seed=seed, directed=directed, share=0.1), np.array(list(rows), dtype=np.int64)
    whole = MessageGraph(graph, wanted, CPU)
    drawn = LocalGraph(Links(graph), wanted, CPU, (ALL, ALL), np.random.default_rng(0))
    for found in (LocalGraph(Links(graph), wanted, CPU, (None, None)), drawn):
        assert found.nodes[found.rows].tolist() == wanted.tolist()
        for at, nodes in enumerate(whole.frontier):
            assert found.nodes[found.frontier[at]].tolist() == nodes.tolist()
        for step in (1, 2):
            assert torch.equal(found.own(step), whole.own(step))
            assert torch.equal(found.pattern(step).col, whole.pattern(step).col)
            for norm in NORMS:
                one, other = found.step_matrix(norm, step), whole.step_matrix(norm, step)
                assert np.allclose(one.toarray(), other.toarray(), rtol=1e-6, atol=0)


@pytest.mark.parametrize("norm", NORMS)
def test_weights_and_self_loops_of_a_graph_count(norm: Norm) -> None:
    graph, rows = weighted_graph(1), np.array([7, 3])
    whole, found = MessageGraph(graph, rows, CPU), LocalGraph(Links(graph), rows, CPU, (None, None))
    for step in (1, 2):
        one, other = found.step_matrix(norm, step), whole.step_matrix(norm, step)
        assert one.nnz == other.nnz
        assert np.allclose(one.toarray(), other.toarray(), rtol=1e-5)


@pytest.mark.parametrize("sparse_features", [False, True])
@pytest.mark.parametrize("name", ["gcn", "gat", "gin"])
def test_a_backbone_has_the_same_outputs_and_gradients(name: str, sparse_features: bool) -> None:
    graph = tiny_graph((9,) * 4, share=0.15, directed=True, sparse_features=sparse_features)
    model, rows = built(name, 5, 4), np.array([5, 1, 30])
    found = []
    for inputs in (model_input(graph, rows, CPU), local_input(Links(graph), rows, CPU, (None, None))):
        outputs = model(*inputs)
        found.append((outputs, *torch.autograd.grad(outputs.square().sum(), list(model.parameters()))))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(counts=st.lists(st.integers(3, 12), max_size=8), seed=st.integers(0, 99))
def test_numbers_are_drawn_once_each(counts: list[int], seed: int) -> None:
    drawn = draw_without_replacement(np.array(counts, dtype=np.int64), 3, np.random.default_rng(seed))
    assert drawn.shape == (len(counts), 3)
    for row, count in zip(drawn, counts, strict=True):
        assert len(set(row.tolist())) == 3
        assert 0 <= row.min() <= row.max() < count


def test_every_subset_is_equally_likely() -> None:
    trials = 20_000
    drawn = np.sort(draw_without_replacement(np.full(trials, 6), 3, np.random.default_rng(0)), axis=1)
    subsets, found = np.unique(drawn, axis=0, return_counts=True)
    assert [tuple(subset) for subset in subsets.tolist()] == list(combinations(range(6), 3))
    expected = trials / 20
    assert ((found - expected) ** 2 / expected).sum() < 43.8  # 99.9 % of chi-square with 19 degrees of freedom


@pytest.mark.parametrize("norm", NORMS)
def test_sampled_sums_are_unbiased(norm: Norm) -> None:
    """The mean of many samples of both steps is the whole step, within five standard errors of each entry."""
    graph, rows, trials = weighted_graph(2), np.arange(30), 4000
    links, rng = Links(graph), np.random.default_rng(0)
    samples = np.array([placed(LocalGraph(links, rows, CPU, (3,), rng), norm, 1, 30) for _ in range(trials)])
    whole = MessageGraph(graph, None, CPU, depth=1).step_matrix(norm, 1).toarray()
    errors = np.abs(samples.mean(axis=0) - whole)
    assert (errors <= 5 * samples.std(axis=0) / np.sqrt(trials) + 1e-5).all()
    assert samples.std(axis=0).max() > 0.1 * whole.max()


def test_at_most_so_many_neighbours_are_heard_and_the_node_itself() -> None:
    graph = tiny_graph((10,) * 4, share=0.5)
    rows = np.array([3, 17, 0])
    found = LocalGraph(Links(graph), rows, CPU, (4, 2), np.random.default_rng(0))
    for step, most in ((2, 4), (1, 2)):
        nodes = found.nodes[found.frontier[step]]
        degrees = np.minimum(np.diff(graph.adjacency.indptr)[nodes], most)
        assert np.diff(found.step_matrix(Norm.SUM, step).indptr).tolist() == (degrees + 1).tolist()
        itself = found.step_matrix(Norm.SUM, step).toarray()[np.arange(len(nodes)), found.own(step).numpy()]
        assert itself.tolist() == [1.0] * len(nodes)
        real = (hears(graph).numpy() != 0)[:, :]
        assert not (placed(found, Norm.SUM, step, 40) != 0)[~real].any()


def test_messages_go_along_the_edges() -> None:
    """In a directed star, the centre hears a sample of the others, and they hear only themselves."""
    ends = (np.arange(1, 9), np.zeros(8, dtype=np.int64))
    adjacency = sparse.csr_array((np.ones(8, dtype=np.float32), ends), shape=(9, 9))
    graph = make_graph(adjacency, np.eye(9, dtype=np.float32), np.zeros(9, dtype=np.int64), directed=True)
    found = LocalGraph(Links(graph), np.array([0, 4]), CPU, (3,), np.random.default_rng(0))
    matrix = placed(found, Norm.SUM, 1, 9)
    assert np.count_nonzero(matrix[0, 1:]) == 3
    assert matrix[0].sum() == pytest.approx(1 + 8)
    assert np.flatnonzero(matrix[4]).tolist() == [4]


def test_the_same_seed_draws_the_same_neighbours() -> None:
    graph, rows = tiny_graph((10,) * 4, share=0.5), np.arange(10)
    one, same, other = (
        LocalGraph(Links(graph), rows, CPU, (3, 3), np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    assert one.nodes.tolist() == same.nodes.tolist()
    assert (placed(one, Norm.SUM, 1, 40) == placed(same, Norm.SUM, 1, 40)).all()
    assert (placed(one, Norm.SUM, 1, 40) != placed(other, Norm.SUM, 1, 40)).any()


def test_a_module_of_ones_own_sees_the_sample_as_a_graph() -> None:
    graph = tiny_graph((10,) * 4, share=0.3, directed=True)
    rows = np.array([9, 2, 30])
    inputs = local_input(Links(graph), rows, CPU, (3, 2), np.random.default_rng(0))
    local = inputs.graph
    assert isinstance(local, LocalGraph)
    source, target = local.nodes[local.edge_index.numpy()]
    assert len(set(zip(source.tolist(), target.tolist(), strict=True))) == len(source) < graph.n_edges
    assert hears(graph).bool()[target, source].all()
    assert local.graph.n_edges == (source != target).sum()
    model = CustomBackbone(Mean(5, torch.Generator().manual_seed(0)), 6).eval()
    model.head.grow(4, torch.Generator().manual_seed(0))
    assert model(*inputs).shape == (3, 4)
    every = local_input(Links(graph), rows, CPU, (ALL, ALL), np.random.default_rng(0))
    torch.testing.assert_close(model(*every), model(*model_input(graph, rows, CPU)))
