"""The potential by PETSc: equal to ours in any number of processes; what is missing is said in one sentence."""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from evergraph.errors import ConfigError, DataError
from evergraph.hodge import Preconditioner, hodge_potential, ranking_potential
from evergraph.hodge import petsc as petsc_module
from evergraph.hodge.petsc.program import laplacian_rows, shares_of

from .graphs import from_pairs, quick, undirected_graphs


@pytest.fixture(scope="module")
def petsc() -> None:
    """Skip where there is no PETSc or no mpiexec."""
    try:
        petsc_module.petsc_python()
        petsc_module._mpiexec(2)
    except ConfigError as error:
        pytest.skip(str(error))


def random_graph(n: int, share_of_pairs: float, *, weighted: bool = False) -> csr_array:
    """A sparse graph: a large component, small ones, and isolated nodes."""
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((n, n)) < share_of_pairs, 1) * (rng.random((n, n)) + 0.5 if weighted else 1.0)
    return csr_array(upper + upper.T)


@pytest.mark.usefixtures("petsc")
@pytest.mark.parametrize("preconditioner", list(Preconditioner))
def test_two_ranks_find_the_same_potential(preconditioner: Preconditioner) -> None:
    graph = random_graph(300, 0.008)
    degrees = np.diff(graph.indptr)
    assert (degrees == 0).any()
    wanted = hodge_potential(graph, tolerance=1e-12)
    found = hodge_potential(graph, method="petsc", ranks=2, preconditioner=preconditioner, tolerance=1e-12)
    np.testing.assert_allclose(found.value, wanted.value, rtol=0, atol=1e-9)
    assert found.converged
    assert found.residual <= 1e-12
    assert 1 < found.iterations <= wanted.iterations + 1


@pytest.mark.usefixtures("petsc")
def test_a_directed_graph_with_weights_in_two_ranks() -> None:
    graph = csr_array(np.triu(random_graph(200, 0.03, weighted=True).toarray()))
    wanted = hodge_potential(graph, directed=True, tolerance=1e-12)
    found = hodge_potential(graph, directed=True, method="petsc", ranks=2, tolerance=1e-12)
    np.testing.assert_allclose(found.value, wanted.value, rtol=0, atol=1e-9)


@pytest.mark.usefixtures("petsc")
@pytest.mark.parametrize("ranks", [1, 3])
def test_a_star_in_any_number_of_ranks(ranks: int) -> None:
    star = from_pairs(6, [(0, node) for node in range(1, 5)])
    found = ranking_potential(star, method="petsc", ranks=ranks)
    np.testing.assert_allclose(found.value, [-0.48, 0.12, 0.12, 0.12, 0.12, 0.0], atol=1e-9)


@pytest.mark.usefixtures("petsc")
def test_a_start_and_a_limit_count() -> None:
    graph = random_graph(100, 0.1)
    cold = hodge_potential(graph, method="petsc", ranks=1)
    warm = hodge_potential(graph, method="petsc", ranks=1, start=cold.value)
    assert warm.iterations < cold.iterations
    cut = hodge_potential(graph, method="petsc", ranks=1, max_iterations=3, must_converge=False)
    assert not cut.converged
    assert cut.iterations == 3


@pytest.mark.usefixtures("petsc")
def test_another_mpi_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = script(tmp_path / "mpiexec", 'shift 2; exec "$@"')
    monkeypatch.setenv(petsc_module.MPIEXEC, str(fake))
    with pytest.raises(ConfigError, match="processes that do not know each other"):
        hodge_potential(from_pairs(3, [(0, 1), (1, 2)]), method="petsc", ranks=2)


@pytest.mark.usefixtures("petsc")
def test_an_error_in_one_process_ends_all_of_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    python = petsc_module.petsc_python()
    commands = f"""rank="${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}"
[ "$rank" = 1 ] && exec {python} "$1" no-such-job.json
exec {python} "$@" """
    monkeypatch.setenv(petsc_module.PYTHON, str(script(tmp_path / "python", commands)))
    with pytest.raises(ConfigError, match="PETSc has to end without an error, got exit code 1 instead"):
        hodge_potential(from_pairs(3, [(0, 1), (1, 2)]), method="petsc", ranks=2)


def script(path: Path, commands: str) -> Path:
    path.write_text(f"#!/bin/sh\n{commands}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("commands", "error", "message"),
    [
        ('[ "$2" = --probe ] || { echo boom >&2; exit 9; }', ConfigError, "got exit code 9 instead: boom"),
        ('[ "$2" = --probe ] || exit 5', DataError, "take more ranks"),
        ("exit 3", ConfigError, "needs a Python with petsc4py, got .*/python instead; install it"),
    ],
)
def test_a_petsc_that_fails_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, commands: str, error: type[Exception], message: str
) -> None:
    monkeypatch.setenv(petsc_module.PYTHON, str(script(tmp_path / "python", commands)))
    with pytest.raises(error, match=message) as raised:
        hodge_potential(from_pairs(3, [(0, 1), (1, 2)]), method="petsc", ranks=1)
    assert "\n" not in str(raised.value)


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    graph = from_pairs(3, [(0, 1), (1, 2)])
    monkeypatch.setenv(petsc_module.PYTHON, str(tmp_path / "none"))
    with pytest.raises(ConfigError, match=r"needs a Python with petsc4py, got .*none instead"):
        hodge_potential(graph, method="petsc", ranks=1)
    monkeypatch.setenv(petsc_module.MPIEXEC, str(tmp_path / "none"))
    with pytest.raises(ConfigError, match=r"with 2 ranks needs mpiexec, got .*none instead"):
        hodge_potential(graph, method="petsc")
    monkeypatch.delenv(petsc_module.PYTHON)
    monkeypatch.setattr(petsc_module, "_has_petsc", lambda python: False)
    with pytest.raises(ConfigError, match=r"needs a Python with petsc4py, got none instead; install it \(Debian"):
        hodge_potential(graph, method="petsc", ranks=1)


def test_ranks_go_with_petsc() -> None:
    graph = from_pairs(3, [(0, 1), (1, 2)])
    with pytest.raises(ConfigError, match="ranks goes with method=petsc, got it with method=memory"):
        hodge_potential(graph, ranks=2)
    with pytest.raises(ConfigError, match="ranks has to be at least 1, got 0"):
        hodge_potential(graph, method="petsc", ranks=0)


def test_maps_of_whole_files_are_not_copied(tmp_path: Path) -> None:
    np.save(tmp_path / "numbers.npy", np.arange(10))
    whole = np.load(tmp_path / "numbers.npy", mmap_mode="r")
    about = petsc_module._in_file(whole, tmp_path / "copy")
    assert about == {"dtype": "<i8", "length": 10, "path": str(tmp_path / "numbers.npy"), "offset": 128}
    for part in (whole[2:5], np.arange(3)):
        about = petsc_module._in_file(part, tmp_path / "copy")
        assert about == {"dtype": "<i8", "length": 3, "path": str(tmp_path / "copy"), "offset": 0}
        np.testing.assert_array_equal(np.fromfile(tmp_path / "copy", dtype=np.int64), part)


@quick
@given(undirected_graphs(weighted=True), st.integers(1, 4), st.booleans(), st.integers(1, 5))
def test_the_rows_of_all_ranks_are_the_laplacian(graph: csr_array, size: int, plain: bool, block: int) -> None:
    if plain:
        graph.data[:] = 1.0
    n, dense = graph.shape[0], graph.toarray()
    shares = shares_of(graph.indptr.astype(np.int64), size)
    assert len(shares) == size
    assert [first for first, _ in shares[1:]] == [last for _, last in shares[:-1]]
    assert (shares[0][0], shares[-1][1]) == (0, n)
    rows = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evergraph.hodge.petsc.program.BLOCK", block)
        for first, last in shares:
            weights = None if plain else graph.data
            made = laplacian_rows(graph.indptr.astype(np.int64), graph.indices, weights, first, last, np.int32)
            pointers, columns, values = made
            for start, stop in pairwise(pointers):
                assert np.all(np.diff(columns[start:stop]) > 0)
            rows.append(csr_array((values, columns, pointers), shape=(last - first, n)).toarray())
    np.testing.assert_allclose(np.concatenate(rows), np.diag(dense.sum(axis=1)) - dense, atol=1e-12)


def test_ranks_have_about_equal_work() -> None:
    star = from_pairs(100, [(0, node) for node in range(1, 100)])
    shares = shares_of(star.indptr.astype(np.int64), 2)
    work = [star.indptr[last] - star.indptr[first] + last - first for first, last in shares]
    assert max(work) <= 1.05 * min(work)


def test_the_program_needs_no_package_of_ours() -> None:
    source = petsc_module.PROGRAM.read_text(encoding="utf-8")
    assert "import evergraph" not in source
    assert "from evergraph" not in source
    assert {"numpy", "petsc4py"} >= {
        name.split(".")[0]
        for line in source.splitlines()
        if line.strip().startswith(("import ", "from "))
        for name in [line.split()[1]]
        if name.split(".")[0] not in sys.stdlib_module_names
    }
