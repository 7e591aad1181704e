"""Solving by PETSc in processes of MPI, which share the rows of a graph and read them from its memory maps."""

import json
import mmap
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evergraph.errors import ConfigError, DataError
from evergraph.hodge.block_potential import Find
from evergraph.hodge.blocks import BlockedGraph
from evergraph.hodge.cg import Iterate
from evergraph.hodge.checks import Vector
from evergraph.hodge.components import Components
from evergraph.hodge.petsc.program import ALONE, TOO_LARGE
from evergraph.hodge.solve import Preconditioner, grounding

PROGRAM = Path(__file__).with_name("program.py")
PYTHON, MPIEXEC = "EVERGRAPH_PETSC_PYTHON", "EVERGRAPH_MPIEXEC"
"""Variables of the environment that name a Python with petsc4py, and the mpiexec of the MPI it was built with."""
DEFAULT_RANKS = 2
INSTALL = "install it (Debian: apt-get install python3-petsc4py openmpi-bin)"
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
"""For Open MPI, unless the environment says otherwise: in a container one is root; there may be more processes than
cores, and others beside them, to which a process that waits leaves its core."""


def find_with_petsc(ranks: int, preconditioner: Preconditioner, tolerance: float, limit: int) -> Find:
    """PETSc's conjugate gradients in so many processes; multigrid is its GAMG.

    A ConfigError says what is missing before anything is computed.
    """
    if ranks < 1:
        raise ConfigError(f"ranks has to be at least 1, got {ranks} instead; 2 for two processes")
    launch = [*_mpiexec(ranks), petsc_python(), str(PROGRAM)]

    def find(graph: BlockedGraph, components: Components, unit: Vector, first: Vector) -> Iterate:
        with TemporaryDirectory(prefix="evergraph-") as name:
            folder = Path(name)
            ground = grounding(graph.degrees, components) if preconditioner is Preconditioner.MULTIGRID else None
            arrays: dict[str, NDArray[Any] | None] = {"indptr": graph.indptr, "indices": graph.indices}
            arrays |= {"weights": graph.weights, "right": unit, "start": first, "ground": ground}
            arrays["value"] = np.zeros_like(unit)
            job: dict[str, Any] = {key: _in_file(array, folder / key) for key, array in arrays.items()}
            job |= {"goal": tolerance, "limit": limit, "ranks": ranks, "report": str(folder / "report.json")}
            (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
            _run([*launch, str(folder / "job.json")])
            report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
            value = np.fromfile(folder / "value", dtype=np.float64)
        return Iterate(value, int(report["iterations"]))

    return find


def petsc_python() -> str:
    """A Python that has petsc4py: the one that was named, this one, or the system's; ConfigError without any."""
    named = os.environ.get(PYTHON)
    system = shutil.which("python3", path=os.defpath)
    for python in [named] if named else [sys.executable, *([system] if system else [])]:
        if _has_petsc(python):
            return python
    raise ConfigError(
        f"method=petsc needs a Python with petsc4py, got {named or 'none'} instead; {INSTALL}, "
        f"or name one in {PYTHON}"
    )


@cache
def _has_petsc(python: str) -> bool:
    try:
        return not subprocess.run([python, str(PROGRAM), "--probe"], capture_output=True, check=False).returncode
    except OSError:
        return False


def _mpiexec(ranks: int) -> list[str]:
    """The beginning of the command; one process needs no mpiexec."""
    if ranks == 1:
        return []
    found = os.environ.get(MPIEXEC) or shutil.which("mpiexec")
    if found is None or shutil.which(found) is None:
        raise ConfigError(
            f"method=petsc with {ranks} ranks needs mpiexec, got {found or 'none'} instead; {INSTALL}, "
            f"or name it in {MPIEXEC}"
        )
    return [found, "-n", str(ranks)]


def _in_file(array: NDArray[Any] | None, path: Path) -> dict[str, Any] | None:
    """Where the numbers of an array are: in the file that it maps as a whole, else in one written now."""
    if array is None:
        return None
    about = {"dtype": array.dtype.str, "length": len(array)}
    if isinstance(array, np.memmap) and isinstance(array.base, mmap.mmap) and array.filename is not None:
        return {**about, "path": str(array.filename), "offset": int(array.offset)}
    np.ascontiguousarray(array).tofile(path)
    return {**about, "path": str(path), "offset": 0}


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, check=False, text=True, env={**OPEN_MPI, **os.environ})
    if done.returncode == ALONE:
        raise ConfigError(
            "mpiexec has to be that of the MPI which petsc4py was built with, got processes that do not know each "
            f"other from {command[0]} instead; name the right one in {MPIEXEC}"
        )
    if done.returncode == TOO_LARGE:
        raise DataError(
            "the rows of one process have to have fewer entries than the indices of PETSc can count, got more "
            "instead; take more ranks or a PETSc with indices of 64 bits"
        )
    if done.returncode:
        said = " ".join(done.stderr.split())[-400:]
        raise ConfigError(
            f"PETSc has to end without an error, got exit code {done.returncode} instead: {said or 'no message'}"
        )
