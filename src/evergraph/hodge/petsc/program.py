"""The program that each process of MPI runs: its rows of (D - A) x = b, solved by PETSc.

It needs Python, numpy and petsc4py but not evergraph, which may be installed for another Python than the petsc4py
of a distribution. `python program.py --probe` says whether it could run; `python program.py JOB.json` does a job.
"""

import json
import os
import sys
import time
import traceback
from glob import glob
from itertools import pairwise
from typing import Any, Literal

import numpy as np

DEBIAN = "/usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages"
"""Where Debian's package is if its own link to the chosen build of PETSc is missing."""
NO_PETSC, ALONE, TOO_LARGE = 3, 4, 5
"""Exit codes: no petsc4py; processes that do not know each other; more entries than PETSc's indices can count."""
BLOCK = 1 << 20
"""Entries whose rows are found together."""


def import_petsc() -> Any:
    """petsc4py.PETSc, initialised without options of the command line."""
    try:
        import petsc4py
    except ImportError:
        sys.path += sorted(glob(DEBIAN))
        import petsc4py
    petsc4py.init(["evergraph"])
    from petsc4py import PETSc

    return PETSc


def opened(about: dict[str, Any], mode: Literal["r", "r+"] = "r") -> Any:
    """The array of a file that a job describes, as a memory map."""
    if not about["length"]:
        return np.zeros(0, dtype=about["dtype"])
    return np.memmap(
        about["path"], dtype=about["dtype"], mode=mode, offset=about["offset"], shape=(about["length"],)
    )


def shares_of(indptr: Any, size: int) -> list[tuple[int, int]]:
    """The first row of each process and the one after its last: about equally many rows and entries for each."""
    work = np.asarray(indptr) + np.arange(len(indptr))
    bounds = np.searchsorted(work, [work[-1] * part // size for part in range(size + 1)]).tolist()
    bounds[0], bounds[-1] = 0, len(indptr) - 1
    return list(pairwise(bounds))


def laplacian_rows(
    indptr: Any, indices: Any, weights: Any, first: int, last: int, index: Any
) -> tuple[Any, Any, Any]:
    """Some rows of D - A as CSR with rising columns; the diagonal is stored in every row."""
    begin, end = int(indptr[first]), int(indptr[last])
    pointers = np.asarray(indptr[first : last + 1]) - begin + np.arange(last - first + 1)
    columns, values = np.empty(pointers[-1], dtype=index), np.empty(pointers[-1])
    degree, below = np.zeros(last - first), np.zeros(last - first, dtype=np.int64)
    for start in range(begin, end, BLOCK):
        stop = min(start + BLOCK, end)
        low = int(np.searchsorted(indptr, start, side="right")) - 1
        high = int(np.searchsorted(indptr, stop, side="left"))
        row = np.repeat(np.arange(low, high), np.diff(np.clip(indptr[low : high + 1], start, stop)))
        column = np.asarray(indices[start:stop])
        value = np.ones(stop - start) if weights is None else np.asarray(weights[start:stop], dtype=np.float64)
        place = np.arange(start, stop) - begin + row - first + (column > row)
        columns[place], values[place] = column, -value
        rows = slice(low - first, high - first)
        degree[rows] += np.bincount(row - low, weights=value, minlength=high - low)
        below[rows] += np.bincount((row - low)[column < row], minlength=high - low)
    diagonal = pointers[:-1] + below
    columns[diagonal], values[diagonal] = np.arange(first, last), degree
    return pointers.astype(index), columns, values


def solve(PETSc: Any, matrix: Any, right: Any, value: Any, job: dict[str, Any]) -> int:
    """Improve the value until the true residual is at most the goal or no longer halves; return the iterations.

    Right side and start are orthogonal to the constants of every component, so is every residual, and what the
    preconditioner adds of them to a search direction vanishes in the product: no null space has to be given.
    """
    solver = PETSc.KSP().create(comm=PETSc.COMM_WORLD)
    solver.setType("cg")
    solver.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    solver.setInitialGuessNonzero(True)
    if job["ground"] is None:
        solver.setOperators(matrix)
        solver.getPC().setType("jacobi")
    else:
        regular, added = matrix.duplicate(copy=True), matrix.createVecRight()
        first, last = added.getOwnershipRange()
        added.setArray(opened(job["ground"])[first:last])
        regular.setDiagonal(added, addv=PETSc.InsertMode.ADD_VALUES)
        solver.setOperators(matrix, regular)
        solver.getPC().setType("gamg")
    residual, candidate, iterations = right.duplicate(), value.duplicate(), 0
    norm = _residual(matrix, right, value, residual)
    while norm > job["goal"] and iterations < job["limit"]:
        value.copy(candidate)
        left = job["limit"] - iterations
        solver.setTolerances(rtol=1e-50, atol=job["goal"] / 2, divtol=1e50, max_it=left)
        solver.solve(right, candidate)
        iterations += max(1, solver.getIterationNumber())
        previous, norm = norm, _residual(matrix, right, candidate, residual)
        if norm < previous:
            candidate.copy(value)
        if not norm <= previous / 2:
            break
    return iterations


def _residual(matrix: Any, right: Any, value: Any, out: Any) -> float:
    matrix.mult(value, out)
    out.aypx(-1.0, right)
    return float(out.norm())


def main(path: str) -> int:
    """Do a job: rows from the memory maps, the solution into its file; rank 0 writes what it took."""
    PETSc = import_petsc()
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    comm, begun = PETSc.COMM_WORLD, time.perf_counter()
    if comm.size != job["ranks"]:
        return ALONE
    indptr, indices = opened(job["indptr"]), opened(job["indices"])
    weights = None if job["weights"] is None else opened(job["weights"])
    shares = shares_of(indptr, comm.size)
    # All ranks look at all shares: if one of them ended here by itself, the others would wait for it.
    largest = max(int(indptr[last] - indptr[first]) + last - first for first, last in shares)
    if max(largest, len(indptr)) > np.iinfo(PETSc.IntType).max:
        return TOO_LARGE
    first, last = shares[comm.rank]
    rows = laplacian_rows(indptr, indices, weights, first, last, PETSc.IntType)
    n = len(indptr) - 1
    matrix = PETSc.Mat().createAIJ(size=((last - first, n), (last - first, n)), csr=rows, comm=comm)
    del rows
    right, value = matrix.createVecRight(), matrix.createVecRight()
    right.setArray(opened(job["right"])[first:last])
    value.setArray(opened(job["start"])[first:last])
    assembled = time.perf_counter()
    iterations = solve(PETSc, matrix, right, value, job)
    if last > first:
        found = opened(job["value"], "r+")
        found[first:last] = value.getArray()
        found.flush()
    if comm.rank == 0:
        seconds = {"assembly": assembled - begun, "solve": time.perf_counter() - assembled}
        with open(job["report"], "w", encoding="utf-8") as file:
            json.dump({"iterations": iterations, "seconds": seconds}, file)
    return 0


def probe() -> int:
    try:
        import_petsc()
    except ImportError:
        return NO_PETSC
    return 0


def guarded(path: str) -> int:
    """Do a job; an error ends this process at once, upon which mpiexec ends the others, which may wait for it."""
    try:
        return main(path)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    sys.exit(probe() if sys.argv[1] == "--probe" else guarded(sys.argv[1]))
