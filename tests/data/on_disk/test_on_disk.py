"""Graphs on disk against the same graphs in memory: rows, propagation and whole runs, bit by bit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file
from scipy import sparse

from evergraph.budget import memory_budget
from evergraph.data.convert import Plan, convert_tables
from evergraph.data.datasets import load_dataset
from evergraph.data.datasets.files import FileOptions
from evergraph.data.graph import Graph, make_graph
from evergraph.data.graph_folder import reading
from evergraph.data.on_disk import (
    DiskAdjacency,
    DiskFeatures,
    DiskSteps,
    adjacency,
    arrays,
    as_arrays,
    blocks,
    jit,
    kept_on_disk,
)
from evergraph.data.on_disk.graphs import count_loops, disk_adjacency, has_weights, in_csr, is_on_disk
from evergraph.data.preprocess import Preprocessing, preprocess
from evergraph.data.standardise import Standardisation, changes, standardise
from evergraph.errors import DataError, StoreError
from evergraph.methods.hop_features import fingerprints, propagation
from evergraph.replay.propagation import Aggregation, DiskAggregation, aggregated, neighbourhood_sizes
from evergraph.runs.config import RunConfig
from evergraph.runs.execute import run

METHODS = {
    "analytic": {"width": 256},
    "ncm": {"width": 64},
    "slda": {"width": 64},
    "tem": {"budget": 5},
    "cat": {"budget": 3, "encoders": 2, "steps": 2, "width": 16},
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_ENTRIES", 7)
    monkeypatch.setattr(blocks, "MOST_ROWS", 5)
    monkeypatch.setattr(adjacency, "MOST_ROWS", 5)


def random_graph(seed: int, n: int = 23, *, loops: bool = False, weighted: bool = False) -> Graph:
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < rng.choice([0.05, 0.3]), 0 if loops else 1)
    values = upper * (rng.integers(1, 4, (n, n)) if weighted else 1)
    matrix = sparse.csr_array(np.maximum(values, values.T).astype(np.float32))
    return make_graph(matrix, rng.standard_normal((n, 4), dtype=np.float32), rng.integers(0, 3, n), directed=False)


def dense(matrix: DiskAdjacency) -> Any:
    return np.concatenate([matrix.rows(part).toarray() for part in matrix.parts])


graphs = st.builds(random_graph, st.integers(0, 10**6), loops=st.booleans(), weighted=st.booleans())


@given(graph=graphs, seed=st.integers(0, 99), loops=st.booleans(), weighted=st.booleans())
def test_rows_are_those_of_the_induced_adjacency(graph: Graph, seed: int, loops: bool, weighted: bool) -> None:
    some = np.flatnonzero(np.random.default_rng(seed).random(23) < 0.6)
    few = np.flatnonzero(np.random.default_rng(seed + 1).random(len(some)) < 0.6)
    disk = disk_adjacency(kept_on_disk(graph, weighted=weighted, loops=loops))
    wanted = graph.adjacency.toarray() * (1 if loops else 1 - np.eye(23, dtype=np.float32))
    wanted = wanted if weighted else (wanted > 0).astype(np.float32)
    for found, nodes in ((disk, np.arange(23)), (disk.induced(some).induced(few), some[few])):
        np.testing.assert_array_equal(dense(found).reshape(len(nodes), -1), wanted[np.ix_(nodes, nodes)])
        assert found.nnz == np.count_nonzero(wanted[np.ix_(nodes, nodes)])
        np.testing.assert_array_equal(in_csr(found).toarray(), wanted[np.ix_(nodes, nodes)])
        if len(nodes):
            again = np.random.default_rng(seed).permutation(len(nodes))
            np.testing.assert_array_equal(found.rows(again).toarray(), wanted[np.ix_(nodes[again], nodes)])


@given(graph=graphs, columns=st.integers(1, 4))
def test_propagation_has_the_bits_of_that_in_memory(graph: Graph, columns: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evergraph.data.on_disk.steps.block_columns", lambda *_: columns)
        disk = kept_on_disk(graph, weighted=True, loops=True)
        found = DiskSteps(disk_adjacency(disk)).times(disk.features)
    np.testing.assert_array_equal(found, propagation(graph) @ graph.features)


@given(graph=graphs, seed=st.integers(0, 99), loops=st.booleans(), weighted=st.booleans())
def test_compiled_products_have_the_bits_of_the_others(
    graph: Graph, seed: int, loops: bool, weighted: bool
) -> None:
    pytest.importorskip("numba", reason="compiled loops need evergraph[jit]")
    assert jit.kernels() is not None
    some = np.flatnonzero(np.random.default_rng(seed).random(23) < 0.6)
    x = np.random.default_rng(seed).standard_normal((23, 9), dtype=np.float32)
    whole = disk_adjacency(kept_on_disk(graph, weighted=weighted, loops=loops))
    for disk in (whole, whole.induced(some)):
        compiled = DiskSteps(disk)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("evergraph.data.on_disk.steps.kernels", lambda: None)
            plain = DiskSteps(disk)
            wanted = [plain._product(part, x[: disk.n_nodes]) for part in disk.parts]
        np.testing.assert_array_equal(compiled.scale, plain.scale)
        for part, values in zip(disk.parts, wanted, strict=True):
            np.testing.assert_array_equal(compiled._product(part, x[: disk.n_nodes]), values)


def test_loops_with_other_bits_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = pytest.importorskip("evergraph.data.on_disk.kernels", reason="compiled loops need evergraph[jit]")
    monkeypatch.setattr(kernels, "add_product", lambda *arguments: arguments[-1].fill(1))
    jit.kernels.cache_clear()
    assert jit.kernels() is None
    jit.kernels.cache_clear()


@given(graph=graphs, how=st.sampled_from(Aggregation), hops=st.integers(1, 3), projected=st.booleans())
@settings(max_examples=25)
def test_aggregations_are_those_in_memory(graph: Graph, how: Aggregation, hops: int, projected: bool) -> None:
    rows = np.array([3, 0, 22, 7])
    matrix = np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2) if projected else None
    mapped = None if matrix is None else np.asarray(graph.features) @ matrix
    disk = kept_on_disk(graph, weighted=True, loops=True)
    found = DiskAggregation(how, hops, 0.1)(disk, rows, matrix)
    np.testing.assert_allclose(found, aggregated(graph, rows, how, hops, 0.1, mapped), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(neighbourhood_sizes(disk, rows, hops), neighbourhood_sizes(graph, rows, hops))


@pytest.mark.parametrize("how", list(Preprocessing))
@pytest.mark.parametrize("bits", [16, 32])
def test_features_are_scaled_when_they_are_read(how: Preprocessing, bits: int) -> None:
    rng = np.random.default_rng(0)
    stored = rng.standard_normal((23, 4)).astype(f"f{bits // 8}")
    stored[3] = 0
    whole = preprocess(stored.astype(np.float32), how, np.arange(9))
    found = preprocess(DiskFeatures(stored), how, np.arange(9))
    nodes = np.array([2, 3, 11, 20])
    np.testing.assert_array_equal(found[nodes], whole[nodes])
    np.testing.assert_array_equal(found.induced(nodes)[1:3], whole[nodes[1:3]])  # type: ignore[union-attr]
    np.testing.assert_array_equal(np.concatenate([rows for _, rows in found.blocks()]), whole)  # type: ignore[union-attr]


@given(
    graph=graphs,
    steps=st.builds(
        Standardisation, unweighted=st.booleans(), no_self_loops=st.booleans(), largest_component=st.booleans()
    ),
)
def test_standardisation_is_that_in_memory(graph: Graph, steps: Standardisation) -> None:
    disk = kept_on_disk(graph, weighted=True, loops=True)
    found, wanted = standardise(disk, steps), standardise(graph, steps)
    assert is_on_disk(found)
    np.testing.assert_array_equal(
        dense(disk_adjacency(found)).reshape(wanted.n_nodes, -1), wanted.adjacency.toarray()
    )
    np.testing.assert_array_equal(found.labels, wanted.labels)
    np.testing.assert_array_equal(fingerprints(found), fingerprints(wanted))
    assert has_weights(found.adjacency) == has_weights(wanted.adjacency)
    assert count_loops(found) == count_loops(wanted)
    assert changes(disk, found) == changes(graph, wanted)


def test_what_needs_the_whole_graph_is_refused_in_one_sentence() -> None:
    disk = kept_on_disk(random_graph(0), weighted=True, loops=True)
    for ask in (
        lambda: disk.adjacency.indptr,
        lambda: disk.adjacency.T,
        lambda: disk.adjacency @ np.ones(23),
        lambda: disk.adjacency + sparse.eye_array(23),
        lambda: 2 * disk.adjacency,
        lambda: np.asarray(disk.features),
        lambda: np.asarray(disk.features) + 1,
    ):
        with pytest.raises(DataError, match=r"needs the whole graph in memory.*raise --memory"):
            ask()
    with pytest.raises(DataError, match=r"must be undirected.*directed=false"):
        disk_adjacency(replace(disk, directed=True))
    with pytest.raises(DataError, match=r"made undirected when it is converted.*directed=false"):
        standardise(replace(disk, directed=True))
    with pytest.raises(DataError, match="given in order"):
        disk_adjacency(disk).induced(np.array([4, 2]))


def test_a_scratch_folder_without_room_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with memory_budget(10**8, tmp_path), pytest.raises(StoreError, match=r"must take .* GB.*--scratch"):
        blocks.scratch_array((10**6, 2))


def test_large_results_are_in_files_that_go(tmp_path: Path) -> None:
    with memory_budget(10**8, tmp_path):
        small, large = blocks.scratch_array((10, 2)), blocks.scratch_array((10**6, 2))
    assert not isinstance(small, np.memmap)
    assert isinstance(large, np.memmap)
    large[:] = 1
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = tmp_path_factory.mktemp("graph")
    rng = np.random.default_rng(0)
    n, labels = 240, rng.integers(0, 4, 240)
    centres = rng.standard_normal((4, 6))
    rows = [
        f"n{row},{labels[row]}," + ",".join(f"{x:.4f}" for x in centres[labels[row]] + rng.standard_normal(6))
        for row in range(n)
    ]
    (where / "nodes.csv").write_text("id,label,a,b,c,d,e,f\n" + "\n".join(rows) + "\n")
    ends = {tuple(sorted(rng.integers(0, n - 5, 2).tolist())) for _ in range(900)}
    near = [f"n{a},n{b}" for a, b in sorted(ends) if labels[a] == labels[b] or rng.random() < 0.3]
    (where / "edges.csv").write_text("source,target\n" + "\n".join(near) + "\n")
    plan, options = Plan.of(10**8), FileOptions.model_validate({"directed": False})
    convert_tables(where / "edges.csv", where / "nodes.csv", where / "graph", options, plan)
    return f"{where / 'graph'}/"


@pytest.mark.parametrize("whole_graph", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_run_on_disk_is_the_run_in_memory(
    folder: str, method: str, whole_graph: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"dataset": {"name": folder}, "method": {"name": method, **METHODS[method]}, "train": {"epochs": 4}}
    config = RunConfig.from_values({**values, "stream": {"inter_task_edges": whole_graph}})
    said: list[str] = []
    records = []
    for at, size in enumerate((0, 10**18)):
        monkeypatch.setattr(reading, "bytes_in_memory", lambda _, size=size: size)
        monkeypatch.setattr(blocks, "MOST_ENTRIES", 100)
        monkeypatch.setattr(adjacency, "MOST_ROWS", 50)
        with memory_budget(10**8, tmp_path):
            records.append(run(config, tmp_path / str(at), on_message=said.append).record)
    memory, disk = records
    assert disk.data == memory.data
    assert (disk.correct, disk.correct_in, disk.memory) == (memory.correct, memory.correct_in, memory.memory)
    assert len([message for message in said if message.startswith("read from disk in blocks")]) == 1


NETWORKS: dict[str, dict[str, Any]] = {
    "ftf-er-det": {"budget": 5},
    "ftf-er-prob": {"budget": 5, "storage": "embedding"},
    "er-gnn-cm": {"budget": 5},
    "er-gnn-mf": {"budget": 5, "storage": "neighbours"},
    "ssm": {"budget": 5},
    "gem": {"budget": 5},
    "lwf": {},
    "twp": {},
    "joint": {},
}


@pytest.mark.parametrize("batch", ["full", 32])
@pytest.mark.parametrize("whole_graph", [False, True])
@pytest.mark.parametrize("method", NETWORKS)
def test_a_network_on_a_graph_on_disk_learns_the_bits_of_that_in_memory(
    folder: str, method: str, whole_graph: bool, batch: str | int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"dataset": {"name": folder}, "method": {"name": method, **NETWORKS[method]}}
    stream = {"inter_task_edges": whole_graph}
    config = RunConfig.from_values({**values, "stream": stream, "train": {"epochs": 3, "batch": batch}})
    monkeypatch.setattr(blocks, "MOST_ENTRIES", 100)
    monkeypatch.setattr(adjacency, "MOST_ROWS", 50)
    found, said = {}, list[str]()
    for name, of_whole, of_tasks in (("memory", 0, 0), ("loaded", 10**18, 0), ("mapped", 10**18, 10**18)):
        monkeypatch.setattr(reading, "bytes_in_memory", lambda _, size=of_whole: size)
        monkeypatch.setattr(arrays, "bytes_in_memory", lambda _, size=of_tasks: size)
        with memory_budget(10**8, tmp_path):
            result = run(config, tmp_path / name, on_message=said.append)
        found[name] = result.record, load_file(max(result.folder.glob("state-*.safetensors")))
    for name in ("loaded", "mapped"):
        record, state = found[name]
        wanted, tensors = found["memory"]
        assert record.data == wanted.data
        assert (record.correct, record.correct_in, record.memory) == (
            wanted.correct,
            wanted.correct_in,
            wanted.memory,
        )
        assert state.keys() == tensors.keys()
        assert all(np.array_equal(state[key], tensors[key], equal_nan=True) for key in state)
    assert len([message for message in said if message.startswith("the graph stays on disk")]) == 2


def test_a_graph_as_arrays_is_mapped_where_it_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(0, loops=True, weighted=True)
    disk = kept_on_disk(graph, weighted=False, loops=False)
    some = np.arange(2, 20)
    wanted = (graph.adjacency.toarray() > 0) & ~np.eye(23, dtype=bool)
    for size, is_map in ((10**18, True), (0, False)):
        monkeypatch.setattr(arrays, "bytes_in_memory", lambda _, size=size: size)
        with memory_budget(10**8, tmp_path):
            found = as_arrays(disk.subgraph(some))
        assert isinstance(found.features, np.memmap) is is_map
        assert isinstance(found.adjacency.indices, np.memmap) is is_map
        np.testing.assert_array_equal(found.adjacency.toarray(), wanted[np.ix_(some, some)].astype(np.float32))
        np.testing.assert_array_equal(found.features, np.asarray(graph.features)[some])
    none = as_arrays(replace(disk, adjacency=disk_adjacency(disk).induced(some[:0]), features=None))
    assert (none.n_nodes, none.n_edges) == (0, 0)


def test_workers_do_not_train_networks(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "bytes_in_memory", lambda _: 10**18)
    monkeypatch.setattr(arrays, "current_workers", object)
    with memory_budget(10**8, tmp_path), pytest.raises(DataError, match=r"--executor ray.*leave --executor out"):
        as_arrays(load_dataset(folder))
