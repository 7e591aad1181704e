"""The potential without arrays of the size of the entries: equal to the one in memory, and as strict."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from evergraph.errors import ConfigError, DataError
from evergraph.hodge import Method, Orientation, Preconditioner, hodge_potential, ranking_potential
from evergraph.hodge import blocks as blocks_module
from evergraph.hodge.block_components import block_components
from evergraph.hodge.blocks import BlockedGraph, blocked, in_blocks, is_symmetric
from evergraph.hodge.method import BYTES_PER_ENTRY, chosen_method

from .graphs import directed_graphs, from_pairs, quick, undirected_graphs, vectors

sizes = st.integers(1, 7)
index_types = st.sampled_from([np.int32, np.int64])


def indexed(graph: csr_array, dtype: type) -> csr_array:
    """The same graph with indices of this type."""
    found = csr_array(graph.shape, dtype=graph.dtype)
    found.indptr, found.indices, found.data = graph.indptr.astype(dtype), graph.indices.astype(dtype), graph.data
    return found


def with_tiny_blocks(size: int) -> Callable[[csr_array, int], BlockedGraph]:
    return lambda adjacency, memory: in_blocks(adjacency, size, 2 * size)


@quick
@given(undirected_graphs(weighted=True), sizes, index_types, st.data())
def test_products_are_those_of_the_matrix(graph: csr_array, size: int, dtype: type, data: st.DataObject) -> None:
    found = in_blocks(indexed(graph, dtype), size, size)
    values = data.draw(vectors(graph.shape[0]))
    dense = graph.toarray()
    np.testing.assert_allclose(found.product(values), dense @ values, atol=1e-12)
    np.testing.assert_allclose(found.laplacian(values), dense.sum(axis=1) * values - dense @ values, atol=1e-12)
    assert all(len(part.matrix.indices) <= size for part in found.parts)


@quick
@given(directed_graphs(weighted=True), sizes)
def test_components_are_those_of_the_whole_graph(graph: csr_array, size: int) -> None:
    found = block_components(in_blocks(graph, size, size))
    _, wanted = connected_components(graph, directed=False)
    np.testing.assert_array_equal(found[:, None] == found, wanted[:, None] == wanted)
    assert sorted(set(found.tolist())) == list(range(found.max(initial=-1) + 1))


def test_components_of_long_paths_in_any_order() -> None:
    rng = np.random.default_rng(0)
    name = rng.permutation(600)
    pairs = [(int(name[i]), int(name[i + 1])) for i in range(598) if i % 200 != 199]
    for size in (1, 64, 10**6):
        found = block_components(in_blocks(from_pairs(600, pairs), size, size))
        assert sorted(np.bincount(found).tolist()) == [1, 199, 200, 200]


@quick
@given(directed_graphs(weighted=True), sizes)
def test_symmetry_is_seen(graph: csr_array, size: int) -> None:
    dense = graph.toarray()
    assert is_symmetric(in_blocks(graph, size, size)) == np.array_equal(dense, dense.T)
    assert is_symmetric(in_blocks(csr_array(np.maximum(dense, dense.T)), size, size))


@quick
@given(st.booleans(), sizes, index_types, st.data())
def test_the_potential_is_the_one_in_memory(weighted: bool, size: int, dtype: type, data: st.DataObject) -> None:
    graph = data.draw(undirected_graphs(weighted=weighted))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evergraph.hodge.block_potential.blocked", with_tiny_blocks(size))
        found = hodge_potential(indexed(graph, dtype), method="blocks", tolerance=1e-12, must_converge=False)
    wanted = hodge_potential(graph, tolerance=1e-12, must_converge=False)
    np.testing.assert_allclose(found.value, wanted.value, rtol=0, atol=1e-9)
    assert found.residual <= 1e-10


@quick
@given(st.booleans(), sizes, index_types, st.data())
def test_the_potential_of_a_directed_graph_too(weighted: bool, size: int, dtype: type, data: st.DataObject) -> None:
    graph = data.draw(directed_graphs(weighted=weighted))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evergraph.hodge.block_potential.blocked", with_tiny_blocks(size))
        found = hodge_potential(
            indexed(graph, dtype), directed=True, method="blocks", tolerance=1e-12, must_converge=False
        )
    wanted = hodge_potential(graph, directed=True, tolerance=1e-12, must_converge=False)
    np.testing.assert_allclose(found.value, wanted.value, rtol=0, atol=1e-9)
    assert found.residual <= 1e-10


def test_orientation_start_and_certificate_are_as_in_memory() -> None:
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((80, 80)) < 0.1, 1)
    graph = csr_array((upper | upper.T).astype(float))
    cold = hodge_potential(graph, method=Method.BLOCKS)
    assert cold.converged
    assert cold.residual <= 1e-10
    assert hodge_potential(graph, method=Method.BLOCKS, start=cold.value).iterations == 1 < cold.iterations
    opposite = hodge_potential(graph, method=Method.BLOCKS, orientation=Orientation.OPPOSITE)
    np.testing.assert_allclose(opposite.value, -cold.value, atol=1e-12)
    assert np.array_equal(hodge_potential(graph, method=Method.BLOCKS).value, cold.value)


def mapped(graph: csr_array, folder: Path) -> csr_array:
    """The same graph over memory maps."""
    found = csr_array(graph.shape, dtype=graph.dtype)
    for name in ("indptr", "indices", "data"):
        np.save(folder / f"{name}.npy", getattr(graph, name))
        setattr(found, name, np.load(folder / f"{name}.npy", mmap_mode="r"))
    return found


def test_memory_maps_beyond_the_memory_get_blocks(tmp_path: Path) -> None:
    graph = from_pairs(5, [(0, 1), (1, 2), (3, 4)])
    on_disk, enough = mapped(graph, tmp_path), graph.nnz * BYTES_PER_ENTRY
    assert chosen_method(on_disk, None, enough, directed=False) is Method.MEMORY
    assert chosen_method(on_disk, None, enough, directed=True) is Method.BLOCKS
    assert chosen_method(on_disk, None, enough - 1, directed=False) is Method.BLOCKS
    assert chosen_method(graph, None, 1, directed=True) is Method.MEMORY
    assert chosen_method(on_disk, "memory", 1, directed=True) is Method.MEMORY


def test_nothing_of_the_size_of_the_entries_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """numpy reports its allocations to tracemalloc; the graph has nearly 160 entries a node."""
    import tracemalloc

    rng, n = np.random.default_rng(0), 5_000
    tail, head = np.repeat(np.arange(n), 80), rng.integers(0, n, 80 * n)
    upper = csr_array((np.ones(80 * n), (tail, head)), shape=(n, n))
    upper.setdiag(0)
    upper.eliminate_zeros()
    graph = csr_array(upper.maximum(upper.T))
    graph.data[:] = 1
    on_disk = mapped(graph, tmp_path)
    entries = 4 * graph.nnz  # bytes of the smallest array of that size that would be of use
    monkeypatch.setattr(blocks_module, "LARGEST_BLOCK", 1 << 10)
    peaks = {}
    for method in ("blocks", "memory"):
        hodge_potential(on_disk, method=method)  # modules are loaded
        tracemalloc.start()
        found = hodge_potential(on_disk, method=method)
        peaks[method] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.converged
    assert peaks["blocks"] < 20 * 8 * n + 1e6 < entries < peaks["memory"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0, 1], [0, 0]], "has to be symmetric"),
        ([[1, 1], [1, 0]], "free of self-loops, got 1"),
        ([[0, -1], [-1, 0]], "finite and above 0"),
        ([[0, np.nan], [np.nan, 0]], "finite and above 0"),
        ([[0, 1, 0], [1, 0, 0]], "has to be square"),
    ],
)
def test_what_is_no_graph_is_refused(rows: list[list[float]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        hodge_potential(csr_array(np.array(rows)), method="blocks")


def test_arrays_that_are_no_matrix_are_refused() -> None:
    def made(indptr: list[int], indices: list[int]) -> csr_array:
        matrix = csr_array((len(indptr) - 1, len(indptr) - 1))
        matrix.indptr, matrix.indices, matrix.data = np.array(indptr), np.array(indices), np.ones(len(indices))
        return matrix

    for indptr, indices, message in (
        ([0, 1, 2], [1, 2], "from 0 to 1, got 2"),
        ([0, 1, 2], [-1, 0], "from 0 to 1, got -1"),
        ([0, 2, 3, 4], [2, 1, 0, 0], "once and in order"),
        ([0, 2, 3, 4], [1, 1, 0, 0], "once and in order"),
        ([0, 2, 1, 3], [1, 0, 0], "indptr"),
        ([0, 1, 3], [1, 0], "indptr"),
    ):
        for size in (1, 8):
            with pytest.raises(DataError, match=message):
                in_blocks(made(indptr, indices), size, size)
    with pytest.raises(DataError, match="got ndarray instead"):
        hodge_potential(np.zeros((2, 2)), method="blocks")
    with pytest.raises(DataError, match="got coo_array instead"):
        blocked(csr_array((2, 2)).tocoo(), 10**9)
    with pytest.raises(DataError, match="dtype complex128"):
        blocked(csr_array((2, 2), dtype=np.complex128), 10**9)


def test_bad_settings_are_one_sentence() -> None:
    graph = from_pairs(2, [(0, 1)])
    with pytest.raises(ConfigError, match="method has to be one of memory, blocks, petsc, got 'disk'"):
        hodge_potential(graph, method="disk")
    with pytest.raises(ConfigError, match="takes the preconditioner jacobi, got multigrid"):
        hodge_potential(graph, method="blocks", preconditioner=Preconditioner.MULTIGRID)
    with pytest.raises(ConfigError, match="at least 1,048,576 bytes, got 5"):
        hodge_potential(graph, method="blocks", memory=5)
    with pytest.raises(ConfigError, match="tolerance"):
        hodge_potential(graph, method="blocks", tolerance=2)


def test_a_ranking_can_be_made_in_blocks() -> None:
    graph = from_pairs(6, [(0, 1), (1, 2), (0, 2), (2, 3), (4, 5)])
    found, wanted = (ranking_potential(graph, method=method).value for method in ("blocks", "memory"))
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@quick
@given(undirected_graphs(weighted=True), st.integers(0, 10**6))
def test_one_other_weight_is_no_symmetry(graph: csr_array, pick: int) -> None:
    assume(graph.nnz)
    graph.data[pick % graph.nnz] += 1.0
    assert not is_symmetric(in_blocks(graph, 3, 3))
